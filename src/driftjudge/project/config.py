"""driftjudge.toml: what is scored, who scores it, what may be spent, and how the stream is watched."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from driftjudge.judges.limits import Limits, Retry
from driftjudge.judges.rubrics import Rubric, Scale, as_rubrics
from driftjudge.judges.settings import JudgeSettings
from driftjudge.monitor.calibration import LowBars
from driftjudge.monitor.config import MonitorConfig
from driftjudge.project.correction import SHAPES, Shape
from driftjudge.project.errors import ProjectError, refuse_unknown
from driftjudge.project.items import ONE_STRATUM, ItemShape

FILE = "driftjudge.toml"
SECTIONS = ("rubrics", "scale", "items", "judges", "limits", "calibration", "monitor", "paths")
ROLES = ("strong", "cheap")
_ITEM_KEYS = ("id", "stratum", "strata", "fields", "longest")


@dataclass(frozen=True)
class Ceilings:
    """What may be spent, and how fast. The ceilings count everything this project ever spent, by its ledger."""

    concurrency: int = 8
    """Calls in flight at once; also the most that a kill can lose and have made again."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 5
    """Times a call is tried before a transport failure counts."""
    max_dollars: float | None = None
    max_calls: int | None = None

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "requests_per_minute", "tokens_per_minute", "max_dollars", "max_calls"):
            value = getattr(self, name)
            whole = name in ("concurrency", "attempts", "max_calls")
            if value is not None and not _is_number(value, int if whole else int | float):
                raise ProjectError(f"{name} in [limits] is {value!r}; give a {'whole ' if whole else ''}number")
        self.limits, self.retry  # noqa: B018  # their own checks
        for name in ("max_dollars", "max_calls"):
            if (value := getattr(self, name)) is not None and not 0 <= value <= 1e12:
                raise ProjectError(f"{name} in [limits] is {value!r}; a ceiling is at or above 0")

    @property
    def limits(self) -> Limits:
        """How fast the judges may be asked."""
        return Limits(self.concurrency, self.requests_per_minute, self.tokens_per_minute)

    @property
    def retry(self) -> Retry:
        """When a call that did not come through is made again."""
        return Retry(self.attempts)


@dataclass(frozen=True)
class CalibrationPlan:
    """What shows how good the product is when all is well."""

    items: str = "calibration.jsonl"
    """The file of items, known to be healthy, scored by both judges."""
    passes: int = 6
    """Times the strong judge scores every anchor: half of them define its usual score, the others bound its noise."""
    correction: Shape | Literal["best"] = "best"
    """Of the cheap judge (appendix D): best, none, shift, affine or isotonic."""
    low_bars: LowBars = "refuse"
    """What to do with a cell whose bar leaves no room for a drop: refuse or skip."""
    resolution: float | None = None
    """By how much a score must differ to count as different; read off the passes when left out."""

    def __post_init__(self) -> None:
        if not _is_number(self.passes, int) or not 1 <= self.passes <= 1000:
            raise ProjectError(f"passes in [calibration] is {self.passes!r}; give a whole number from 1 to 1000")
        if self.correction not in ("best", *SHAPES):
            raise ProjectError(
                f"correction in [calibration] is {self.correction!r}; choose one of best, {', '.join(SHAPES)}"
            )
        if self.low_bars not in ("refuse", "skip"):
            raise ProjectError(f"low_bars in [calibration] is {self.low_bars!r}; choose refuse or skip")
        step = self.resolution
        if step is not None and not (_is_number(step, int | float) and 0.0 < step < 1.0):
            raise ProjectError(f"resolution in [calibration] is {step!r}; give a difference of scores between 0 and 1")
        if not _is_text(self.items):
            raise ProjectError(f"items in [calibration] is {self.items!r}; give the path of a file")


