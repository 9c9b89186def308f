"""Every setting of a monitor, with the two presets: `paper` reproduces, `robust` is what we tell people to use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from driftjudge.monitor.errors import ConfigError

Preset = Literal["robust", "paper"]
Betting = Literal["restart", "plug-in"]
AlarmRule = Literal["average", "bonferroni"]
Statistic = Literal["gap", "fingerprint", "paired"]
Acquisition = Literal[
    "uniform", "stratified", "bandit", "escalation", "log-escalation", "recent", "boundary", "growth", "full"
]

PRESETS: Mapping[Preset, Mapping[str, Any]] = {
    "paper": {
        "betting": "plug-in",
        "alarm_rule": "bonferroni",
        "proxies": (1.0,),
        "statistics": ("gap",),
        "baseline_share": 0.0,
        "ladder": False,
        "screen": False,
        "acquisition": "uniform",
        "budget": 0.3,
        "anchor_every": 5,
        "guard": 300,
        "burst": 0,
        "local_share": 0.0,
        "measure": 0,
        "shift_share": 0.0,
    },
    "robust": {
        # A bet that averages the whole past is deaf to a change at item 30,000; a restart is not.
        "betting": "restart",
        # A mean of e-processes is one and never lies below the largest divided by their number.
        "alarm_rule": "average",
        # Labels only is the fastest on most drops; the cheap judge is held beside it for those it sees better.
        "proxies": (0.0, 0.5, 1.0),
        # The judge against itself is several times faster than against humans, who alone say which way is better.
        "statistics": ("gap", "fingerprint", "paired"),
        # Bars from a few hundred items: from 5 % to 50 % of alpha the latency hardly moves.
        "baseline_share": 0.2,
        # Halves the re-scores to an alarm on real repeats against a single bound, and costs no alpha.
        "ladder": True,
        # Anchors on which the judge contradicts itself hide a change more than they show it.
        "screen": True,
        # Full attention to the stratum that looks bad, a low floor elsewhere: a quarter of one rate's latency.
        "acquisition": "recent",
        # Half of it is hardly slower on plain drops; faint ones need it.
        "budget": 0.15,
        # A judge that moves without touching the alarm is found within the paper's latency at a fifth of its anchors.
        "anchor_every": 25,
        "guard": 300,  # The burst takes its place; without one it is the paper's.
        # No change of judge on the replicas needs more re-scores than this, so that none is charged to the system.
        "burst": 60,
        # A change on one stratum is found twice as soon, one on all a re-score later; half would cost all more.
        "local_share": 0.3,
        # Re-scores that bound a shift well enough to test the system against lowered bars.
        "measure": 60,
        # Most of what the corrected test may spend goes where it is least certain: the judge's shift.
        "shift_share": 0.4,
    },
}
"""What each preset means for the settings that were left at None. The reasons beside `robust` are measured by
`driftjudge reproduce beyond`."""

FROM_PRESET: Any = None
"""Default of the settings a preset decides; after construction they hold the preset's value."""

MOST_CELLS = 10_000
MOST_PENDING = 1_000_000
MOST_MEASURED = 512
"""Re-scores kept after a judge alarm; by then the shift is known to a few hundredths."""


