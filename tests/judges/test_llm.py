"""An LLM judge against a real server: what each behaviour of the endpoint ends in."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from driftjudge.judges import EndpointError, Item, ItemError, Judgement, LLMJudge, RubricError, Scale, SettingsError
from driftjudge.monitor.scores import Failure
from tests.judges import misbehaving as wire
from tests.judges.builders import item, judge, run
from tests.judges.misbehaving import Behaviour, MisbehavingServer


def _scored(server: MisbehavingServer, behaviour: Behaviour | None = None, **settings: Any) -> Judgement:
    async def once() -> Judgement:
        async with judge(server, **settings) as one:
            return await one.score(item())

    if behaviour is not None:
        server.next(behaviour)
    return run(once())


def _failure(judgement: Judgement) -> Failure:
    assert isinstance(judgement.scores, Failure)
    return judgement.scores


def test_scores_come_back_in_rubric_order_and_in_the_unit_interval(server: MisbehavingServer) -> None:
    server.default = wire.answer({"depth": 1, "tone": 4})
    judgement = _scored(server, rubrics=("tone", "depth"))
    assert judgement.scores == (1.0, 0.25)


def test_one_call_says_what_it_used_and_cost(server: MisbehavingServer) -> None:
    usage = _scored(server).usage
    assert (usage.input_tokens, usage.output_tokens, usage.calls) == (300, 40, 1)
    assert usage.dollars == pytest.approx((300 * 1.0 + 40 * 4.0) / 1e6)


def test_the_request_holds_instructions_texts_schema_and_sampling(server: MisbehavingServer) -> None:
    _scored(server, seed=5, rubrics={"tone": "friendly, not servile"})
    (seen,) = server.seen
    system, user = (message["content"] for message in seen.body["messages"])
    assert "- tone: friendly, not servile" in system
    assert user == "PROMPT:\nHow are you?\n\nRESPONSE:\nFine, for the 1. time."
    assert seen.body["temperature"] == 0.0
    assert seen.body["seed"] == 5
    schema = seen.body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["tone"]["enum"] == [0, 1, 2, 3, 4]
    assert schema["required"] == ["tone"]
    assert seen.path == "/v1/chat/completions"


def test_texts_reach_the_endpoint_as_they_are(server: MisbehavingServer) -> None:
    text = 'braces {prompt} {0} "quotes" \\ tabs\t snow ☃ \U0001f600 \u2063'

    async def once() -> None:
        async with judge(server) as one:
            await one.score(Item("x", {"prompt": text, "response": "{response}", "other": "unseen"}))

    run(once())
    assert server.seen[0].user == f"PROMPT:\n{text}\n\nRESPONSE:\n{{response}}"


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        pytest.param(wire.status(429, "slow down", retry_after=7), "transport", id="429"),
        pytest.param(wire.status(500), "transport", id="500"),
        pytest.param(wire.status(503), "transport", id="503"),
        pytest.param(wire.status(529, "overloaded"), "transport", id="529"),
        pytest.param(wire.status(408), "transport", id="408"),
        pytest.param(wire.cut(), "transport", id="cut connection"),
        pytest.param(wire.cut_midway(), "transport", id="cut in the middle"),
        pytest.param(wire.raw(b"HTTP/9.9 what\r\n\r\n"), "transport", id="no HTTP"),
        pytest.param(wire.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p/>"), "transport", id="no completion"),
        pytest.param(wire.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), "transport", id="empty object"),
        pytest.param(wire.refusal(), "refusal", id="refusal"),
        pytest.param(wire.content_filter(), "refusal", id="content filter"),
        pytest.param(wire.status(400, "filtered", code="content_filter"), "refusal", id="filtered prompt"),
        pytest.param(wire.status(400, "too long", code="context_length_exceeded"), "refusal", id="context window"),
        pytest.param(wire.prose(), "unparsable", id="prose"),
        pytest.param(wire.prose('{"tone": 3', finish="length"), "unparsable", id="cut off at the limit"),
        pytest.param(wire.answer({}), "unparsable", id="missing rubric"),
        pytest.param(wire.answer({"tone": "3"}), "unparsable", id="text for a number"),
        pytest.param(wire.answer({"tone": True}), "unparsable", id="truth for a number"),
        pytest.param(wire.prose('{"tone": NaN}'), "unparsable", id="not a number"),
        pytest.param(wire.prose('{"tone": 1, "tone": 4}'), "unparsable", id="twice"),
        pytest.param(wire.prose("[3]"), "unparsable", id="a list"),
        pytest.param(wire.prose("[" * 50_000), "unparsable", id="a deep list"),
        pytest.param(wire.answer({"tone": 7}), "out_of_range", id="7 of 4"),
        pytest.param(wire.answer({"tone": -1}), "out_of_range", id="-1 of 4"),
        pytest.param(wire.answer({"tone": 2.5}), "out_of_range", id="between the levels"),
        pytest.param(wire.prose('{"tone": 1' + "0" * 300 + "}"), "out_of_range", id="huge"),
    ],
)
def test_each_misbehaviour_has_its_class(server: MisbehavingServer, behaviour: Behaviour, reason: str) -> None:
    assert _failure(_scored(server, behaviour)).reason == reason
    assert len(server.seen) == 1, "one call is one request"


def test_a_hanging_endpoint_is_given_up_on(server: MisbehavingServer) -> None:
    judgement = _scored(server, wire.hang(), timeout=0.2)
    assert _failure(judgement) == Failure("transport", "no answer within 0.2 s")
    assert not judgement.unbilled


def test_an_answer_that_never_ends_is_given_up_on_too(server: MisbehavingServer) -> None:
    assert _failure(_scored(server, wire.drip({"tone": 3}, 0.02), timeout=0.3)).reason == "transport"


def test_the_wait_the_endpoint_asks_for_is_passed_on(server: MisbehavingServer) -> None:
    judgement = _scored(server, wire.status(429, retry_after=7))
    assert judgement.retry_after == 7.0
    assert judgement.unbilled


def test_what_an_endpoint_certainly_did_not_do_is_not_billed(server: MisbehavingServer) -> None:
    assert _scored(server, wire.status(500)).usage.dollars == 0.0
    assert _scored(server, wire.cut()).usage.dollars is None


def test_nobody_at_the_address_is_a_transport_failure_that_costs_nothing(server: MisbehavingServer) -> None:
    judgement = _scored(server, base_url="http://127.0.0.1:1/v1")
    assert _failure(judgement).reason == "transport"
    assert judgement.unbilled


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (wire.status(401, "bad key"), "does not accept our key"),
        (wire.status(403, "not for you"), "does not accept our key"),
        (wire.status(404, "no such model", code="model_not_found"), "knows no model 'm'"),
        (wire.status(402, "pay first"), "no credit left"),
        (wire.status(429, "quota", code="insufficient_quota"), "no credit left"),
        (wire.status(400, "temperature is not supported"), "temperature is not supported"),
        (wire.raw(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"), "sends us elsewhere"),
    ],
)
def test_an_endpoint_that_refuses_us_altogether_is_an_error_in_one_sentence(
    server: MisbehavingServer, behaviour: Behaviour, words: str
) -> None:
    with pytest.raises(EndpointError, match=words) as caught:
        _scored(server, behaviour)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_model_that_answered_is_told(server: MisbehavingServer) -> None:
    assert _scored(server, wire.answer({"tone": 2}, model="m-2026-02")).model == "m-2026-02"


def test_an_answer_without_usage_has_no_known_price(server: MisbehavingServer) -> None:
    judgement = _scored(server, wire.answer({"tone": 2}, usage=None))
    assert judgement.scores == (0.5,)
    assert judgement.usage.dollars is None


def test_a_fenced_object_is_an_answer(server: MisbehavingServer) -> None:
    assert _scored(server, wire.prose('```json\n{"tone": 1}\n```')).scores == (0.25,)


def test_a_continuous_scale_takes_any_number_on_it(server: MisbehavingServer) -> None:
    assert _scored(server, wire.answer({"tone": 0.3}), scale=Scale(0, 1, integer=False)).scores == (0.3,)


def test_connections_are_used_again(server: MisbehavingServer) -> None:
    async def thrice(one: LLMJudge) -> None:
        async with one:
            for number in range(3):
                await one.score(item(number))

    run(thrice(judge(server)))
    assert len(server.seen) == 3


def test_a_judge_can_be_used_in_one_event_loop_after_another(server: MisbehavingServer) -> None:
    one = judge(server)

    async def once() -> Judgement:
        async with one:
            return await one.score(item())

    assert run(once()).scores == run(once()).scores == (0.75,)


def test_a_chunked_answer_is_read(server: MisbehavingServer) -> None:
    body = json.dumps({"model": "m", "choices": [{"message": {"content": '{"tone": 4}'}}]}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:])) + b"0\r\n\r\n"
    whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    assert _scored(server, wire.raw(whole)).scores == (1.0,)


def test_an_item_without_a_text_is_refused_before_anything_is_sent(server: MisbehavingServer) -> None:
    async def once() -> None:
        async with judge(server) as one:
            await one.score(Item("i7", {"prompt": "hi", "answer": "ho"}))

    with pytest.raises(ItemError, match="Item 'i7' has no text 'response'"):
        run(once())
    assert server.seen == []


def test_an_item_that_is_too_long_is_refused_before_anything_is_sent(server: MisbehavingServer) -> None:
    async def once() -> None:
        async with judge(server, max_input_tokens=500) as one:
            await one.score(item(text="word " * 1000))

    with pytest.raises(ItemError, match="Item 'item-1' is too long for m"):
        run(once())
    assert server.seen == []


def test_few_shot_examples_stand_before_the_item(server: MisbehavingServer) -> None:
    example = {"prompt": "p", "response": "r", "scores": {"tone": 4}}
    _scored(server, examples=[example])
    shots, _, rest = server.seen[0].user.partition("NOW SCORE THIS\n\n")
    assert "PROMPT:\np\n\nRESPONSE:\nr\n\nSCORES:\n" in shots
    assert '{"tone": 4}' in shots
    assert rest.startswith("PROMPT:\nHow are you?")


def test_few_shot_examples_go_where_the_template_wants_them(server: MisbehavingServer) -> None:
    example = {"prompt": "p", "response": "r", "scores": {"tone": 4}}
    _scored(server, examples=[example], template="{prompt}|{response}|{examples}")
    assert server.seen[0].user.startswith("How are you?|Fine, for the 1. time.|EXAMPLE 1")


@pytest.mark.parametrize("scores", [{"tone": 9}, {"mood": 1}, {}])
def test_an_example_that_contradicts_the_rubrics_is_refused(server: MisbehavingServer, scores: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="Example 1"):
        judge(server, examples=[{"prompt": "p", "response": "r", "scores": scores}])


def test_an_example_without_a_text_is_refused(server: MisbehavingServer) -> None:
    with pytest.raises(ItemError, match="Item 'example 1' has no text 'response'"):
        judge(server, examples=[{"prompt": "p", "scores": {"tone": 1}}])


def _token(text: str, **others: float) -> dict[str, Any]:
    shares = others or {text: 1.0}
    top = [{"token": name, "logprob": math.log(share)} for name, share in shares.items()]
    return {"token": text, "logprob": 0.0, "top_logprobs": top}


def test_an_expected_score_is_the_mean_under_the_token_probabilities(server: MisbehavingServer) -> None:
    tokens = [_token('{"tone'), _token('":'), _token(" 3", **{" 3": 0.6, "4": 0.2, "x": 0.2}), _token("}")]
    behaviour = wire.answer({"tone": 3}, logprobs=tokens)
    judgement = _scored(server, behaviour, expected_scores=True)
    assert not isinstance(judgement.scores, Failure)
    assert judgement.scores == pytest.approx(((3 * 0.6 + 4 * 0.2) / 0.8 / 4,))
    assert server.seen[0].body["logprobs"] is True


def test_without_log_probabilities_an_expected_score_is_an_error(server: MisbehavingServer) -> None:
    with pytest.raises(EndpointError, match="gives no token log-probabilities"):
        _scored(server, expected_scores=True)


def test_expected_scores_need_a_scale_of_digits(server: MisbehavingServer) -> None:
    with pytest.raises(RubricError, match="single digits"):
        judge(server, scale=Scale(0, 10), expected_scores=True)


def test_a_free_look_tells_whether_the_endpoint_is_there_and_takes_the_key(server: MisbehavingServer) -> None:
    run(judge(server).check())
    server.models = wire.status(401)
    with pytest.raises(EndpointError, match="does not accept our key"):
        run(judge(server).check())
    with pytest.raises(EndpointError, match=r"Nothing answers at http://127\.0\.0\.1:1/v1"):
        run(judge(server, base_url="http://127.0.0.1:1/v1").check())
    assert server.seen == []
