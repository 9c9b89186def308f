"""The main family against lowered bars under the contract: whatever they were lowered by, and as they move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from hypothesis import strategies as st

from driftjudge.monitor import AnchorSet
from driftjudge.monitor.baseline import make_baseline
from driftjudge.monitor.config import Acquisition, Preset
from driftjudge.monitor.correction import Correction, lower_bars, new_correction
from tests.validity.checks import Draw, Law, Subject
from tests.validity.main_subjects import ACQUISITIONS, RUBRICS, Cells, config_of, drawn_calibration

ANCHORS = 8


@dataclass
class LoweredCells(Cells):
    """The corrected family in some state."""

    correction: Correction

    def null_law(self, draw: Draw) -> Law:
        """New re-scores may have moved the bars just before; the cell means lie at or above where they are now."""
        if draw(st.booleans()):
            self.correction.lowered[...] = drawn_lowering(draw)
            lower_bars(self.correction, self.process)
        return super().null_law(draw)

    def copy(self) -> Self:
        state = {name: getattr(self.process, name).copy() for name in ("cells", "strata", "caps")}
        return replace(self, process=self.process._replace(**state))


def drawn_lowering(draw: Draw) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array([draw(st.lists(st.floats(-1.0, 0.0), min_size=RUBRICS, max_size=RUBRICS))])


def _subject(preset: Preset, acquisition: Acquisition) -> Subject:
    def start(draw: Draw) -> LoweredCells:
        config = config_of(preset, acquisition, budget=draw(st.floats(0.05, 1.0)), statistics=("gap",), shift_share=0.4)
        scores = np.full((ANCHORS, RUBRICS), 0.5)
        anchors = AnchorSet(ids=[str(a) for a in range(ANCHORS)], human=scores, passes=[scores] * 40)
        baseline = make_baseline(anchors, config)
        correction, process = new_correction(config, drawn_calibration(draw), anchors, baseline, local=False)
        correction.lowered[...] = drawn_lowering(draw)
        lower_bars(correction, process)
        return LoweredCells(process, correction)

    return Subject(f"corrected-{preset}-{acquisition}", start)


CORRECTED_SUBJECTS = (
    *(_subject("robust", acquisition) for acquisition in ACQUISITIONS),
    _subject("paper", "uniform"),
)