@dataclass(frozen=True)
class MonitorConfig:
    """Settings are fixed for the life of a monitor. Those that are not given take the preset's value.

    >>> MonitorConfig(rubrics=("helpfulness",), strata=("coding",)).anchor_every
    25
    >>> MonitorConfig(rubrics=("helpfulness",), strata=("coding",), preset="paper").anchor_every
    5
    """

    rubrics: tuple[str, ...]
    """What is scored; scores come in this order."""
    strata: tuple[str, ...]
    """The segments of the stream that are watched one by one."""
    preset: Preset = "robust"
    alpha_system: float = 0.1
    """Probability of ever raising a false system alarm in an epoch."""
    alpha_judge: float = 0.1
    """Probability of ever raising a false judge alarm in an epoch."""
    acquisition: Acquisition = FROM_PRESET
    """How the strong judge's budget is spent; see `monitor/acquisition.py`."""
    budget: float = FROM_PRESET
    """Share of items the strong judge sees; with `recent` while all is calm, for the escalations, boundary and growth
    the floor pi_0 of that share."""
    slack: float = 0.05
    """How far below its bar a cell may lie before it counts as dropped (equation 1)."""
    anchor_every: int = FROM_PRESET
    """rho: one anchor is re-scored at every rho-th position; 0 leaves only bursts."""
    guard: int = FROM_PRESET
    """W: positions after a system alarm in which the anchors may still claim it. A burst takes its place."""
    burst: int = FROM_PRESET
    """Anchors drawn at once when the system alarm rises; the guard then closes after that many re-scores."""
    run_length: float | None = None
    """Instead of "no false alarm ever, with probability 1 - alpha": false alarms at least this far apart on average,
    in items for the system and in anchor re-scores for the judge (e-detector; needs restart betting)."""
    betting: Betting = FROM_PRESET
    alarm_rule: AlarmRule = FROM_PRESET
    bet_fractions: tuple[float, ...] = (0.1, 0.3, 0.6, 0.95)
    """Grid of the main family's bets as fractions of the cap, ascending: small ones for faint changes, large ones for
    plain ones. More of them gain nothing, a single one costs a quarter."""
    anchor_fractions: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 0.6, 0.9)
    """The same for the anchor family, whose rates may rise from 1 in 100 to 3 in 100: a hundredth of the cap."""
    proxies: tuple[float, ...] = FROM_PRESET
    """omega: how far the cheap score is trusted, from 0 (labels only) to 1 (the paper); held side by side."""
    statistics: tuple[Statistic, ...] = FROM_PRESET
    """What is read off an anchor re-score. `paired` is used for continuous scores only."""
    baseline_share: float = FROM_PRESET
    """Share of each alpha that pays for the error of bars and anchor baselines; 0 takes them as exact."""
    ladder: bool = FROM_PRESET
    """Bet against several bounds of each anchor baseline at once, which costs no share of alpha (`stats/ladder.py`);
    with `run_length` there is always just the one bound."""
    screen: bool = FROM_PRESET
    """Leave out anchors on which the judge disagrees with itself in the defining passes."""
    local_share: float = FROM_PRESET
    """Mass of the anchor family that is spread over strata, where the anchors carry them; 0 watches all anchors as
    one."""
    stratum_anchors: int = 20
    """Fewest kept anchors with which a stratum is watched by itself: below, its bounds leave little to see."""
    measure: int = FROM_PRESET
    """Anchors re-scored at once after a judge alarm, to measure by how much the judge moved."""
    shift_share: float = FROM_PRESET
    """Share of alpha_system that pays for the bound on the judge's shift when, after a judge alarm, the system is
    tested against bars lowered by it; 0 does without that test."""
    shift_tolerance: float = 0.05
    """How far the judge's mean shift on a stratum's healthy items may lie below that on the anchors."""
    cheap_price: float = 0.000195
    """Dollars per cheap call (the paper's)."""
    strong_price: float = 0.00156
    """Dollars per strong call (the paper's)."""
    seed: int = 0
    """Keys every coin and anchor draw."""
    max_pending: int = 10_000
    """Most items that may wait for a strong score, and most anchor re-scores outstanding."""
    id_memory: int = 10_000
    """How many past item ids are remembered to refuse duplicates and late scores."""

    def __post_init__(self) -> None:
        """Fill in the preset, then check everything that can be checked without data."""
        for name in ("rubrics", "strata", "bet_fractions", "anchor_fractions", "proxies", "statistics"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ConfigError(f"{name} is a list, got the text {value!r}; write ({value!r},)")
            if value is not None and not isinstance(value, Iterable):
                raise ConfigError(f"{name} is a list, got {value!r}; write ({value!r},)")
            if value is not None:
                object.__setattr__(self, name, tuple(value))
        _one_of("preset", self.preset, get_args(Preset))
        for name, value in PRESETS[self.preset].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        _check(self)

    @property
    def cells(self) -> int:
        """Number of rubric x stratum cells."""
        return len(self.rubrics) * len(self.strata)

    @property
    def system_threshold(self) -> float:
        """The main family's e-value at which the system alarm rises."""
        return self._threshold(self.alpha_system, self.baseline_share)

    @property
    def judge_threshold(self) -> float:
        """The anchor family's e-value at which the judge alarm rises."""
        return self._threshold(self.alpha_judge, 0.0 if self.climbs else self.baseline_share)

    @property
    def corrected_threshold(self) -> float:
        """The e-value at which the system counts as dropped although the judge moved: what bars and shift have left."""
        return 1.0 / (self.alpha_system * (1.0 - self.baseline_share - self.shift_share))

    @property
    def climbs(self) -> bool:
        """Whether anchor baselines are bounded by a ladder. An e-detector's promise needs bounds that simply hold."""
        return self.ladder and self.baseline_share > 0.0 and self.run_length is None

    def _threshold(self, alpha: float, share: float) -> float:
        """What is left of alpha after the bounds on bars and baselines, or of the run length if those bounds fail."""
        spent = alpha * share
        return 1.0 / (alpha - spent) if self.run_length is None else self.run_length / (1.0 - spent)

    @property
    def system_promise(self) -> str:
        """The error rate in force for the system, in words."""
        if self.run_length is not None:
            return f"false system alarms at least {self.run_length:g} items apart on average"
        return (
            f"a false system alarm ever in this epoch with probability at most {self.alpha_system:g}, however often "
            f"you look{self._caveat}"
        )

    @property
    def _caveat(self) -> str:
        """What an error rate without honest baselines rests on."""
        if self.baseline_share:
            return ""
        return ", if the judge repeats itself exactly and the slack covers the error of the bars"

    @property
    def promise(self) -> str:
        """The error rates in force, in words."""
        if self.run_length is not None:
            return f"{self.system_promise}, false judge alarms at least {self.run_length:g} anchor re-scores apart"
        return (
            f"a false system alarm ever in this epoch with probability at most {self.alpha_system:g}, "
            f"a false judge alarm with at most {self.alpha_judge:g}, however often you look{self._caveat}"
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping that `from_json` turns back into an equal config."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MonitorConfig:
        """The config of a mapping, for example of a parsed TOML file; an unknown key is refused by name."""
        import difflib

        known = [field.name for field in fields(cls)]
        for key in data:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known settings: {', '.join(known)}"
                raise ConfigError(f"unknown setting {key!r}; {hint}")
        for key in ("rubrics", "strata"):
            if key not in data:
                raise ConfigError(f"the setting {key!r} is missing; give the list of {key} the scores come with")
        return cls(**data)


def _number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name} is {value!r}; give a number")


def _one_of(name: str, value: object, known: Sequence[object]) -> None:
    if value not in known:
        raise ConfigError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}")


