"""The domain: what is configured, calibrated, anchored, observed and concluded."""

from __future__ import annotations

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.block import Block
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.monitor import Ask, Monitor
from driftjudge.monitor.scores import Failure
from driftjudge.monitor.verdict import Verdict

__all__ = ["AnchorSet", "Ask", "Block", "Calibration", "Failure", "Monitor", "MonitorConfig", "Verdict"]
