from __future__ import annotations

import pytest

from driftjudge.monitor import errors


@pytest.mark.parametrize("name", [name for name in vars(errors) if name.endswith("Error")])
def test_every_error_of_the_monitor_is_caught_as_one_family_and_as_a_value_error(name: str) -> None:
    error = vars(errors)[name]
    assert issubclass(error, errors.MonitorError)
    assert issubclass(error, ValueError)
