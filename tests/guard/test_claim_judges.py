"""Claim judges: on time, or the local judge in their place; a judge that is gone is left alone."""

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.guard import Guard, assess
from ragstone.guard.answer_checks import ClaimVerdict
from ragstone.guard.claim_judges import MOST_CHARACTERS, Circuit, encoder_judge, timed
from ragstone.guard.guard_input import Answered
from ragstone.judges.local.claims_and_evidence import LocatedClaim
from ragstone.models.chat import ChatFailure, ChatRequest
from ragstone.report.reason_words import explain
from ragstone.testing import ScriptedModel
from ragstone.testing.fake_models import asked, reply_to

PIER = "The pier at Clevedon is 312 m long. It was opened in 1869 by Sir Arthur Elton."
QUESTION = "How long is the pier?"
GOOD = "The pier at Clevedon is 312 m long [1]."
PARAPHRASE = "One may walk a long way out over the water there [1]."
BOTH = f"{GOOD} {PARAPHRASE}"


def says(request: ChatRequest, *verdicts: str) -> dict[str, Any]:
    """A reply with these verdicts: of GOOD, then of PARAPHRASE. A model is shown them shuffled."""
    words = asked(request)
    claims = sorted(words, key=lambda name: words[name], reverse=True)
    return reply_to(
        request,
        {
            name: {"verdict": verdict, "reason": f"because of {name}"}
            for name, verdict in zip(claims, verdicts, strict=True)
        },
    )


def test_a_model_judges_the_claims_that_the_local_judge_finds() -> None:
    model = ScriptedModel(lambda request: says(request, "supported", "supported"))
    found = assess(QUESTION, BOTH, [PIER], judge=model, deadline=60)
    assert (found.judge, found.late, found.ok) == ("scripted", False, True)
    assert [claim.span.text for claim in found.judged] == [GOOD, PARAPHRASE]
    assert [claim.judge for claim in found.judged] == ["scripted", "scripted"]
    assert len(model.requests) == 1
    assert "The pier at Clevedon is 312 m long." in model.requests[0].text


def test_what_a_model_does_not_support_fails_with_its_reason() -> None:
    model = ScriptedModel(lambda request: says(request, "absent", "contradicted"))
    found = assess(QUESTION, BOTH, [PIER], judge=model, deadline=60)
    assert [issue.code for issue in found.issues] == ["unsupported_sentence"]
    assert found.issues[0].spans[0].text == GOOD
    assert found.notes == ("contradicted_sentences?n=1&of_n=2",)
    assert "because of" in found.judged[1].reason
    assert found.confidence == 0


def test_without_claims_no_model_is_asked() -> None:
    model = ScriptedModel([])
    found = assess(QUESTION, "I don't know.", [PIER], judge=model)
    assert (model.requests, found.late) == ([], False)


def local(found: Any) -> None:
    """The local judge answered in the place of the model."""
    assert (found.judge, found.late) == ("local:strings", True)
    assert [one.judge for one in found.judged] == ["local:strings"]
    assert found.ok
    assert found.notes
    assert all(ragstone.explain(note) != note for note in found.notes)


def test_the_local_judge_answers_for_a_model_that_is_too_late() -> None:
    model = ScriptedModel(lambda request: says(request, "absent"), delay=60)
    local(assess(QUESTION, GOOD, [PIER], judge=model, deadline=0.4))


@pytest.mark.parametrize(
    "failure",
    [
        ChatFailure("unreachable", "cannot be reached"),
        ChatFailure("not_allowed", "wrong key", http=401),
        ChatFailure("rate_limit", "too many requests", http=429),
    ],
)
def test_the_local_judge_answers_for_a_model_that_is_gone(failure: ChatFailure) -> None:
    model = ScriptedModel(lambda _: failure)
    local(assess(QUESTION, GOOD, [PIER], judge=model, deadline=60))
    assert len(model.requests) == (1 if failure.trouble == "not_allowed" else 2)