def _check(config: MonitorConfig) -> None:
    for name, names in (("rubrics", config.rubrics), ("strata", config.strata)):
        if not names or not all(isinstance(name_, str) and name_ for name_ in _anything(names)):
            raise ConfigError(f"{name} needs at least one non-empty name, got {names!r}")
        if len(set(names)) != len(names):
            twice = next(item for item in names if names.count(item) > 1)
            raise ConfigError(f"{name} names {twice!r} twice; every name stands once")
    if config.cells > MOST_CELLS:
        raise ConfigError(f"{config.cells} rubric x stratum cells; at most {MOST_CELLS} can be watched by one monitor")
    _one_of("acquisition", config.acquisition, get_args(Acquisition))
    _one_of("betting", config.betting, get_args(Betting))
    _one_of("alarm_rule", config.alarm_rule, get_args(AlarmRule))
    _check_numbers(config)
    _check_grids(config)
    if config.run_length is not None:
        if config.betting != "restart" or config.alarm_rule != "average":
            raise ConfigError("run_length needs restart betting and the average alarm rule; use preset 'robust'")
        if not (config.run_length > 1.0 and math.isfinite(config.run_length)):
            raise ConfigError(f"run_length is {config.run_length}; give a number of items above 1, for example 1e6")


def _anything(values: Iterable[object]) -> Iterable[object]:
    """Settings as they may really come, whatever the annotations promise."""
    return values


