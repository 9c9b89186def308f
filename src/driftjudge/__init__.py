"""driftjudge: who drifted, the system or the judge?"""

from __future__ import annotations

from driftjudge.monitor import AnchorSet, Ask, Calibration, Failure, Monitor, MonitorConfig, Verdict

__all__ = ["AnchorSet", "Ask", "Calibration", "Failure", "Monitor", "MonitorConfig", "Verdict"]
__version__ = "0.1.0"
