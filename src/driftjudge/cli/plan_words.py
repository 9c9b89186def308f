"""A plan in the terminal and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from driftjudge.lab.planner import Plan
    from driftjudge.lab.planner.trials import Count


def tell(plan: Plan, console: Console) -> None:
    """The recommendation first, then what it rests on."""
    badge = ("PROMISED", "green") if plan.met else ("NOT ALL OF IT", "dark_orange")
    design, price = plan.design, plan.price
    console.print(Text.assemble((f" {badge[0]} ", f"bold reverse {badge[1]}"), f"  {plan.table}, preset {plan.preset}"))
    for finding in plan.findings:
        console.print(finding, highlight=False)
    wait = f"burst {design.burst} at a system alarm" if design.burst else f"guard {design.guard} items"
    console.print(
        f"\nRecommended: budget [bold]{design.budget:g}[/], [bold]{design.anchors}[/] anchors, one re-scored every "
        f"[bold]{design.anchor_every}[/] items, [bold]{design.passes}[/] baseline passes, [bold]{wait}[/].",
        highlight=False,
    )
    console.print(
        f"It costs {price.fraction:.2f} of asking the strong judge about everything: ${price.per_thousand:.2f} per "
        f"1,000 items ({price.cheap:.3f} cheap scores + {price.sampled:.3f} strong scores + {price.rescored:.3f} "
        f"anchors). Once: {price.labels} human labels and {price.calls_once:,} strong calls, ${price.once:,.2f}.",
        highlight=False,
    )
    console.print("\nOn fresh streams, which had no part in the choice (all bounds together hold at 95 %):")
    for promise in plan.promises:
        mark = "[green]✓[/]" if promise.kept else "[dark_orange]✗[/]"
        console.print(f"  {mark} {promise.text()}", highlight=False)
    _menus(plan, console)
    console.print("Taken for granted:")
    for sentence in plan.assumed:
        console.print(f"  - {sentence}", highlight=False)


def _menus(plan: Plan, console: Console) -> None:
    """The cost menu, step by step; what is recommended is marked."""
    budgets = _table(
        "Step 1: the strong judge's budget", "budget", "cost", "$ per 1,000", "caught", "hardest", "one $ more"
    )
    dollar = 1000.0 * plan.price.strong_price
    for option, cost, marginal in plan.budgets():
        row = [f"{option.budget:g}", f"{cost:.2f}", f"{dollar * cost:.2f}", _share(option.caught[option.worst])]
        budgets.add_row(*row, option.worst, _bought(marginal), style=_mark(option.budget == plan.design.budget))
    rates = _table(
        f"Step 2: how often one of {plan.design.anchors} anchors is re-scored ({plan.design.passes} passes)",
        "every", "cost", "$ per 1,000", "caught", "one $ more",
    )  # fmt: skip
    for rate, cost, marginal in plan.rates():
        row = [f"{rate.every}", f"{cost:.2f}", f"{dollar * cost:.2f}", _share(rate.worst), _bought(marginal)]
        rates.add_row(*row, style=_mark(rate.every == plan.design.anchor_every))
    every = plan.design.anchor_every
    sets = _table(
        f"Step 2: anchors and passes, one re-scored every {every} items", "labels", "passes", "once", "caught"
    )
    for anchor in (option for option in plan.anchors if option.every == every):
        calls = anchor.anchors * anchor.passes * plan.price.strong_price
        row = [f"{anchor.anchors}", f"{anchor.passes}", f"${anchor.anchors * plan.price.label_price + calls:,.2f}"]
        chosen = (anchor.anchors, anchor.passes) == (plan.design.anchors, plan.design.passes)
        sets.add_row(*row, _share(anchor.worst), style=_mark(chosen))
    knob = "burst" if plan.design.burst else "guard"
    guards = _table(
        "Step 3: waiting for the anchors' word", knob, "judge changes charged to the system", "of a shift of"
    )
    for guard in plan.guards:
        wait = guard.burst or guard.guard
        guards.add_row(
            f"{wait}", _share(guard.spilled), f"{guard.shift:g}",
            style=_mark(wait == (plan.design.burst or plan.design.guard)),
        )  # fmt: skip
    for table in (budgets, rates, sets, guards):
        console.print(table)
    console.print(
        "Shares are of a few streams, the same for all rows, with exact 95 % intervals: good for comparing, not for "
        "promising. One $ more: points of detection that one more dollar per 1,000 items buys, from the row above.",
        style="dim",
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for name in columns:
        table.add_column(name, justify="right")
    return table


def _mark(chosen: bool) -> str:
    return "bold green" if chosen else ""


def _share(count: Count) -> str:
    low, high = count.interval
    return f"{count.hits} of {count.streams} ({low:.2f}–{high:.2f})"


def _bought(points: float | None) -> str:
    return "–" if points is None else f"{points:+.0f}"


def menu_picture(plan: Plan, path: Path) -> None:
    """Draw the cost menu."""
    from driftjudge.report import save_picture
    from driftjudge.report.charts import Menu, MenuPoint, menu_chart

    def point(count: Count, cost: float, label: str, chosen: bool) -> MenuPoint:
        low, high = count.interval
        return MenuPoint(cost, count.rate, low, high, label, chosen)

    target, design = plan.target, plan.design
    system = [
        point(option.caught[option.worst], cost, f"{option.budget:g}", option.budget == design.budget)
        for option, cost, _ in plan.budgets()
        if cost <= max(1.0, target.spend) or option.budget == design.budget
    ]
    judge = [
        point(option.worst, cost, f"1/{option.every}", option.every == design.anchor_every)
        for option, cost, _ in plan.rates()
    ]
    menu = Menu(
        system=system,
        judge=judge,
        detect=target.detect,
        spend=target.spend,
        system_words=f"drop of {target.drop:g} within {target.within:,} items, by budget",
        judge_words=f"judge shift of {target.judge_shift:g} within {target.judge_within:,}, by anchor rate",
    )
    subtitle = [
        f"{plan.table}, preset {plan.preset}. Ringed: budget {design.budget:g}, {design.anchors} anchors re-scored at "
        f"1/{design.anchor_every}, {design.passes} passes.",
        "Each line moves one knob of that design; hardest stratum, harder direction, exact 95 % intervals.",
    ]
    save_picture(menu_chart(menu, subtitle=subtitle), path)
