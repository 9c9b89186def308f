"""The anchor set: a few frozen items with human labels, and how the time-0 judge scored them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftjudge.monitor.errors import AnchorError
from driftjudge.monitor.packing import pack, unpack
from driftjudge.monitor.scores import score_matrix

MOST_ANCHORS = 100_000
MOST_PASSES = 1_000


class AnchorSet:
    """k anchors with human labels (k x R) and one or more time-0 scorings of all of them by the strong judge.

    More passes buy an honest bound on how often the judge departs from its own usual score; with a single pass only
    the gap to the humans can be watched. NaN in `passes` marks an anchor the judge left unscored (a refusal).

    >>> anchors = AnchorSet(ids=["a", "b"], human=[[0.5], [1.0]], passes=[[0.5], [0.75]])
    >>> len(anchors), anchors.passes.shape, anchors.freeze_hash[:8]
    (2, (1, 2, 1), '1faceaf1')
    """

    def __init__(
        self,
        *,
        ids: Sequence[str],
        human: ArrayLike,
        passes: ArrayLike | Sequence[ArrayLike],
        resolution: float | None = None,
        strata: Sequence[str] | None = None,
    ) -> None:
        """Freeze the anchors.

        `resolution`: by how much a score must differ to count as different; read off the passes when left out.
        `strata`: the stratum each anchor belongs to, so that a judge that moved in one of them only is seen sooner.
        """
        self.ids = tuple(ids)
        if not 2 <= len(self.ids) <= MOST_ANCHORS:
            raise AnchorError(f"{len(self.ids)} anchors; give from 2 to {MOST_ANCHORS} (the paper uses 200)")
        if not all(isinstance(anchor, str) for anchor in self.ids):
            raise AnchorError("anchor ids are texts; turn numbers into texts first")
        if len(set(self.ids)) != len(self.ids):
            twice = next(anchor for anchor in self.ids if self.ids.count(anchor) > 1)
            raise AnchorError(f"anchor {twice!r} stands twice; every anchor has one id and one human label")
        self.human: NDArray[np.float64] = _labels(human)
        if len(self.human) != len(self.ids):
            raise AnchorError(f"{len(self.human)} rows of human labels for {len(self.ids)} anchors; give one each")
        self.passes = _stack(passes, self.human.shape)
        for array in (self.human, self.passes):
            array.setflags(write=False)  # a baseline is computed once: nobody may edit what it stands on
        if resolution is not None and not 0.0 < resolution < 1.0:
            raise AnchorError(f"resolution is {resolution}; a difference between scores lies in (0, 1)")
        self.resolution = resolution
        self.strata = _strata(strata, len(self.ids))
        self.baselines: dict[tuple[object, ...], Any] = {}

    def __len__(self) -> int:
        """Number of anchors, k."""
        return len(self.ids)

    @property
    def freeze_hash(self) -> str:
        """Identifies items, labels and strata: it changes when anybody edits one of them."""
        frozen: list[Any] = [list(self.ids), self.human.tolist()]
        if self.strata is not None:
            frozen.append(list(self.strata))
        body = json.dumps(frozen, separators=(",", ":"))
        return hashlib.sha256(body.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping that `from_json` turns back into an equal set."""
        arrays = {"human": pack(self.human), "passes": pack(self.passes)}
        strata = {} if self.strata is None else {"strata": list(self.strata)}
        rest = {"resolution": self.resolution, "freeze_hash": self.freeze_hash}
        return {"ids": list(self.ids), **arrays, **strata, **rest}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AnchorSet:
        """The set of a mapping made by `to_json`; refused when items or labels were edited since."""
        human, passes = unpack(data["human"]), unpack(data["passes"])
        anchors = cls(
            ids=data["ids"], human=human, passes=passes, resolution=data["resolution"], strata=data.get("strata")
        )
        if anchors.freeze_hash != data["freeze_hash"]:
            raise AnchorError(
                "items or labels of the anchors were edited since they were frozen; restore the originals"
            )
        return anchors


def _strata(strata: Sequence[str] | None, count: int) -> tuple[str, ...] | None:
    """One stratum per anchor, or none at all."""
    if strata is None:
        return None
    listed = tuple(strata)
    if isinstance(strata, str) or len(listed) != count:
        raise AnchorError(f"{len(listed)} strata for {count} anchors; give one each, or leave them out")
    if not all(listed) or not all(isinstance(stratum, str) for stratum in listed):
        raise AnchorError("strata of the anchors are non-empty texts; name them as config.strata does")
    return listed


def _labels(human: ArrayLike) -> NDArray[np.float64]:
    """The human labels as k x R."""
    try:
        labels = np.array(human, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise AnchorError("human labels of the anchors are a table of numbers; give one row per anchor") from error
    if labels.ndim == 0:
        raise AnchorError(f"human labels of the anchors are {human!r}; give one row per anchor")
    return score_matrix(labels, labels.shape[-1], "human labels of the anchors")


def _stack(passes: ArrayLike | Sequence[ArrayLike], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The passes as m x k x R."""
    try:
        stacked = np.array(passes, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise AnchorError(
            "baseline passes differ in size; every pass scores every anchor on every rubric (NaN: unscored)"
        ) from error
    if stacked.ndim == 2:
        stacked = stacked[None]
    if stacked.ndim != 3 or stacked.shape[1:] != shape or not 1 <= len(stacked) <= MOST_PASSES:
        raise AnchorError(
            f"baseline passes have the shape {stacked.shape}; give one or more of {shape[0]} anchors x {shape[1]} "
            "rubrics"
        )
    bad = ~((stacked >= 0.0) & (stacked <= 1.0)) & ~np.isnan(stacked)
    if bad.any():
        value = stacked[tuple(np.argwhere(bad)[0])]
        raise AnchorError(f"a baseline pass holds the score {value:g}, outside [0, 1]; map your scale to [0, 1] first")
    return stacked
