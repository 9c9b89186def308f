"""What a plan takes for granted, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from driftjudge.lab.planner.target import Assumptions, Target
from driftjudge.lab.planner.world import World


def assumed(
    world: World, assumptions: Assumptions, target: Target, calibration: int, simulated: Sequence[str]
) -> tuple[str, ...]:
    """Every assumption the figures rest on."""
    said = [
        f"The stream looks like the table: {len(world):,} items drawn again and again, {_mix(world)}.",
        f"Bars are estimated from {calibration:,} healthy items (strong scores, no human labels).",
        f"The change comes after {assumptions.age:,} healthy items (--age); an alarm before it counts as a miss.",
    ]
    if world.left_out:
        said.append(f"{world.left_out:,} items that a judge left unscored are not simulated, and no call fails.")
    which = "the rubric whose scores vary most moves" if assumptions.one_rubric else "all rubrics move"
    said.append(
        f"In a drop or a judge change {which} by the stated mean, on the same items: a share of the scores moves one "
        f"step of the judge's own scale (0.25 where scores are continuous)."
    )
    said.append(
        "The cheap judge is blind to a drop, the hard case (--cheap-sees)."
        if assumptions.cheap_sees == 0.0
        else f"The cheap judge sees {assumptions.cheap_sees:.0%} of a drop (--cheap-sees)."
    )
    said.append(
        f"The judge's own noise is that of the {len(world.repeats)} passes in the table."
        if len(world.repeats) > 1
        else f"Asked again, the judge moves a score one step with probability {assumptions.repeat_noise:g} "
        f"(--repeat-noise, or name repeated scorings with --passes)."
    )
    said.append("A changed judge scores stream and anchors alike, whatever the stratum.")
    if target.labels > len(world.human):
        said.append(
            f"The table has {len(world.human):,} labelled items; more anchors are drawn as if of the same kind."
        )
    if target.exempt:
        said.append(f"No drop need be caught in {', '.join(target.exempt)} (--except).")
    wanted = len(world.strata) - len(target.exempt)
    if len(simulated) < wanted:
        said.append(
            f"Of {wanted} strata the {len(simulated)} in which a drop is hardest to see are simulated; the others are "
            f"predicted to be easier, by their items and the error of their bars."
        )
    said.append(
        f"Labels cost ${assumptions.label_price:g} each (--label-price) and pay off over {assumptions.lifetime:,} "
        f"items (--lifetime): that decides between more labels and more re-scores."
    )
    return tuple(said)


def _mix(world: World) -> str:
    if len(world.strata) == 1:
        return "in one stratum"
    rarest = int(world.shares.argmin())
    rare = f"{world.strata[rarest]}, with {world.shares[rarest]:.1%}"
    return f"its {len(world.strata)} strata in the same mix, the rarest, {rare}"
