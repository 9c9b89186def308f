"""The anchors of a project: a file people can read, and a lock that notices when anybody edits it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.judges.protocol import Item
from driftjudge.monitor.anchors import MOST_ANCHORS
from driftjudge.project.errors import ProjectError
from driftjudge.project.files import read_json, write_json, write_lines
from driftjudge.project.labels import Labelled

LOCK_SUFFIX = ".lock"
MOST_RATERS = 100


@dataclass
class Anchor:
    """A frozen item with the labels of one or more raters, in the rubrics' own scale."""

    item: Item
    labels: dict[str, tuple[float | None, ...]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Changes when texts, stratum or labels change."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """One line of the anchor file."""
        item = self.item
        labels = {rater: list(labels) for rater, labels in self.labels.items()}
        return {"id": item.id, "stratum": item.stratum, "fields": dict(item.fields), "labels": labels}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Anchor:
        """The anchor of one line."""
        item = Item(str(data["id"]), {str(k): str(v) for k, v in data["fields"].items()}, str(data["stratum"]))
        return cls(item, {str(rater): tuple(labels) for rater, labels in data["labels"].items()})


@dataclass(frozen=True)
class Anchors:
    """All anchors of a project, in the order in which they were added."""

    anchors: tuple[Anchor, ...]
    rubrics: tuple[str, ...]
    scale: tuple[float, float]

    def __len__(self) -> int:
        """Number of anchors, k."""
        return len(self.anchors)

    @property
    def ids(self) -> tuple[str, ...]:
        """The anchors' ids."""
        return tuple(anchor.item.id for anchor in self.anchors)

    @property
    def ratings(self) -> list[NDArray[np.float64]]:
        """Per anchor: raters x rubrics on [0, 1], NaN where a rater left a rubric out."""
        low, high = self.scale
        return [
            (np.array([[np.nan if x is None else x for x in row] for row in a.labels.values()]) - low) / (high - low)
            for a in self.anchors
        ]

    def human(self) -> NDArray[np.float64]:
        """The mean label per anchor and rubric on [0, 1] (k x R); a rubric nobody labelled is refused."""
        if not self.anchors:
            raise ProjectError("there are no anchors yet; add some with: driftjudge anchors add LABELS")
        table = np.empty((len(self), len(self.rubrics)))
        for a, ratings in enumerate(self.ratings):
            for r, rubric in enumerate(self.rubrics):
                given = ratings[:, r][~np.isnan(ratings[:, r])]
                if len(given) == 0:
                    raise ProjectError(
                        f"anchor {self.ids[a]!r} has no human label for {rubric!r}; label it, or leave the anchor out"
                    )
                table[a, r] = given.mean()
        return table

    @property
    def freeze_hash(self) -> str:
        """Identifies texts and labels of the whole set."""
        body = json.dumps([anchor.digest for anchor in self.anchors] + list(self.rubrics))
        return hashlib.sha256(body.encode()).hexdigest()

    def with_labels(self, labelled: Iterable[Labelled]) -> Anchors:
        """These anchors with more labels; a second opinion is welcome, a changed one is refused."""
        found = {anchor.item.id: Anchor(anchor.item, dict(anchor.labels)) for anchor in self.anchors}
        for row in labelled:
            anchor = found.setdefault(row.item.id, Anchor(row.item))
            if anchor.item != row.item:
                raise ProjectError(f"anchor {row.item.id!r} is already here with other texts; give it another id")
            known = anchor.labels.get(row.rater)
            if known is not None and known != row.labels:
                raise ProjectError(
                    f"{row.rater!r} has labelled {row.item.id!r} twice and differently ({list(known)} and "
                    f"{list(row.labels)}); keep one, or name the raters in a column 'rater'"
                )
            anchor.labels[row.rater] = row.labels
            if len(anchor.labels) > MOST_RATERS:
                raise ProjectError(f"anchor {row.item.id!r} has more than {MOST_RATERS} raters; keep the best of them")
        if len(found) > MOST_ANCHORS:
            raise ProjectError(f"{len(found):,} anchors; keep at most {MOST_ANCHORS:,} (the paper uses 200)")
        return Anchors(tuple(found.values()), self.rubrics, self.scale)


def lock_path(path: Path) -> Path:
    """Where the lock of an anchor file stands."""
    return path.with_name(path.name + LOCK_SUFFIX)


def read_anchors(path: Path, rubrics: tuple[str, ...], scale: tuple[float, float]) -> Anchors:
    """The anchors of a file; none where there is no file yet."""
    if not path.exists():
        return Anchors((), rubrics, scale)
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            anchor = Anchor.from_json(json.loads(line))
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
            raise ProjectError(f"'{path}' is damaged at line {number}; correct or remove that line") from None
        if any(len(labels) != len(rubrics) for labels in anchor.labels.values()):
            raise ProjectError(
                f"anchor {anchor.item.id!r} in '{path}' was labelled for other rubrics than the {len(rubrics)} of "
                "driftjudge.toml; add the anchors anew"
            )
        found.append(anchor)
    return Anchors(tuple(found), rubrics, scale)


def write_anchors(path: Path, anchors: Anchors) -> None:
    """Replace the file in one step."""
    write_lines(path, (json.dumps(anchor.to_json()) for anchor in anchors.anchors))


def freeze(path: Path, anchors: Anchors) -> str:
    """Lock the anchors; from now on an edit is noticed before anything is scored."""
    anchors.human()
    if len(anchors) < 2:
        raise ProjectError(f"{len(anchors)} anchor cannot show who drifted; add more (the paper uses 200)")
    digests = {anchor.item.id: anchor.digest for anchor in anchors.anchors}
    write_json(lock_path(path), {"freeze_hash": anchors.freeze_hash, "anchors": digests})
    return anchors.freeze_hash


def is_frozen(path: Path) -> bool:
    """Whether a lock exists."""
    return lock_path(path).exists()


def frozen_anchors(path: Path, rubrics: tuple[str, ...], scale: tuple[float, float]) -> Anchors:
    """The anchors, if they are what was frozen."""
    anchors = read_anchors(path, rubrics, scale)
    if not is_frozen(path):
        anchors.human()
        raise ProjectError("the anchors are not frozen yet; look at them with: driftjudge anchors check, then freeze")
    lock = read_json(lock_path(path))
    if lock.get("freeze_hash") != anchors.freeze_hash:
        locked = lock.get("anchors", {})
        now = {anchor.item.id: anchor.digest for anchor in anchors.anchors}
        changed = [name for name in {**locked, **now} if locked.get(name) != now.get(name)]
        what = f"{changed[0]!r} ({len(changed)} in all)" if changed else "their rubrics"
        raise ProjectError(
            f"'{path.name}' was edited since it was frozen: {what}; restore it, or delete {lock_path(path).name} and "
            "freeze the new set before a new calibrate"
        )
    return anchors
