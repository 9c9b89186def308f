"""Every verdict and condition has a runbook, on the page and in the docs, and every alert rule points at one."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import yaml

from driftjudge.service.alerts.alert import SEVERITIES
from driftjudge.service.page.runbooks import SUBJECTS, heading, rendered, runbook

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_everything_that_can_alert_has_a_runbook() -> None:
    assert set(SEVERITIES) - {"test"} <= set(SUBJECTS)
    for subject in SUBJECTS:
        text = runbook(subject)
        assert text is not None
        assert "**In one sentence.**" in text
        assert "## Do now" in text
        assert f"<h1>{heading(subject)}</h1>" in (rendered(subject) or "")


def test_an_unknown_subject_has_none() -> None:
    assert runbook("../../secrets") is None
    assert rendered("nothing") is None


def test_the_docs_hold_the_runbooks_as_they_ship() -> None:
    parts = [(runbook(subject) or "").strip() for subject in SUBJECTS]
    lowered = [re.sub(r"^#", "##", part, flags=re.MULTILINE) for part in parts]
    page = "\n\n".join(["# Runbooks", "What to do when a message arrives. The service shows the same texts.", *lowered])
    assert (DOCS / "runbooks.md").read_text(encoding="utf-8") == page + "\n"


def test_every_prometheus_rule_names_a_runbook_and_a_metric_of_ours() -> None:
    rules = yaml.safe_load(resources.files("driftjudge.service").joinpath("prometheus_rules.yaml").read_text())
    found = [rule for group in rules["groups"] for rule in group["rules"]]
    assert len(found) == 5
    for rule in found:
        assert rule["annotations"]["runbook_url"].rpartition("/")[2] in SUBJECTS
        assert "driftjudge_" in rule["expr"]
