"""No key ever appears in a log, an error, a repr, a judgement or the cache."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from driftjudge.judges import JudgeError, JudgeRunner, Retry, ScoreCache
from driftjudge.judges.endpoint import without_keys
from tests.judges import misbehaving as wire
from tests.judges.builders import TurnedClock, item, judge, run
from tests.judges.misbehaving import Behaviour, MisbehavingServer, Reaction, Seen

CANARY = "sk-canary-0123456789abcdef"


def _echo(behaviour: Callable[[str], Behaviour]) -> Behaviour:
    """An endpoint that quotes the key it was sent."""

    def quoting(seen: Seen) -> Reaction:
        return behaviour(f"{seen.headers['authorization']} is not good")(seen)

    return quoting


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(_echo(lambda said: wire.status(401, said)), id="401"),
        pytest.param(_echo(lambda said: wire.status(404, said, code="model_not_found")), id="404"),
        pytest.param(_echo(lambda said: wire.status(400, said)), id="400"),
        pytest.param(_echo(lambda said: wire.status(402, said)), id="402"),
        pytest.param(_echo(lambda said: wire.status(400, said, code="content_filter")), id="filtered"),
        pytest.param(_echo(lambda said: wire.status(429, said)), id="429"),
        pytest.param(_echo(lambda said: wire.status(500, said)), id="500"),
        pytest.param(_echo(lambda said: wire.refusal(said)), id="refusal"),
        pytest.param(wire.cut(), id="cut"),
        pytest.param(wire.hang(), id="hang"),
        pytest.param(wire.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), id="no completion"),
    ],
)
def test_a_key_that_the_endpoint_quotes_goes_nowhere(
    server: MisbehavingServer,
    behaviour: Behaviour,
    open_cache: Callable[[], ScoreCache],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MINE", CANARY)
    server.default = behaviour
    one = judge(server, api_key_env="MINE", timeout=0.3)
    runner = JudgeRunner(one, role="strong", cache=open_cache(), retry=Retry(attempts=2), clock=TurnedClock())
    told: list[str] = [repr(one), repr(runner), repr(one.settings), repr(vars(runner)), str(one.identity.parts)]

    async def work() -> None:
        async with runner:
            told.append(repr(await runner.score(item())))

    with caplog.at_level(logging.DEBUG):
        try:
            run(work())
        except JudgeError as error:
            told += [str(error), repr(error), "".join(traceback.format_exception(error))]
    assert server.seen[0].headers["authorization"] == f"Bearer {CANARY}", "the endpoint itself gets it"
    captured = capfd.readouterr()
    told += [caplog.text, captured.out, captured.err]
    told += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()]
    assert [text for text in told if "canary" in text] == []


def test_the_free_look_keeps_the_key_to_itself(server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", CANARY)
    server.models = _echo(lambda said: wire.status(403, said))
    with pytest.raises(JudgeError) as caught:
        run(judge(server, api_key_env="MINE").check())
    assert "canary" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "text",
    ["bad key sk-proj-abcdef123456", "AIzaSyA1234567890abcdef is bad", "got Bearer abcdef.ghi", "sk-ab***********xyz1"],
)
def test_what_looks_like_a_key_is_blotted_out_even_if_it_is_not_ours(text: str) -> None:
    assert "[key]" in without_keys(text, None)
    assert not any(part in without_keys(text, None) for part in ("abcdef", "xyz1", "1234"))
