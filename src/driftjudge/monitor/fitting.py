"""Whether config, calibration and anchors belong together: asked before anything is changed."""

from __future__ import annotations

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.errors import AnchorError, CalibrationError, ConfigError


def check_fit(config: MonitorConfig, calibration: Calibration, anchors: AnchorSet | None) -> None:
    """Refuse what a monitor could not stand on."""
    shape = (len(config.strata), len(config.rubrics))
    if calibration.bars.shape != shape:
        raise CalibrationError(
            f"the calibration has {calibration.bars.shape[0]} strata x {calibration.bars.shape[1]} rubrics but the "
            f"config {shape[0]} x {shape[1]}; calibrate with this config"
        )
    if not calibration.fits(config):
        raise CalibrationError(
            "the calibration was made with other strata, rubrics, slack, alpha_system or baseline_share; make it with "
            "this config"
        )
    if anchors is None:
        return
    unknown = sorted(set(anchors.strata or ()) - set(config.strata))
    if unknown:
        raise AnchorError(
            f"an anchor belongs to the unknown stratum {unknown[0]!r}; config.strata has "
            f"{', '.join(map(repr, config.strata[:8]))}"
        )
    both = sorted(calibration.ids & set(anchors.ids))
    if both:
        raise AnchorError(
            f"anchor {both[0]!r} is also a calibration item ({len(both)} in all); hold anchors out of calibration"
        )
    if not config.anchor_every and not config.burst:
        raise ConfigError("anchor_every and burst are both 0, so no anchor would ever be re-scored; set one")
