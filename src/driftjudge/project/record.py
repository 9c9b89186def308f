"""What `calibrate` and `reanchor` found out, in one file that is replaced in one step: the foundation of the watch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from driftjudge.judges.fingerprint import Identity
from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MonitorConfig
from driftjudge.project.agreement import Agreement, Disagreement, RepeatNoise
from driftjudge.project.correction import CheapJudge, Correction
from driftjudge.project.errors import ProjectError
from driftjudge.project.files import read_json, write_json

FILE = "baseline.json"
VERSION = 1


@dataclass(frozen=True)
class Bar:
    """One cell: how good it is when all is well, and what is watched for."""

    rubric: str
    stratum: str
    bar: float
    error: float
    null: float
    """The cell alarms when its mean is shown to lie below this; NaN where it is not watched."""
    items: int


@dataclass(frozen=True)
class Findings:
    """What there is to say about the judges at the start."""

    bars: tuple[Bar, ...]
    agreement: tuple[Agreement, ...]
    worst: tuple[Disagreement, ...]
    noise: tuple[RepeatNoise, ...]
    cheap: tuple[CheapJudge, ...]
    """Empty without a cheap judge."""
    unscored: Mapping[str, int]
    """Answers without scores, by reason."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """A baseline with everything it was made of."""

    round: int
    """Counts calibrations and re-anchorings; every round asks the judges afresh."""
    monitor: str
    """The name of the log that stands on it."""
    after: int
    """The log's head when this was written: a re-anchoring that is not in the log yet is put there first."""
    inputs: Mapping[str, str]
    """Hashes of what went in: anchors, calibration items, settings."""
    config: MonitorConfig
    anchors: AnchorSet
    calibration: Calibration
    strong: Identity
    cheap: Identity | None
    findings: Findings

    @property
    def corrections(self) -> tuple[Correction, ...]:
        """Of the cheap judge, in rubric order."""
        return tuple(found.chosen for found in self.findings.cheap)

    def save(self, state: Path) -> None:
        """Write it down, durably."""
        body = {
            "version": VERSION,
            "round": self.round,
            "monitor": self.monitor,
            "after": self.after,
            "inputs": dict(self.inputs),
            "config": self.config.to_json(),
            "anchors": self.anchors.to_json(),
            "calibration": self.calibration.to_json(),
            "strong": dict(self.strong.parts),
            "cheap": None if self.cheap is None else dict(self.cheap.parts),
            "findings": asdict(self.findings),
        }
        write_json(state / FILE, body)


def load_record(state: Path) -> Record | None:
    """The baseline of a project; None before the first calibrate."""
    path = state / FILE
    if not path.exists():
        return None
    body = read_json(path)
    if body.get("version") != VERSION:
        raise ProjectError(f"'{path}' was written by another version of driftjudge; calibrate anew with --restart")
    try:
        return Record(
            round=body["round"],
            monitor=body["monitor"],
            after=body["after"],
            inputs=body["inputs"],
            config=MonitorConfig.from_json(body["config"]),
            anchors=AnchorSet.from_json(body["anchors"]),
            calibration=Calibration.from_json(body["calibration"]),
            strong=Identity(body["strong"]),
            cheap=None if body["cheap"] is None else Identity(body["cheap"]),
            findings=_findings(body["findings"]),
        )
    except (KeyError, TypeError) as error:
        raise ProjectError(f"'{path}' is damaged ({error}); calibrate anew with --restart") from None


def require_record(state: Path) -> Record:
    """The baseline, or the sentence that says how to get one."""
    record = load_record(state)
    if record is None:
        raise ProjectError("there is no baseline yet; make one with: driftjudge calibrate")
    return record


def _findings(data: Mapping[str, Any]) -> Findings:
    cheap = [CheapJudge(**{**one, "chosen": Correction.from_json(one["chosen"])}) for one in data["cheap"]]
    return Findings(
        bars=tuple(Bar(**one) for one in data["bars"]),
        agreement=tuple(Agreement(**one) for one in data["agreement"]),
        worst=tuple(Disagreement(**one) for one in data["worst"]),
        noise=tuple(RepeatNoise(**one) for one in data["noise"]),
        cheap=tuple(cheap),
        unscored=dict(data["unscored"]),
        notes=tuple(data["notes"]),
    )