def test_a_reply_that_cannot_be_read_is_asked_for_once_more() -> None:
    replies = iter(["no json", "ok"])

    def script(request: ChatRequest) -> Any:
        said = next(replies)
        return says(request, "supported") if said == "ok" else said

    found = assess(QUESTION, GOOD, [PIER], judge=ScriptedModel(script), deadline=60)
    assert (found.judge, found.late) == ("scripted", False)


def test_a_claim_that_a_model_leaves_open_is_not_judged() -> None:
    def script(request: ChatRequest) -> Any:
        first = sorted(asked(request))[0]
        return reply_to(request, {first: {"verdict": "supported", "reason": "r"}})

    found = assess(QUESTION, BOTH, [PIER], judge=ScriptedModel(script), deadline=60)
    assert found["groundedness"].status == "not_judged"
    assert found["numbers"].status == found["names"].status == "passed", "strings saw them"
    assert (found.ok, found.decision, found.confidence) == (None, "ask", None)


def test_a_model_that_fails_time_and_again_is_left_alone_and_that_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = ScriptedModel(lambda _: ChatFailure("not_allowed", "wrong key", http=401))
    guard = Guard(judge=model, deadline=60)
    for _ in range(7):
        local(guard.assess(QUESTION, GOOD, [PIER]))
    assert len(model.requests) == 5
    assert "circuit_open" in guard.assess(QUESTION, GOOD, [PIER]).notes[0]
    assert "state=open" in caplog.text


def test_a_function_of_ones_own_is_a_judge() -> None:
    async def judge(request: ChatRequest) -> dict[str, Any]:
        return says(request, "absent")

    found = assess(QUESTION, GOOD, [PIER], judge=judge, deadline=60)
    assert (found.judge, [issue.code for issue in found.issues]) == (
        "callable", ["unsupported_sentence"]
    )  # fmt: skip


def test_a_panel_votes() -> None:
    judges = [
        ScriptedModel(lambda request, say=say: says(request, say), name=say)  # type: ignore[misc]
        for say in ("supported", "absent")
    ] + [ScriptedModel(lambda request: says(request, "absent"), name="third")]
    found = Guard(judge=judges, deadline=60).assess(QUESTION, GOOD, [PIER])
    assert found.judge == "supported,absent,third"
    assert [claim.verdict for claim in found.judged] == ["absent"]


def test_guards_may_be_asked_from_inside_an_event_loop() -> None:
    model = ScriptedModel(lambda request: says(request, "supported"))
    guard = Guard(judge=model, deadline=60)

    async def several() -> list[str]:
        many = [guard.aassess(QUESTION, GOOD, [PIER]) for _ in range(8)]
        return [found.judge for found in await asyncio.gather(*many)]

    assert asyncio.run(several()) == ["scripted"] * 8


class Stuck:
    """A judge that does not come back."""

    name = "stuck"
    parts = ("1",)

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.asked = 0

    def verdicts(self, _: Answered, claims: Sequence[LocatedClaim]) -> Sequence[ClaimVerdict]:
        self.asked += 1
        self.go_on.wait(60)
        return [ClaimVerdict("absent", 0.0, "stuck") for _ in claims]


def test_a_judge_that_hangs_holds_up_nobody_and_takes_only_so_many_threads() -> None:
    stuck: Any = Stuck()
    guard = Guard(deadline=0.3)
    object.__setattr__(guard, "_judge", timed(stuck, 2, Circuit(failures=100)))
    for _ in range(4):
        local(guard.assess(QUESTION, GOOD, [PIER]))
    assert stuck.asked == 2
    stuck.go_on.set()


