"""The contract every e-process signs: a new one is in the house when it passes this list, and nobody writes it again.

A process is handed in as a `Subject`. The checks know nothing of judges, strata or statistics: they see numbers that
claim to be e-processes, laws of the next observation that claim to be on the null, and what one step does to both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

T = TypeVar("T")
Vector = NDArray[np.float64]
Law = Sequence[tuple[float, Any]]
"""Every outcome of the next step with its exact probability."""


class Draw(Protocol):
    """Hypothesis' `data.draw`."""

    def __call__(self, strategy: st.SearchStrategy[T]) -> T: ...


class Process(Protocol):
    """A process in some state, wrapped so that the checks can read and step it."""

    def evalues(self) -> Vector:
        """Every number in it that claims to be an e-process."""

    def fortunes(self) -> Vector:
        """Every number in it that must never be negative."""

    def some(self, rng: np.random.Generator) -> Any:
        """A legal observation of no particular law: what pasts are made of."""

    def null_law(self, draw: Draw) -> Law:
        """A law of the next observation that lies on the null, given the past."""

    def step(self, observation: Any) -> None:
        """Take in one observation."""

    def copy(self) -> Self:
        """The same state again, sharing nothing that changes."""

    def size(self) -> int:
        """Bytes of state."""


class Mirrored(Process, Protocol):
    """A process with a direction: turning every score s into 1 - s must give its mirror image."""

    def mirror(self) -> Self:
        """The process before its first observation, with every direction turned round."""

    def reflect(self, observation: Any) -> Any:
        """The observation with every score turned round."""


@dataclass(frozen=True)
class Subject:
    """A process and what it claims."""

    name: str
    start: Callable[[Draw], Process]
    """Draw settings and a null; the process has seen nothing yet."""
    start_value: float = 1.0
    allowance: float = 0.0
    """By how much a step may raise the expectation: 0 for an e-process, 1 for an e-detector."""
    mirrored: bool = False


ROUNDING = 1e-12
LONG = 3_000


def _hold(claim: Callable[[st.DataObject], None], examples: int, *, shrink: bool = True) -> None:
    """Let Hypothesis look for a counterexample; every run looks at the same examples."""
    phases = tuple(Phase) if shrink else (Phase.explicit, Phase.generate)
    checked = given(st.data())(claim)
    settings(max_examples=examples, deadline=None, derandomize=True, phases=phases, report_multiple_bugs=False)(
        checked
    )()


def _past(process: Process, draw: Draw, longest: int) -> np.random.Generator:
    """Let a process live through a random past, long or short, and return the generator it came from."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    for _ in range(draw(st.integers(0, longest))):
        process.step(process.some(rng))
    return rng


def one_step(process: Process, law: Law, allowance: float) -> None:
    """E[E_{n+1} | past] <= E_n (+ allowance) for every e-value of the process, by going through every outcome."""
    total = math.fsum(probability for probability, _ in law)
    assert math.isclose(total, 1.0, rel_tol=1e-12), f"the outcomes carry {total}, not 1: the check itself is wrong"
    before = process.evalues()
    products = []
    for probability, observation in law:
        after = process.copy()
        after.step(observation)
        assert np.all(after.fortunes() >= 0.0), "wealth fell below 0"
        products.append(probability * after.evalues())
    expected = np.array([math.fsum(column) for column in np.array(products).T])
    bound = (before + allowance) * (1.0 + ROUNDING)
    worst = int(np.argmax(expected - bound))
    assert np.all(expected <= bound), f"e-value {worst} is {before[worst]} and expects {expected[worst]} next"


def check_starts_at_its_stake(subject: Subject) -> None:
    """An e-process starts at 1, an e-detector at 0."""

    def claim(data: st.DataObject) -> None:
        assert np.all(subject.start(data.draw).evalues() == subject.start_value)

    _hold(claim, 20)


def check_never_goes_negative(subject: Subject) -> None:
    """Whatever is observed, on the null or not, wealth stays at or above 0 and finite."""

    def claim(data: st.DataObject) -> None:
        process = subject.start(data.draw)
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        for _ in range(200):
            process.step(process.some(rng))
            assert np.all(process.fortunes() >= 0.0)
            assert np.all(np.isfinite(process.fortunes()))
            assert np.all(np.isfinite(process.evalues()))

    _hold(claim, 20)


def check_does_not_grow_on_average(subject: Subject, *, examples: int = 60, shrink: bool = True) -> None:
    """The supermartingale property, exactly, after random pasts and for random laws on the null."""

    def claim(data: st.DataObject) -> None:
        process = subject.start(data.draw)
        _past(process, data.draw, 60)
        one_step(process, process.null_law(data.draw), subject.allowance)

    _hold(claim, examples, shrink=shrink)


def check_is_not_moved_by_the_future(subject: Subject) -> None:
    """What a prefix shows is what the whole showed on its way, bit for bit."""

    def claim(data: st.DataObject) -> None:
        whole = subject.start(data.draw)
        prefix = whole.copy()
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        observations = [whole.some(rng) for _ in range(50)]
        stop = data.draw(st.integers(0, 50))
        seen = [whole.evalues()]
        for observation in observations:
            whole.step(observation)
            seen.append(whole.evalues())
        for observation in observations[:stop]:
            prefix.step(observation)
        assert prefix.evalues().tobytes() == seen[stop].tobytes()

    _hold(claim, 20)


def check_keeps_its_size(subject: Subject) -> None:
    """Memory is the same after many observations as before the first."""

    def claim(data: st.DataObject) -> None:
        process = subject.start(data.draw)
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        before = process.size()
        for _ in range(LONG):
            process.step(process.some(rng))
        assert process.size() == before > 0

    _hold(claim, 2)


def check_has_no_randomness_of_its_own(subject: Subject) -> None:
    """Two copies fed the same agree bit for bit, and stepping one leaves the other alone."""

    def claim(data: st.DataObject) -> None:
        process = subject.start(data.draw)
        rng = _past(process, data.draw, 30)
        untouched, twin = process.evalues().tobytes(), process.copy()
        observations = [process.some(rng) for _ in range(10)]
        for observation in observations:
            twin.step(observation)
        assert process.evalues().tobytes() == untouched
        for observation in observations:
            process.step(observation)
        assert process.evalues().tobytes() == twin.evalues().tobytes()

    _hold(claim, 20)


def check_mirrors(subject: Subject) -> None:
    """Scores turned round, directions turned round: the same evidence."""

    def claim(data: st.DataObject) -> None:
        process: Any = subject.start(data.draw)
        image = process.mirror()
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        for _ in range(40):
            observation = process.some(rng)
            process.step(observation)
            image.step(process.reflect(observation))
        np.testing.assert_allclose(image.evalues(), process.evalues(), rtol=1e-9)

    _hold(claim, 20)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    check_starts_at_its_stake,
    check_never_goes_negative,
    check_does_not_grow_on_average,
    check_is_not_moved_by_the_future,
    check_keeps_its_size,
    check_has_no_randomness_of_its_own,
)


def checks_of(subject: Subject) -> tuple[Callable[[Subject], None], ...]:
    """The list, with the mirror for processes that have a direction to turn round."""
    return (*CHECKS, check_mirrors) if subject.mirrored else CHECKS
