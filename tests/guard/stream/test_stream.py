"""Streams: what leaves by each policy, and what is told of it."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.core.messages import Reason
from ragstone.guard import (
    Checks,
    Guard,
    NotJudged,
    ReadContexts,
    ReleasePolicy,
    Stream,
    UnitVerdict,
    aassess_stream,
    assess_stream,
    pushed_stream,
)
from ragstone.guard.guard_input import LONGEST_SENTENCE
from ragstone.guard.stream import AsyncStream, PushedStream
from ragstone.guard.stream.release import parts_of
from ragstone.guard.stream.unit_judge import UnitJudge

GUARD = Guard(Checks(citations=False), deadline=60)
TEXTS = ["The bridge opened in 1859. It was paid by the town. It is made of granite."]
GOOD, BAD, ALSO = "It was paid by the town.", " Zanzibar paid 9 camels.", " It is made of granite."


def stream(pieces: Iterable[object], **more: Any) -> Stream:
    more.setdefault("guard", GUARD)
    return assess_stream("What is known of the bridge?", TEXTS, pieces, **more)


def text_of(found: Stream) -> str:
    return "".join(map(str, found))


class Source:
    """Gives pieces, and remembers how far it was read and whether it was closed."""

    def __init__(self, *pieces: object) -> None:
        self.pieces = list(pieces)
        self.given = 0
        self.closed = 0

    def __iter__(self) -> Iterator[object]:
        return self

    def __next__(self) -> object:
        if self.given == len(self.pieces):
            raise StopIteration
        self.given += 1
        piece = self.pieces[self.given - 1]
        if isinstance(piece, Exception):
            raise piece
        return piece

    def close(self) -> None:
        self.closed += 1


def code(why: str | None) -> str:
    return Reason.read(why or "").code


def test_what_passes_leaves_unit_by_unit_and_what_fails_does_not() -> None:
    found = stream([GOOD, BAD, ALSO, "\n"])
    assert list(found) == [GOOD, ALSO, "\n"]
    assert found.released == GOOD + ALSO + "\n"
    assert [(unit.status, unit.released) for unit in found.units] == [
        ("passed", True),
        ("failed", False),
        ("passed", True),
        ("not_applicable", True),
    ]
    assert [issue.code for issue in found.units[1].issues] == ["new_number"]
    assert found.cut is None
    assert found.assessment is not None
    assert found.assessment.ok is False
    assert found.units[1].to_dict()["claims"][0]["verdict"] == "absent"


def test_an_answer_that_passes_leaves_whole_where_all_is_held() -> None:
    found = stream([GOOD[:5], GOOD[5:], ALSO], policy="hold_all")
    assert list(found) == [GOOD + ALSO]
    assert all(unit.released for unit in found.units)
    assert found.assessment is not None
    assert found.assessment.decision == "pass"


def test_where_all_is_held_the_checks_of_the_whole_answer_hold_it_too() -> None:
    asked = Guard(Checks(citations=True), deadline=60)
    found = stream([GOOD], policy="hold_all", guard=asked, instead="No.")
    assert list(found) == ["No."]
    assert found.assessment is not None
    assert [issue.code for issue in found.assessment.issues] == ["missing_citations"]
    assert [(unit.status, unit.released) for unit in found.units] == [("passed", False)]


class AlwaysPasses:
    def decide(self, confidence: float | None) -> Any:
        assert confidence is not None
        return "pass"


class AlwaysBlocks:
    def decide(self, confidence: float | None) -> Any:
        assert confidence is not None
        return "block"


def test_where_all_is_held_a_gate_decides() -> None:
    blocked = Guard(Checks(citations=False), gate=AlwaysBlocks(), deadline=60)
    assert text_of(stream([GOOD], policy="hold_all", guard=blocked)) == ""
    unsure = Checks(citations=False, numbers=False, names=False, lists=False)
    passed = Guard(unsure, gate=AlwaysPasses(), deadline=60)
    assert text_of(stream([GOOD + BAD], policy="hold_all", guard=passed)) == GOOD + BAD
    assert text_of(stream([GOOD + 3 * BAD], policy="hold_all", guard=passed)) == GOOD + 3 * BAD
    assert text_of(stream([GOOD + 3 * BAD], guard=passed)) == GOOD + BAD


def test_everything_leaves_at_once_where_it_is_only_flagged() -> None:
    units: list[tuple[str, int]] = []
    source = Source(GOOD, BAD[:4], BAD[4:], b" \xf0\x9f", b"\x8c\x89", ALSO, b" \xf0")
    found = stream(
        source, policy="flag_after", on_unit=lambda unit: units.append((unit.status, source.given))
    )
    left = [(text, source.given) for text in found]
    assert left == [
        (GOOD, 1),
        (BAD[:4], 2),
        (BAD[4:], 3),
        (" ", 4),
        ("🌉", 5),
        (ALSO, 6),
        (" ", 7),
        ("\ufffd", 7),
    ]
    assert units == [("passed", 2), ("failed", 5), ("passed", 7), ("not_applicable", 7)]
    assert found.released == "".join(unit.text for unit in found.units)
    assert all(unit.released for unit in found.units)


@pytest.mark.parametrize("policy", ["hold_all", "hold_sentence", "flag_after"])
def test_reading_stops_at_the_first_unit_that_fails(policy: Any) -> None:
    source = Source(GOOD, BAD, " S", "o it goes on.", "for ever")
    found = stream(source, policy=policy, stop_early=True)
    left = text_of(found)
    assert (source.given, source.closed) == (3, 1)
    assert left == {"hold_all": "", "hold_sentence": GOOD, "flag_after": GOOD + BAD + " S"}[policy]
    assert "".join(unit.text for unit in found.units) == GOOD + BAD
    assert code(found.cut) == "stream_stopped"
    assert found.assessment is not None
    assert found.assessment.ok is False
    assert [code(note) for note in found.assessment.notes] == ["stream_stopped"]
    whole = GUARD.assess("What is known of the bridge?", GOOD + BAD, TEXTS)
    assert found.assessment.issues == whole.issues


def test_where_reading_stops_does_not_hang_on_the_pieces() -> None:
    answer = GOOD + BAD + ALSO + BAD
    for pieces in ([answer], list(answer)):
        found = stream(pieces, stop_early=True, instead="…")
        assert text_of(found) == GOOD + " …"
        assert [unit.text for unit in found.units] == [GOOD, BAD]


def test_an_answer_without_a_fault_is_read_to_its_end() -> None:
    source = Source(GOOD, ALSO)
    assert text_of(stream(source, stop_early=True)) == GOOD + ALSO
    assert source.closed == 0


def test_a_text_stands_in_once_for_what_is_held() -> None:
    assert list(stream([GOOD + BAD + ALSO + BAD], instead="[held]")) == [GOOD, " [held]", ALSO]
    assert list(stream([BAD], instead="[held]")) == ["[held]"]
    rows = stream(["| paid by the town |\n| Zanzibar has 9 camels |"], instead="| – |")
    assert list(rows) == ["| paid by the town |", "\n| – |"]
    assert list(stream([BAD, BAD], policy="hold_all", instead="No.")) == ["No."]
    assert stream([GOOD]).released == ""


def test_a_function_gives_what_stands_in_for_each_unit() -> None:
    asked: list[UnitVerdict] = []

    def instead(unit: UnitVerdict) -> str | None:
        asked.append(unit)
        return f"[{unit.issues[0].code}]" if len(asked) < 2 else None

    found = stream([GOOD + BAD + BAD + ALSO], instead=instead)
    assert text_of(found) == GOOD + " [new_number]" + ALSO
    assert [unit.text for unit in asked] == [BAD, BAD]
    assert [unit.instead for unit in found.units] == [None, " [new_number]", None, None]


def test_where_all_is_held_the_function_is_given_the_whole_answer() -> None:
    asked: list[UnitVerdict] = []

    def instead(unit: UnitVerdict) -> str:
        asked.append(unit)
        return "No."

    found = stream([GOOD + BAD], policy="hold_all", instead=instead)
    assert list(found) == ["No."]
    [whole] = asked
    assert (whole.kind, whole.status, whole.text) == ("answer", "failed", GOOD + BAD)
    assert found.assessment is not None
    assert whole.issues == found.assessment.issues


def test_functions_that_fail_are_logged_and_hold_nothing_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: UnitVerdict) -> str:
        raise ValueError("secret")

    assert text_of(stream([GOOD + BAD + ALSO], instead=broken, on_unit=broken)) == GOOD + ALSO
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


class Slow(Guard):
    """A guard for which time is always up."""

    def answered(self, *given: Any, **more: Any) -> Any:
        one = super().answered(*given, **more)
        one.deadline._end = 0.0
        return one


@pytest.mark.parametrize(
    ("policy", "what", "left"),
    [
        ("hold_sentence", "hold", "# A bridge"),
        ("hold_sentence", "release", "# A bridge\n" + GOOD),
        ("hold_all", "hold", ""),
        ("hold_all", "release", "# A bridge\n" + GOOD),
        ("flag_after", "hold", "# A bridge\n" + GOOD),
    ],
)
def test_what_cannot_be_judged_in_time_is_held_or_released_as_was_said(
    policy: Any, what: Any, left: str
) -> None:
    slow = Slow(Checks(citations=False), deadline=60)
    found = stream(["# A bridge\n", GOOD], policy=policy, if_not_judged=what, guard=slow)
    assert text_of(found) == left
    unit = found.units[1]
    assert unit.status == "not_judged"
    assert code(unit.reason) == "sentences_not_judged_in_time"
    assert unit.late is False
    assert unit.released is (left != "" and left != "# A bridge")
    assert found.assessment is not None
    assert found.assessment.ok is None


def test_a_sentence_that_is_too_long_is_not_judged_and_held() -> None:
    long = " It is made of granite" * (LONGEST_SENTENCE // 20) + "."
    found = stream([GOOD + long + ALSO])
    assert list(found) == [GOOD, ALSO]
    assert found.units[1].status == "not_judged"
    assert list(stream([GOOD + long], if_not_judged="release")) == [GOOD, long]


def test_a_guard_that_breaks_leaves_the_unit_not_judged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Guard):
        def ground(self, one: Any) -> Any:  # noqa: ARG002
            raise KeyError("secret")

    found = stream([GOOD, ALSO], guard=Broken(Checks(citations=False)))
    assert text_of(found) == ""
    assert [code(unit.reason) for unit in found.units] == ["guard_failed", "guard_failed"]
    assert "secret" not in caplog.text


def test_a_guard_that_breaks_at_the_end_gives_an_assessment_all_the_same() -> None:
    class Broken(Guard):
        def conclude(self, *given: Any) -> Any:
            raise KeyError(*given)

    found = stream([GOOD], guard=Broken(Checks(citations=False), deadline=60))
    assert list(found) == [GOOD]
    assert found.assessment is not None
    assert [code(check.reason) for check in found.assessment.checks] == ["guard_failed"]


def test_contexts_that_break_are_not_judged_by() -> None:
    class Broken(Guard):
        def read(self, contexts: object) -> ReadContexts:  # noqa: ARG002
            raise KeyError("secret")

    found = stream(["# A bridge\n", GOOD], guard=Broken(Checks(citations=False)))
    assert text_of(found) == "# A bridge"
    assert found.units[1].status == "not_judged"


def test_what_the_source_raises_comes_after_what_may_leave() -> None:
    fault = RuntimeError("gone")
    source = Source(GOOD, BAD, ALSO, " The bridge opened", fault)
    found = stream(source, instead="[held]")
    left: list[object] = []
    with pytest.raises(RuntimeError) as raised:
        left.extend(found)
    assert raised.value is fault
    assert left == [GOOD, " [held]", ALSO]
    assert [(unit.status, code(unit.reason)) for unit in found.units][-1] == (
        "not_judged",
        "unit_cut",
    )
    assert source.closed == 1
    assert code(found.cut) == "stream_failed"
    assert found.assessment is not None
    assert found.assessment.notes == (found.cut,)
    assert "gone" not in str(found.assessment.to_dict())


def test_what_was_cut_off_is_released_where_that_was_said() -> None:
    found = stream(Source(GOOD, " The bri", RuntimeError()), if_not_judged="release")
    with pytest.raises(RuntimeError):
        list(found)
    assert found.released == GOOD + " The bri"


def test_where_all_is_held_an_answer_that_broke_off_does_not_leave() -> None:
    found = stream(Source(GOOD, "\n\n", RuntimeError()), policy="hold_all")
    with pytest.raises(RuntimeError):
        list(found)
    assert found.released == ""
    assert [unit.status for unit in found.units] == ["passed", "not_applicable"]


def test_a_source_that_cannot_be_read_raises_and_is_assessed_as_empty() -> None:
    found = stream(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        list(found)
    assert found.assessment is not None
    assert [issue.code for issue in found.assessment.issues] == ["empty_answer"]


def test_whoever_stops_reading_closes_the_source() -> None:
    source = Source(GOOD + BAD + " It", " is made", " of granite. And so on")
    found = stream(source)
    for _ in found:
        break
    gc.collect()
    assert (source.given, source.closed) == (1, 1)
    assert found.released == GOOD
    assert "".join(unit.text for unit in found.units) == GOOD + BAD + " It"
    assert [(unit.status, unit.released) for unit in found.units] == [
        ("passed", True),
        ("not_judged", False),
    ]
    assert code(found.cut) == "stream_left"
    assert found.assessment is not None
    assert found.assessment.ok is None


def test_a_stream_that_is_closed_before_it_is_read_closes_the_source() -> None:
    source = Source(GOOD)
    with stream(source) as found:
        pass
    assert (source.given, source.closed) == (0, 1)
    assert list(found) == []
    assert found.assessment is not None
    assert [issue.code for issue in found.assessment.issues] == ["empty_answer"]


def test_closing_a_stream_in_the_middle_closes_the_source_once() -> None:
    source = Source(GOOD, ALSO, ALSO)
    found = stream(source)
    reading = iter(found)
    assert next(reading) == GOOD
    found.close()
    found.close()
    assert source.closed == 1
    assert list(reading) == []
    assert code(found.cut) == "stream_left"


def test_a_stream_is_read_once() -> None:
    found = stream([GOOD])
    assert list(found) == [GOOD]
    assert list(found) == []
    found.close()
    assert found.cut is None


def test_a_bare_yes_shares_the_fate_of_the_claim_that_follows() -> None:
    assert list(stream(["Yes.", BAD, ALSO])) == [ALSO]
    assert list(stream(["Yes. ", GOOD, " Yes.", BAD])) == ["Yes. " + GOOD, " Yes."]
    assert list(stream(["Yes. ", "No."])) == []
    assert [unit.status for unit in stream_units("Yes. No.")] == ["failed"]
    assert list(stream(["Of course! ", GOOD])) == ["Of course!", " " + GOOD]


def stream_units(text: str) -> tuple[UnitVerdict, ...]:
    found = stream([text])
    list(found)
    return found.units


def test_many_bare_sentences_take_linear_time() -> None:
    found = stream(["Yes. " * 4_000])
    assert list(found) == []
    assert len(found.units[0].text) == 20_000


def test_one_event_is_told_of_a_stream() -> None:
    told: list[Mapping[str, Any]] = []
    guard = Guard(Checks(citations=False), listener=told.append, deadline=60)
    text_of(stream([GOOD, BAD, ALSO], guard=guard, run_id="r-1"))
    [event] = told
    assert (event["run_id"], event["ok"], event["n_claims"]) == ("r-1", False, 3)


def test_the_settings_are_those_of_assess() -> None:
    found = assess_stream("What?", TEXTS, [BAD], checks=Checks(least_support=None, numbers=False))
    assert list(found) == [BAD]
    found = assess_stream("What?", TEXTS, [GOOD], policy="hold_all", retrieval_scores=[0.1])
    assert list(found) == []
    assert found.assessment is not None
    assert [issue.code for issue in found.assessment.issues] == ["low_retrieval_score"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"policy": "hold"}, "policy is 'hold'; it is one of hold_all, hold_sentence, flag_after"),
        ({"if_not_judged": "open"}, "if_not_judged is 'open'; it is one of hold, release"),
        ({"instead": 7}, "instead is 7; it is a text, a function or None"),
        ({"policy": "flag_after", "instead": "No."}, "holds nothing back"),
        ({"deadline": 0}, "deadline is 0"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_at_once(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        assess_stream("What?", TEXTS, [GOOD], **settings)


def test_each_reason_is_said_in_words() -> None:
    found = stream(Source("It", RuntimeError()))
    with pytest.raises(RuntimeError):
        list(found)
    assert ragstone.explain(found.cut or "") == (
        "the stream broke off (RuntimeError); what was read of it is assessed"
    )
    assert ragstone.explain(found.units[0].reason) == (
        "the stream ended before this part was complete"
    )


# What is in a piece


@dataclass
class Delta:
    content: str | None = None
    tool_calls: list[str] | None = None
    reasoning_content: str | None = None


@pytest.mark.parametrize(
    ("piece", "parts"),
    [
        ("text", ["text"]),
        (b"bytes", [b"bytes"]),
        (bytearray(b"bytes"), [b"bytes"]),
        (None, []),
        (NotJudged("reasoning", 1), [NotJudged("reasoning", 1)]),
        ({"type": "tool_call", "text": "x"}, ["tool_call"]),
        ({"type": "function_call_arguments.delta"}, ["tool_call"]),
        ({"type": "thinking_delta", "text": "x"}, ["reasoning"]),
        ({"kind": "reasoning"}, ["reasoning"]),
        ({"type": "text_delta", "text": "x"}, ["x"]),
        ({"role": "assistant", "content": ""}, []),
        ({"role": "assistant"}, []),
        ({}, []),
        ({"content": None, "tool_calls": [1]}, ["tool_call"]),
        (
            {"content": "x", "tool_calls": [1], "reasoning_content": "y"},
            ["reasoning", "x", "tool_call"],
        ),
        (Delta("x"), ["x"]),
        (Delta(None, ["f"]), ["tool_call"]),
        (Delta(reasoning_content="y"), ["reasoning"]),
        (SimpleNamespace(type="tool_use"), ["tool_call"]),
    ],
)
def test_pieces_are_text_or_pass_as_they_are(piece: object, parts: list[object]) -> None:
    found = [one.kind if isinstance(one, NotJudged) else one for one in parts_of(piece)]
    expected = [one.kind if isinstance(one, NotJudged) else one for one in parts]
    assert found == expected


def test_text_of_the_answer_does_not_leave_with_what_is_not_judged() -> None:
    piece = {"content": BAD, "tool_calls": ["f"], "reasoning_content": "hm"}
    assert list(stream([piece])) == [NotJudged("reasoning", "hm"), NotJudged("tool_call", ["f"])]
    assert list(stream([{"type": "tool_use", "name": "f"}])) == [
        NotJudged("tool_call", {"type": "tool_use", "name": "f"})
    ]


@pytest.mark.parametrize("piece", [7, {"message": "x"}, {"content": ["x"]}, object(), ["x"]])
def test_pieces_in_which_no_text_is_known_are_refused_and_do_not_leave(piece: object) -> None:
    source = Source(GOOD, piece, ALSO)
    found = stream(source, policy="flag_after")
    left: list[object] = []
    with pytest.raises(InputError, match="NotJudged"):
        left.extend(found)
    assert left == [GOOD]
    assert source.closed == 1


def test_what_a_stream_tells_can_only_be_read() -> None:
    told = {"assessment", "cut", "released", "units"}
    reads = {
        Stream: told | {"close"},
        AsyncStream: told | {"aclose"},
        PushedStream: told | {"stopped", "feed", "close"},
    }
    streams = (
        stream([GOOD]),
        over(AsyncSource(GOOD)),
        pushed_stream(GUARD, ReleasePolicy(), "Of what?", TEXTS),
    )
    for found in streams:
        assert {name for name in dir(found) if not name.startswith("_")} == reads[type(found)]
        for name in told:
            with pytest.raises(AttributeError):
                setattr(found, name, None)


# Over asynchronous sources


class AsyncSource:
    def __init__(self, *pieces: object) -> None:
        self.inner = Source(*pieces)
        self.closed = 0

    def __aiter__(self) -> AsyncIterator[object]:
        return self

    async def __anext__(self) -> object:
        await asyncio.sleep(0)
        try:
            return next(self.inner)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


def over(source: Any, **more: Any) -> Any:
    return aassess_stream("What is known of the bridge?", TEXTS, source, guard=GUARD, **more)


def test_an_asynchronous_source_gives_the_same() -> None:
    async def all_of() -> None:
        for policy in ("hold_all", "hold_sentence", "flag_after"):
            pieces = [GOOD[:3], GOOD[3:], {"type": "tool_call"}, BAD, ALSO]
            found = over(AsyncSource(*pieces), policy=policy)
            left = [one async for one in found]
            same = stream(pieces, policy=policy)
            assert left == list(same)
            assert (found.units, found.assessment) == (same.units, same.assessment)
            assert [one async for one in found] == []

    asyncio.run(all_of())


def test_an_asynchronous_source_that_fails_raises_after_what_may_leave() -> None:
    async def fails() -> None:
        source = AsyncSource(GOOD, " The", RuntimeError("gone"))
        found = over(source)
        left: list[object] = []

        async def read() -> None:
            async for one in found:
                left.append(one)

        with pytest.raises(RuntimeError, match="gone"):
            await read()
        assert left == [GOOD]
        assert source.closed == 1
        assert code(found.cut) == "stream_failed"
        assert found.assessment is not None

    asyncio.run(fails())


def test_leaving_an_asynchronous_stream_closes_the_source() -> None:
    async def leaves() -> None:
        source = AsyncSource(GOOD + BAD + ALSO, ALSO, ALSO)
        async with over(source) as found:
            async for _ in found:
                break
        assert (source.inner.given, source.closed) == (1, 1)
        assert code(found.cut) == "stream_left"
        assert "".join(unit.text for unit in found.units) == GOOD + BAD + ALSO
        unread = AsyncSource(GOOD)
        async with over(unread) as found:
            pass
        assert (unread.inner.given, unread.closed) == (0, 1)

    asyncio.run(leaves())


def test_an_asynchronous_stream_stops_early_and_closes_the_source() -> None:
    async def stops() -> None:
        source = AsyncSource(GOOD, BAD, ALSO, ALSO, ALSO)
        assert [one async for one in over(source, stop_early=True, instead="…")] == [GOOD, " …"]
        assert (source.inner.given, source.closed) == (3, 1)

    asyncio.run(stops())


def test_a_cancelled_stream_closes_the_source() -> None:
    async def cancelled() -> None:
        source, came = AsyncSource(GOOD, " The"), asyncio.Event()

        async def waits() -> None:
            async for _ in found:
                came.set()
                await asyncio.sleep(60)

        found = over(source)
        task = asyncio.create_task(waits())
        await asyncio.wait_for(came.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await found.aclose()
        assert source.closed == 1
        assert code(found.cut) == "stream_left"

    asyncio.run(cancelled())


# Pushed


def test_pushed_pieces_leave_as_they_are_judged() -> None:
    pushed = pushed_stream(GUARD, ReleasePolicy(instead="…"), "What?", TEXTS)
    assert pushed.feed(GOOD) == []
    assert pushed.feed(BAD) == [GOOD]
    assert pushed.feed({"type": "tool_call"}) == [NotJudged("tool_call", {"type": "tool_call"})]
    assert pushed.feed(" So") == [" …"]
    assert pushed.stopped is False
    assert pushed.close() == [" So"]
    assert pushed.stopped is True
    assert pushed.close() == pushed.feed(GOOD) == []
    assert pushed.assessment is not None


def test_a_pushed_stream_stops_early() -> None:
    pushed = pushed_stream(GUARD, ReleasePolicy(stop_early=True), "What?", TEXTS)
    assert pushed.feed(GOOD + BAD + ALSO) == [GOOD]
    assert pushed.stopped is True
    assert pushed.feed(GOOD) == []


def test_a_pushed_stream_whose_source_failed_is_marked_as_cut() -> None:
    pushed = pushed_stream(GUARD, ReleasePolicy(), "What?", TEXTS)
    assert pushed.feed(GOOD + " The") == [GOOD]
    assert pushed.close(RuntimeError("gone")) == []
    assert code(pushed.cut) == "stream_failed"
    assert pushed.assessment is not None
    with pytest.raises(InputError):
        pushed_stream(GUARD, ReleasePolicy(), "What?", TEXTS).feed(7)


def test_a_judge_that_is_late_is_told_with_the_unit() -> None:
    class Late(Guard):
        def ground(self, one: Any) -> Any:
            from dataclasses import replace

            return replace(super().ground(one), late="judge_too_late?judge=nli:x")

    found = stream([GOOD], guard=Late(Checks(citations=False), deadline=60))
    assert list(found) == [GOOD]
    assert found.units[0].late is True
    assert found.assessment is not None
    assert found.assessment.late is True


THOUGHT = "\n<think>\nPerhaps Zanzibar paid 9 camels.\n</think>\n\n"


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("policy", ["hold_all", "hold_sentence", "flag_after"])
def test_thoughts_do_not_leave_and_are_noted(size: int, policy: str) -> None:
    text = THOUGHT + GOOD
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    found = stream(pieces, policy=policy)
    assert "".join(map(str, found)).strip() == GOOD
    assert found.assessment is not None
    assert found.assessment.ok
    assert found.assessment.notes == ("thoughts_taken_off",)
    whole = GUARD.assess("What?", text, TEXTS)
    assert (whole.ok, whole.notes) == (True, ("thoughts_taken_off",))


@pytest.mark.parametrize("policy", ["hold_all", "hold_sentence"])
def test_thoughts_without_an_opening_tag_are_judged_unless_the_reader_gives_it(policy: str) -> None:
    text = THOUGHT.replace("<think>", "") + GOOD
    found = stream([text], policy=policy)
    assert "Zanzibar" not in "".join(map(str, found))
    assert found.assessment is not None
    assert found.assessment.ok is False
    told = stream(["<think>", text], policy=policy)
    assert "".join(map(str, told)).strip() == GOOD
    assert told.assessment is not None
    assert (told.assessment.ok, told.assessment.notes) == (True, ("thoughts_taken_off",))


def test_thoughts_can_be_judged_with_the_answer() -> None:
    keeping = Guard(Checks(citations=False, keep_thoughts=True))
    found = stream([THOUGHT + GOOD], guard=keeping, policy="flag_after")
    assert "".join(map(str, found)) == THOUGHT + GOOD
    assert found.assessment is not None
    assert (found.assessment.ok, found.assessment.notes) == (False, ())


def test_a_stream_that_ends_in_its_thoughts_has_no_answer() -> None:
    found = stream(["<think>Perhaps Zanz", "ibar paid."])
    assert list(found) == []
    assert found.assessment is not None
    assert found.assessment.ok is False


def test_spans_count_from_the_beginning_of_what_was_given() -> None:
    text = THOUGHT + BAD
    found = GUARD.assess("What?", text, TEXTS)
    spans = [span for issue in found.issues for span in issue.spans]
    assert spans
    assert all(text[span.start : span.end] == span.text for span in spans)


def test_the_scores_of_contexts_are_looked_at_once_for_the_whole() -> None:
    judge = UnitJudge(GUARD, "What?", [{"text": TEXTS[0], "score": 0.1}])
    judge.read()
    found = judge.conclude(GOOD)
    assert [issue.code for issue in found.issues] == ["low_retrieval_score"]


def test_a_heading_with_a_new_number_is_held() -> None:
    stream = assess_stream("How?", ["The pier is 90 metres long."], ["# 5 piers\n# 90 metres\n"])
    list(stream)
    assert [unit.released for unit in stream.units if unit.kind == "sentence"] == [False, True]
