"""Several replies to one question, made into one outcome."""

import pytest

from ragstone.core.messages import Reason, reason
from ragstone.judges.llm.questions import Item
from ragstone.judges.llm.replies import Outcome
from ragstone.run.calls.asker import Remembered, completed, halves, in_vain, rejoined

P1, P2, P3 = Item(), Item(), Item()


def lacks(text: str) -> dict[str, str]:
    return dict(Reason.read(text).facts)


def first(**lacking: str) -> Outcome:
    return Outcome("ok", {"p1": P1}, lacking, None, ("r1",))


def test_a_reply_is_completed_by_what_a_second_one_holds() -> None:
    rest = Outcome("ok", {"p2": P2}, {}, None, ("r2",))
    found = completed(first(p2="not_in_reply"), rest, sent=True)
    assert (found.status, found.lacking, found.requests) == ("ok", {}, ("r1", "r2"))
    assert found.items == {"p1": P1, "p2": P2}


def test_what_the_second_reply_lacks_too_has_its_reason() -> None:
    rest = Outcome("ok", {"p2": P2}, {"p3": "not_in_reply?said=no+verdict"}, None, ("r2",))
    found = completed(first(p2="not_in_reply", p3="not_in_reply"), rest, sent=True)
    assert found.lacking == {"p3": "not_in_reply?said=no+verdict"}


@pytest.mark.parametrize(("sent", "fact"), [(True, "alone"), (False, "not_alone")])
def test_why_nothing_came_of_asking_alone_is_a_fact_of_what_is_lacking(
    sent: bool, fact: str
) -> None:
    """The reason of the second question without its model, which stands before the first."""
    rest = Outcome("failed", {}, {}, reason("timeout", of="m", said="late"))
    found = completed(first(p2=reason("not_in_reply", of="m")), rest, sent=sent)
    assert found.lacking.keys() == {"p2"}
    assert Reason.read(found.lacking["p2"]).of == "m"
    assert lacks(found.lacking["p2"]) == {fact: "timeout?said=late"}
    assert found.status == "ok", "what came the first time stays"


def test_what_is_asked_for_in_vain_says_that_all_tries_were_made() -> None:
    found = in_vain(first(p2=reason("not_in_reply", of="m", said="none")))
    assert lacks(found.lacking["p2"]) == {"said": "none", "tries": "all"}
    assert found.items == {"p1": P1}


@pytest.mark.parametrize(
    ("names", "parts"),
    [(["a", "b"], (["a"], ["b"])), (["a", "b", "c"], (["a"], ["b", "c"])),
     (["a", "b", "c", "d"], (["a", "b"], ["c", "d"]))],
)  # fmt: skip
def test_a_question_is_cut_in_two_of_which_none_is_empty(
    names: list[str], parts: tuple[list[str], list[str]]
) -> None:
    assert halves(names) == parts


def test_parts_of_a_question_are_joined_with_all_their_requests() -> None:
    found = rejoined(
        {
            ("p1",): Outcome("ok", {"p1": P1}, {}, None, ("r1",)),
            ("p2", "p3"): Outcome("ok", {"p3": P3}, {"p2": "not_in_reply?said=x"}, None, ("r2",)),
            ("p4",): Outcome("failed", {}, {}, "m: timeout", ("r3",)),
        },
        "r0",
    )
    assert (found.status, found.requests) == ("ok", ("r0", "r1", "r2", "r3"))
    assert found.items == {"p1": P1, "p3": P3}
    assert found.lacking == {"p2": "not_in_reply?said=x", "p4": "m: timeout"}


def test_where_no_part_holds_anything_the_first_failure_is_that_of_all() -> None:
    found = rejoined(
        {
            ("p1",): Outcome("blocked", {}, {}, "m: budget", ("r1",)),
            ("p2",): Outcome("failed", {}, {}, "m: timeout", ("r2",)),
        },
        "r0",
    )
    assert (found.status, found.reason) == ("blocked", "m: budget")
    assert found.requests == ("r0", "r1", "r2")


def test_the_last_outcomes_that_were_used_are_remembered() -> None:
    kept = Remembered(2)
    for name in "ab":
        kept.put(name, Outcome("ok", requests=(name,)))
    assert kept.get("a") is not None, "and so is used last"
    kept.put("c", Outcome("ok"))
    assert [name for name in "abc" if kept.get(name) is not None] == ["a", "c"]
    kept.put("a", Outcome("failed"))
    assert len(kept) == 2
    again = kept.get("a")
    assert again is not None
    assert again.status == "failed"
