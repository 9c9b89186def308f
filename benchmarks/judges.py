"""`python -m benchmarks.judges`: 64 calls at once to an endpoint that answers after 50 ms; goal: 80 % of the ideal.

The endpoint runs in a process of its own and does nothing but wait, so that what is measured is the client. A client
that only writes and reads bytes shows what this machine gives at best; ours runs whole, with prices, ceiling, ledger
and durable cache; pydantic-ai is asked directly and through an agent, over one pool of connections, without any of
that. Rates depend on what else the machine does; the processor time per call does not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from driftjudge.judges import Budget, Item, JudgeRunner, Limits, ScoreCache, make_judge

AT_ONCE, DELAY, GOAL = 64, 0.05, 0.8
IDEAL = AT_ONCE / DELAY
RUBRICS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
ANSWER = json.dumps(dict.fromkeys(RUBRICS, 3))
TEXTS = {"prompt": "What is a lease? " * 30, "response": "A right for a time. " * 30}

ENDPOINT = r"""
import asyncio, json, sys
delay, answer = float(sys.argv[1]), sys.argv[2]
message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}
usage = {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340}
found = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [message], "usage": usage}
body = json.dumps(found).encode()
reply = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body

class Waiting(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.got = transport, b""
    def data_received(self, data):
        self.got += data
        while (end := self.got.find(b"\r\n\r\n")) >= 0:
            length = int(self.got[:end].lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self.got) < end + 4 + length:
                return
            self.got = self.got[end + 4 + length :]
            asyncio.get_running_loop().call_later(delay, self.transport.write, reply)

async def main():
    server = await asyncio.get_running_loop().create_server(Waiting, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Measured:
    """One contender: medians over repetitions."""

    calls_per_second: float
    share_of_ideal: float
    processor_ms_per_call: float


@contextmanager
def endpoint() -> Iterator[int]:
    """The endpoint's port."""
    command = [sys.executable, "-c", ENDPOINT, str(DELAY), ANSWER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def drive(call: Call, count: int) -> tuple[float, float]:
    """Calls per second and processor seconds per call, connections opened beforehand."""
    left = iter(range(count))

    async def work() -> None:
        for _ in left:
            await call()

    await asyncio.gather(*(call() for _ in range(AT_ONCE)))
    began, busy = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return count / (time.perf_counter() - began), (time.process_time() - busy) / count


async def bytes_alone(port: int, count: int) -> tuple[float, float]:
    """Write a request, read an answer, understand neither."""
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    body = json.dumps({"messages": [{"role": "user", "content": json.dumps(TEXTS)}]}).encode()
    request = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def call() -> None:
        reader, writer = free.pop() if free else await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]))
        free.append((reader, writer))

    found = await drive(call, count)
    for _, writer in free:
        writer.close()
    return found


async def ours(port: int, count: int) -> tuple[float, float]:
    """The runner with everything: a new text per call, cache, ledger and ceiling."""
    settings = {"model": "m", "base_url": f"http://127.0.0.1:{port}/v1", "price_input": 1.0, "price_output": 4.0}
    judge = make_judge(settings, RUBRICS)
    numbers = iter(range(10**9))
    with tempfile.TemporaryDirectory() as folder, ScoreCache(Path(folder) / "scores.db") as cache:
        runner = JudgeRunner(judge, role="strong", cache=cache, limits=Limits(AT_ONCE), budget=Budget(dollars=1e6))

        async def call() -> None:
            number = next(numbers)
            judgement = await runner.score(Item(str(number), {**TEXTS, "prompt": f"{number} {TEXTS['prompt']}"}))
            assert judgement.scores == (0.75,) * len(RUBRICS)

        async with runner:
            found = await drive(call, count)
        assert cache.ledger.total().calls == len(cache) == count + AT_ONCE
        return found


async def pydantic_ai(port: int, count: int, *, agent: bool) -> tuple[float, float]:
    """The same question through pydantic-ai."""
    import httpx2
    from openai import AsyncOpenAI
    from pydantic import create_model
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.providers.openai import OpenAIProvider

    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    fields: dict[str, Any] = dict.fromkeys(RUBRICS, (int, ...))
    scores = create_model("Scores", **fields)
    async with httpx2.AsyncClient(limits=limits, timeout=30.0) as http:
        http_client: Any = http
        client = AsyncOpenAI(
            api_key="unset", base_url=f"http://127.0.0.1:{port}/v1", http_client=http_client, max_retries=0
        )
        model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))
        text = json.dumps(TEXTS)
        if agent:
            whole = Agent(model, output_type=NativeOutput(scores))
            return await drive(lambda: whole.run(text), count)
        answer = OutputObjectDefinition(json_schema=scores.model_json_schema(), name="scores")
        asked = ModelRequestParameters(output_mode="native", output_object=answer)
        return await drive(lambda: model.request([ModelRequest(parts=[UserPromptPart(text)])], None, asked), count)


CONTENDERS: dict[str, Callable[[int, int], Awaitable[tuple[float, float]]]] = {
    "bytes alone": bytes_alone,
    "driftjudge": ours,
    "pydantic-ai, model.request": lambda port, count: pydantic_ai(port, count, agent=False),
    "pydantic-ai, agent": lambda port, count: pydantic_ai(port, count, agent=True),
}


def measure(calls: int, repetitions: int) -> dict[str, Measured]:
    """Every contender once per round, so that a slow minute is everybody's."""
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTENDERS}
    with endpoint() as port:
        for _ in range(repetitions):
            for name, contender in CONTENDERS.items():
                rounds[name].append(asyncio.run(_awaited(contender(port, calls))))
    found = {}
    for name, taken in rounds.items():
        rate, busy = (median(column) for column in zip(*taken, strict=True))
        found[name] = Measured(rate, rate / IDEAL, busy * 1e3)
    return found


async def _awaited(work: Awaitable[tuple[float, float]]) -> tuple[float, float]:
    return await work


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judges", description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=5_000, help="per contender and repetition")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args(given)
    found = measure(arguments.calls, arguments.repetitions)
    print(f"{AT_ONCE} calls at once, {DELAY * 1e3:.0f} ms each: at best {IDEAL:.0f} calls/s")
    for name, one in found.items():
        goal = "" if name != "driftjudge" else f"  goal {GOAL:.0%} {'met' if one.share_of_ideal >= GOAL else 'MISSED'}"
        print(
            f"{name:27} {one.calls_per_second:6.0f} calls/s  {one.share_of_ideal:4.0%} of the ideal  "
            f"{one.processor_ms_per_call:5.2f} ms of processor per call{goal}"
        )
    if arguments.json:
        arguments.json.write_text(
            json.dumps({name: asdict(one) for name, one in found.items()}, indent=2) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