@dataclass(frozen=True)
class ProjectConfig:
    """Everything in driftjudge.toml, checked."""

    folder: Path
    rubrics: tuple[Rubric, ...]
    scale: Scale
    items: ItemShape
    strong: JudgeSettings
    cheap: JudgeSettings | None
    """None: the strong judge is the only one, and items it is not asked about say nothing."""
    limits: Ceilings
    calibration: CalibrationPlan
    monitor: MonitorConfig
    anchors_file: Path
    state_folder: Path

    @property
    def rubric_names(self) -> tuple[str, ...]:
        """The rubrics' names, in order."""
        return tuple(rubric.name for rubric in self.rubrics)

    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest score of the scale."""
        return float(self.scale.low), float(self.scale.high)

    @property
    def calibration_file(self) -> Path:
        """Where the calibration items are."""
        return self.folder / self.calibration.items

    def judge(self, role: str) -> JudgeSettings:
        """The settings of one of the two judges."""
        if role == "strong":
            return self.strong
        if role != "cheap":
            raise ProjectError(f"there is no judge {role!r}; choose strong or cheap")
        if self.cheap is None:
            raise ProjectError(f"{FILE} has no [judges.cheap]; add one, or use the strong judge")
        return self.cheap


def _is_number(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def load_config(folder: Path) -> ProjectConfig:
    """Read driftjudge.toml of a project folder; an unknown key is refused by name, with the nearest known one."""
    path = folder / FILE
    if not path.is_file():
        raise ProjectError(f"there is no {FILE} in '{folder}'; make one with: driftjudge init")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProjectError(f"'{path}' is not valid TOML ({error}); correct it") from None
    return parse_config(data, folder)


def parse_config(data: Mapping[str, Any], folder: Path) -> ProjectConfig:
    """The settings of a parsed file."""
    refuse_unknown(data, SECTIONS, FILE)
    for name in SECTIONS:
        if not isinstance(data.get(name, {}), Mapping):
            raise ProjectError(f"{name} in {FILE} is {data[name]!r}; write a section [{name}]")
    rubrics = _rubrics(data.get("rubrics", {}))
    shape = _shape(data.get("items", {}))
    judges = data.get("judges", {})
    refuse_unknown(judges, ROLES, "[judges]")
    if "strong" not in judges:
        raise ProjectError(f"{FILE} has no [judges.strong]; say there which judge you trust")
    paths = _texts(data.get("paths", {}), ("anchors", "state"), "paths")
    return ProjectConfig(
        folder=folder,
        rubrics=rubrics,
        scale=_scale(data.get("scale", {})),
        items=shape,
        strong=JudgeSettings.from_mapping(judges["strong"], "[judges.strong]"),
        cheap=JudgeSettings.from_mapping(judges["cheap"], "[judges.cheap]") if "cheap" in judges else None,
        limits=_made(Ceilings, data.get("limits", {}), "limits"),
        calibration=_made(CalibrationPlan, data.get("calibration", {}), "calibration"),
        monitor=_monitor(data.get("monitor", {}), rubrics, shape),
        anchors_file=folder / paths.get("anchors", "anchors.jsonl"),
        state_folder=folder / paths.get("state", ".driftjudge"),
    )


def _rubrics(data: Mapping[str, Any]) -> tuple[Rubric, ...]:
    if not data:
        raise ProjectError(f'{FILE} has no [rubrics]; name what is scored, for example helpfulness = "Does it help?"')
    for name, text in data.items():
        if not isinstance(text, str):
            raise ProjectError(
                f"the rubric {name!r} in {FILE} is {text!r}; give the text that explains it to the judge"
            )
    return as_rubrics(dict(data))


def _scale(data: Mapping[str, Any]) -> Scale:
    refuse_unknown(data, ("low", "high", "integer"), "[scale]")
    for name in ("low", "high"):
        if not _is_number(data.get(name, 0), int | float):
            raise ProjectError(f"{name} in [scale] is {data[name]!r}; give a number")
    if not isinstance(data.get("integer", True), bool):
        raise ProjectError(f"integer in [scale] is {data['integer']!r}; give true or false")
    return Scale(**data)


def _shape(data: Mapping[str, Any]) -> ItemShape:
    refuse_unknown(data, _ITEM_KEYS, "[items]")
    columns = data.get("fields", ["prompt", "response"])
    if isinstance(columns, list):
        columns = {name: name for name in columns}
    if not isinstance(columns, Mapping) or not columns or not all(isinstance(c, str) for c in columns.values()):
        raise ProjectError(f"fields in [items] is {data.get('fields')!r}; list the columns that hold an item's texts")
    strata = data.get("strata", [ONE_STRATUM])
    if not isinstance(strata, list) or not strata or not all(isinstance(s, str) and s for s in strata):
        raise ProjectError(f"strata in [items] is {strata!r}; list the segments of your stream")
    texts = _texts({k: data[k] for k in ("id", "stratum") if k in data}, ("id", "stratum"), "items")
    if len(strata) > 1 and "stratum" not in texts:
        raise ProjectError("[items] lists several strata but not the column they stand in; set stratum")
    longest = data.get("longest", ItemShape.longest)
    if not _is_number(longest, int) or longest < 1:
        raise ProjectError(f"longest in [items] is {longest!r}; give the most characters of an item")
    return ItemShape(
        fields=dict(columns),
        strata=tuple(strata),
        id=texts.get("id", "id"),
        stratum=texts.get("stratum"),
        longest=longest,
    )


def _monitor(data: Mapping[str, Any], rubrics: tuple[Rubric, ...], shape: ItemShape) -> MonitorConfig:
    for key in ("rubrics", "strata"):
        if key in data:
            raise ProjectError(
                f"{key} stands in [monitor]; it belongs to [{'rubrics' if key == 'rubrics' else 'items'}]"
            )
    known = [field.name for field in fields(MonitorConfig) if field.name not in ("rubrics", "strata")]
    refuse_unknown(data, known, "[monitor]")
    return MonitorConfig.from_json({**data, "rubrics": [rubric.name for rubric in rubrics], "strata": shape.strata})


def _texts(data: Mapping[str, Any], known: tuple[str, ...], section: str) -> dict[str, str]:
    refuse_unknown(data, known, f"[{section}]")
    for key, value in data.items():
        if not _is_text(value):
            raise ProjectError(f"{key} in [{section}] is {value!r}; give a text")
    return dict(data)


def _made(kind: type[Any], data: Mapping[str, Any], section: str) -> Any:
    refuse_unknown(data, [field.name for field in fields(kind)], f"[{section}]")
    return kind(**data)