def _check_numbers(config: MonitorConfig) -> None:
    for name in (
        "alpha_system",
        "alpha_judge",
        "budget",
        "slack",
        "baseline_share",
        "cheap_price",
        "strong_price",
        "local_share",
        "shift_share",
        "shift_tolerance",
    ):
        _number(name, getattr(config, name))
    if config.run_length is not None:
        _number("run_length", config.run_length)
    for name in ("bet_fractions", "anchor_fractions", "proxies"):
        for value in getattr(config, name):
            _number(name, value)
    for name in ("alpha_system", "alpha_judge"):
        value = getattr(config, name)
        if not 0.0 < value < 1.0:
            raise ConfigError(f"{name} is {value}; an error rate lies strictly between 0 and 1, for example 0.1")
    if not 0.0 < config.budget <= 1.0:
        raise ConfigError(f"budget is {config.budget}; the share of items to ask about lies in (0, 1]")
    if not 0.0 <= config.slack < 1.0:
        raise ConfigError(f"slack is {config.slack}; it lies in [0, 1)")
    if not 0.0 <= config.baseline_share < 1.0:
        raise ConfigError(f"baseline_share is {config.baseline_share}; it lies in [0, 1)")
    for name in ("local_share", "shift_share", "shift_tolerance"):
        value = getattr(config, name)
        if not 0.0 <= value < 1.0:
            raise ConfigError(f"{name} is {value}; it lies in [0, 1)")
    if config.baseline_share + config.shift_share >= 1.0:
        raise ConfigError(
            f"baseline_share {config.baseline_share:g} and shift_share {config.shift_share:g} leave nothing of "
            "alpha_system; together they lie below 1"
        )
    for name in ("cheap_price", "strong_price"):
        value = getattr(config, name)
        if not (math.isfinite(value) and value >= 0.0):
            raise ConfigError(f"{name} is {value}; a price per call is at or above 0")
    if config.strong_price == 0.0:
        raise ConfigError("strong_price is 0; costs are stated relative to it, so give what a strong call costs")
    for name, lowest, highest in (
        ("anchor_every", 0, 10**9),
        ("guard", 0, 10**9),
        ("burst", 0, 100_000),
        ("measure", 0, MOST_MEASURED),
        ("stratum_anchors", 2, 100_000),
        ("seed", 0, 2**63 - 1),
        ("max_pending", 1, MOST_PENDING),
        ("id_memory", 1, MOST_PENDING),
    ):
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise ConfigError(f"{name} is {value!r}; give a whole number from {lowest} to {highest}")


def _check_grids(config: MonitorConfig) -> None:
    for name in ("bet_fractions", "anchor_fractions"):
        fractions = getattr(config, name)
        if not fractions or not all(0.0 < f <= 1.0 for f in fractions) or list(fractions) != sorted(set(fractions)):
            raise ConfigError(f"{name} are {fractions!r}; give ascending fractions of the cap in (0, 1]")
    proxies = config.proxies
    if not proxies or not all(0.0 <= w <= 1.0 for w in proxies) or len(set(proxies)) != len(proxies):
        raise ConfigError(f"proxies are {proxies!r}; give distinct weights in [0, 1]")
    if config.betting == "plug-in" and len(proxies) > 1:
        raise ConfigError("plug-in betting follows one proxy; give a single weight, for example proxies=(1.0,)")
    if not config.statistics:
        raise ConfigError("statistics is empty; name at least one of 'gap', 'fingerprint', 'paired'")
    for statistic in config.statistics:
        _one_of("statistics", statistic, get_args(Statistic))