def test_the_encoder_gives_what_the_local_judge_of_a_run_gives(minilm_by_name: Path) -> None:
    assert minilm_by_name
    found = assess(QUESTION, BOTH, [PIER], judge="builtin:minilm", deadline=60)
    assert (found.judge, found.late) == ("local:builtin:minilm", False)
    scores = ragstone.evaluate_one(question=QUESTION, answer=BOTH, contexts=[PIER], judge="local",
                                   metrics="expected_faithfulness")  # fmt: skip
    known = [claim.probability or 0.0 for claim in found.judged]
    assert sum(known) / len(known) == pytest.approx(scores["expected_faithfulness"], abs=1e-6)
    strings = assess(QUESTION, BOTH, [PIER])
    assert [claim.probability for claim in strings.judged] != known


def test_nothing_of_a_request_is_kept_on_disk(minilm_by_name: Path, tmp_path: Path) -> None:
    assert minilm_by_name.is_relative_to(tmp_path)
    before = {file: file.stat().st_size for file in tmp_path.rglob("*")}
    assess(QUESTION, "A new text, never seen before [1].", [PIER], judge="local", deadline=60)
    assert {file: file.stat().st_size for file in tmp_path.rglob("*")} == before


def test_too_much_text_is_not_given_to_the_encoder() -> None:
    from ragstone.testing import ScriptedEncoder

    guard = Guard(deadline=60)
    judge = encoder_judge(ScriptedEncoder(longest=64), "local:scripted")
    object.__setattr__(guard, "_judge", timed(judge, 2, Circuit(failures=1)))
    long = [PIER + " word" * (MOST_CHARACTERS // 5)]
    for _ in range(2):
        found = guard.assess(QUESTION, GOOD, long)
        assert (found.late, found.notes) == (
            True, (f"too_much_for_encoder?most={MOST_CHARACTERS}",)
        )  # fmt: skip


def test_strings_are_the_judge_where_no_encoder_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path))
    found = assess(QUESTION, GOOD, [PIER], judge="local", offline=True)
    assert (found.judge, found.late) == ("local:strings", False)


@pytest.mark.parametrize("judge", ["human", "ids", "rules", "nonsense", "human:labels.csv"])
def test_only_judges_of_claims_can_guard(judge: str) -> None:
    with pytest.raises((InputError, ragstone.RagstoneError), match="judge"):
        Guard(judge=judge)


class Kind:
    """A judge that supports whatever it is asked about."""

    name = "kind"
    parts = ("1",)

    def verdicts(self, _: Answered, claims: Sequence[LocatedClaim]) -> Sequence[ClaimVerdict]:
        return [ClaimVerdict("supported", 1.0, "kind") for _ in claims]


def test_what_the_local_judge_did_not_reach_no_other_judge_has_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = iter(range(1000))
    clock = (lambda: next(now) / 10,)
    monkeypatch.setattr("ragstone.guard.guard_input.Deadline.__init__.__defaults__", clock)
    guard = Guard()
    object.__setattr__(guard, "_judge", Kind())
    found = guard.assess(QUESTION, " ".join([GOOD] * 50), [PIER])
    assert found.judge == "kind"
    assert found["groundedness"].status == "not_judged"
    assert found.confidence is None


