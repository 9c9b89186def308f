"""Quiet hours: when a route holds its messages back. Held is not dropped: they go out when the hours end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from driftjudge.service.alerts.errors import AlertSettingsError

_FORM = re.compile(r"(\d{1,2}):(\d\d)-(\d{1,2}):(\d\d)(?: (\S+))?")


@dataclass(frozen=True)
class QuietHours:
    """From `start` to `end` of the local day; over midnight when `end` is the earlier one."""

    start: time
    end: time
    zone: str = "UTC"

    @classmethod
    def parse(cls, text: object) -> QuietHours:
        """Hours written as people do.

        >>> QuietHours.parse("22:00-07:00 Europe/Berlin")
        QuietHours(start=datetime.time(22, 0), end=datetime.time(7, 0), zone='Europe/Berlin')
        """
        found = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise AlertSettingsError(f"quiet_hours is {text!r}; write for example '22:00-07:00 Europe/Berlin'")
        try:
            start, end = time(int(found[1]), int(found[2])), time(int(found[3]), int(found[4]))
            zone = found[5] or "UTC"
            ZoneInfo(zone)
        except Exception as error:  # zoneinfo raises KeyError, OSError or ValueError, whatever the name looks like
            raise AlertSettingsError(
                f"quiet_hours is {text!r}; it has an impossible hour or an unknown time zone"
            ) from error
        if start == end:
            raise AlertSettingsError(
                f"quiet_hours is {text!r}; it begins and ends at the same time, so it has no hours"
            )
        return cls(start, end, zone)

    def until(self, now: datetime) -> datetime | None:
        """When the quiet hours that hold at `now` end; None outside them."""
        local = now.astimezone(ZoneInfo(self.zone))
        clock = local.time().replace(tzinfo=None)
        over_midnight = self.end < self.start
        inside = (clock >= self.start or clock < self.end) if over_midnight else self.start <= clock < self.end
        if not inside:
            return None
        day = local.date() + timedelta(days=1 if over_midnight and clock >= self.start else 0)
        return datetime.combine(day, self.end, tzinfo=ZoneInfo(self.zone)).astimezone(now.tzinfo)
