"""Table 4: a harsh judge change contaminates the main process; the guard decides how much of it is misread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.published import published
from driftjudge.lab.scenarios import CONDITIONS
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import simulate
from driftjudge.report.figures import lines

GUARDS = (50, 150, 300)


def run(setting: Setting, options: Options) -> Exhibit:
    """The guard reads alarm positions only, so one set of streams serves every guard of the paper's rule."""
    scenario = replace(setting.scenario, judge_change=setting.harshest)
    config = setting.config(options.preset, anchor_every=5, burst=0)
    runs = {
        truth: simulate(setting.table, config, replace(scenario, condition=truth), options.seeds)
        for truth in CONDITIONS
    }
    rows, spills, quiet = [], [], []
    for guard in GUARDS:
        found = {truth: outcomes.verdicts(guard) for truth, outcomes in runs.items()}
        spills.append(found["judge"]["system"] + found["both"]["system"])
        quiet.append((tuple(found["none"].values()), tuple(found["system"].values())))
        paper = published(setting.name, "guard", str(guard)) or {}
        entries = {
            truth: Entry("/".join(map(str, found[truth].values())), paper.get(truth)) for truth in ("judge", "both")
        }
        entries[f"spill of {2 * options.seeds}"] = Entry(spills[-1], paper.get("spill"))
        entries["latency"] = Entry(runs["judge"].judge_latency(), published(setting.name, "guard", "latency"))
        entries["none"] = Entry("/".join(map(str, found["none"].values())))
        entries["system"] = Entry("/".join(map(str, found["system"].values())))
        rows.append(Row(f"guard {guard}", entries))
    return make_exhibit(
        setting,
        options,
        compares=True,
        experiment="guard",
        title="A real harsh judge change against the guard",
        source="Table 4",
        rows=rows,
        claims=(
            Claim("spill is non-increasing in the guard", spills == sorted(spills, reverse=True), f"{spills}"),
            Claim("none and system rows do not depend on the guard", len(set(quiet)) == 1, f"{quiet[0]}"),
        ),
        data={"spill": [{"guard": g, "spill": s, "series": "ours"} for g, s in zip(GUARDS, spills, strict=True)]},
    )


def draw(exhibit: Exhibit) -> Any:
    """Spill against the guard, the paper's beside ours."""
    points = list(exhibit.data["spill"])
    for row in exhibit.rows:
        entry = next(e for name, e in row.entries.items() if name.startswith("spill"))
        if entry.published is not None:
            points.append({"guard": int(row.label.split()[1]), "spill": entry.published, "series": "paper"})
    return lines(points, x="guard", y="spill", colour="series", title=exhibit.title, subtitle=exhibit.dataset)
