"""What the report's tables and lists say about a judge that moved and a system that dropped."""

from __future__ import annotations

from dataclasses import replace

from driftjudge.monitor.evidence import Agreement, Drop, JudgeStratum
from driftjudge.report._advice import advice
from driftjudge.report._tables import agreement_table, judge_strata_table
from driftjudge.report.html import report_html
from tests.report.samples import Sample, sample

WORSE = Agreement("*", 0.15, 0.25, 0.04, 0.16, 0.9, 60)
SAME = Agreement("coherence", 0.1, 0.11, -0.05, 0.07, 0.9, 60)
STRATA = (JudgeStratum("creative", 30, 22, 6.5, True), JudgeStratum("<maths>", 25, 18, -0.4, False))


def page(case: Sample) -> str:
    return report_html(title="t", table_name="n", replica=False, evidence=case.evidence, trace=case.trace)


def told(case: Sample) -> Sample:
    evidence = replace(
        case.evidence,
        agreement=(WORSE, SAME),
        judge_strata=STRATA,
        details=("It moved by 0.2 & more.", "It agrees worse."),
    )
    return replace(case, evidence=evidence)


def test_the_details_stand_under_the_verdict_as_text() -> None:
    text = page(told(sample("judge")))
    assert "<li>It moved by 0.2 &amp; more.</li><li>It agrees worse.</li>" in text
    assert text.index("</h1>") < text.index("It agrees worse") < text.index("What to do now")


def test_agreement_is_read_rubric_by_rubric() -> None:
    table = agreement_table(told(sample("judge")).evidence)
    assert (
        table.index("all rubrics")
        < table.index("worse")
        < table.index("coherence")
        < table.index("no difference shown")
    )
    assert "+0.04 to +0.16" in table
    assert "90%" in table


def test_strata_say_where_the_judge_moved_and_are_escaped() -> None:
    table = judge_strata_table(told(sample("judge")).evidence)
    assert table.index("creative") < table.index("moved") < table.index("&lt;maths&gt;") < table.index("not shown")
    assert "<maths>" not in table


def test_a_report_without_these_facts_leaves_their_headings_out() -> None:
    text = page(sample("judge"))
    assert "All strata or one?" not in text
    assert "agree with the humans?" not in text
    assert "All strata or one?" in page(told(sample("judge")))


def test_advice_says_where_to_look_in_time() -> None:
    case = sample("system")
    drop = Drop("helpfulness", "coding", 1310, 1270, 1345, 0.3, 0.2, 0.4)
    lines = advice(replace(case.evidence, drops=(drop,)))
    assert "at about item 1,310 (between 1,270 and 1,345)" in lines[0]
    assert "before item" in advice(case.evidence)[0]


def test_advice_names_the_system_when_it_dropped_as_well() -> None:
    evidence = sample("judge").evidence
    verdict = replace(
        evidence.verdict, system_during_judge="dropped", system_during_judge_cells=(("helpfulness", "coding"),)
    )
    assert "starting with helpfulness in coding" in advice(replace(evidence, verdict=verdict))[0]
    assert "Do not roll back" in advice(evidence)[0]