def test_a_program_ends_although_a_model_hangs() -> None:
    code = (
        "from ragstone.guard import assess\n"
        "from ragstone.testing import ScriptedModel\n"
        "model = ScriptedModel([], delay=3600)\n"
        "print(assess('q', 'A cat sat [1].', ['A cat sat.'], judge=model, deadline=2).late)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "True\n"


class Hand:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


def opened(clock: Hand, **how: object) -> Circuit:
    circuit = Circuit(failures=3, retry_after=30, clock=clock, **how)  # type: ignore[arg-type]
    for _ in range(3):
        assert circuit.allow()
        circuit.failed()
    return circuit


def test_it_opens_at_the_last_of_the_failures_in_a_row(clock: Hand) -> None:
    circuit = Circuit(failures=3, clock=clock)
    circuit.failed()
    circuit.failed()
    assert (circuit.state, circuit.allow()) == ("closed", True)
    circuit.failed()
    assert (circuit.state, circuit.allow()) == ("open", False)


def test_a_success_in_between_begins_the_row_anew(clock: Hand) -> None:
    circuit = Circuit(failures=2, clock=clock)
    for _ in range(5):
        circuit.failed()
        circuit.ok()
    assert circuit.state == "closed"
    assert circuit.changes == {"closed": 0, "open": 0, "half_open": 0}


def test_one_call_is_tried_when_the_time_has_come_and_no_other_beside_it(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 29.9
    assert not circuit.allow()
    clock.now += 0.1
    assert circuit.allow()
    assert circuit.state == "half_open"
    assert not circuit.allow()
    assert circuit.refused == 2


def test_it_closes_when_the_try_succeeds(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    assert circuit.allow()
    circuit.ok()
    assert (circuit.state, circuit.allow()) == ("closed", True)
    circuit.failed()
    assert circuit.state == "closed", "the failures of before are forgotten"


def test_a_try_that_fails_opens_it_for_as_long_again(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    assert circuit.allow()
    clock.now += 20
    circuit.failed()
    assert circuit.state == "open"
    clock.now += 29
    assert not circuit.allow()
    clock.now += 1
    assert circuit.allow()


def test_a_try_that_nobody_reports_on_does_not_keep_it_half_open(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    assert circuit.allow()
    clock.now += 30
    assert circuit.allow()
    assert circuit.changes["half_open"] == 1


def test_what_was_asked_before_it_opened_neither_closes_it_nor_keeps_it_open(clock: Hand) -> None:
    circuit = opened(clock)
    circuit.ok()
    assert circuit.state == "open"
    clock.now += 29
    circuit.failed()
    clock.now += 1
    assert circuit.allow(), "counted from when it opened"


def test_each_change_is_counted_and_logged(clock: Hand, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "ragstone.guard"):
        circuit = opened(clock, name="openai:gpt-5-mini", meanwhile="closed")
        clock.now += 30
        circuit.allow()
        circuit.ok()
    assert circuit.changes == {"open": 1, "half_open": 1, "closed": 1}
    assert [one.getMessage() for one in caplog.records] == [
        "guard.circuit judge=openai:gpt-5-mini state=open before=closed failures=3 "
        "retry_after=30s meanwhile=closed",
        "guard.circuit judge=openai:gpt-5-mini state=half_open before=open failures=3 "
        "retry_after=30s meanwhile=closed",
        "guard.circuit judge=openai:gpt-5-mini state=closed before=half_open failures=0 "
        "retry_after=30s meanwhile=closed",
    ]


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        ("local", "m failed 3 times in a row and is not asked for a while; meanwhile the local "
         "judge answers"),
        ("open", "m failed 3 times in a row and is not asked for a while; meanwhile answers pass "
         "unjudged"),
        ("closed", "m failed 3 times in a row and is not asked for a while; meanwhile answers are "
         "held back"),
    ],
)  # fmt: skip
def test_the_reason_tells_what_is_done_meanwhile(clock: Hand, meanwhile: str, said: str) -> None:
    circuit = opened(clock, name="m", meanwhile=meanwhile)
    assert explain(circuit.reason) == said


def test_many_threads_get_one_try_between_them(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    allowed: list[bool] = []
    threads = [Thread(target=lambda: allowed.append(circuit.allow())) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(allowed) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"failures": 0}, "failures=0: give 1 or more."),
        ({"retry_after": -1.0}, "retry_after=-1.0: give 0 seconds or more."),
        ({"retry_after": float("nan")}, "retry_after=nan: give 0 seconds or more."),
    ],
)
def test_numbers_out_of_range_are_refused(given: dict[str, float], said: str) -> None:
    with pytest.raises(InputError) as told:
        Circuit(**given)  # type: ignore[arg-type]
    assert said in str(told.value)
