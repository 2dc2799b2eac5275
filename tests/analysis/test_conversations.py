"""Figures of whole conversations, by hand from scores that are known without a judge."""

import json
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.analysis import Conversations, conversations
from ragstone.analysis.summaries.run_summary import summarise
from ragstone.analysis.summaries.session_figures import ConversationFigure
from ragstone.core.errors import InputError, UnknownName
from ragstone.report.notebook import page_of
from ragstone.report.page import plain
from ragstone.report.pages.conversations_page import conversations_page, sentence
from ragstone.report.pages.full_run_page import full_page
from ragstone.report.pages.runs_page import run_page
from ragstone.report.render.terminal import as_text
from ragstone.run import Run
from ragstone.stats import wilson

RIGHT, WRONG = "90 m", "4 m"


def turn(
    session: str | None, answer: str | None, said: str | None = "answer", **more: Any
) -> dict[str, Any]:
    """A turn whose exact match is 1 if the answer is right, and whose response type is labelled."""
    return {
        "question": f"How long is it? {more.pop('number', '')}",
        "session_id": session,
        "answer": answer,
        "reference": RIGHT,
        "labels": {"answer": {"response_type": said}} if said else {},
        **more,
    }


def run_of(rows: list[dict[str, Any]], **how: Any) -> Run:
    numbered = [{"id": f"e{place}", **row} for place, row in enumerate(rows)]
    for place, row in enumerate(numbered):
        row["question"] += str(place)
    return ragstone.evaluate(
        numbered, metrics=["exact_match", "abstention"], judge=["human", "rules"], **how
    )


def figures(found: Conversations, *names: str, system: str | None = None) -> list[Any]:
    got = [found.of(name, None if name == "resolved" else "exact_match", system) for name in names]  # type: ignore[arg-type]
    return [(one.value, one.n, one.n_undefined, one.n_missing) for one in got]


@pytest.fixture(scope="module")
def three() -> Conversations:
    """a: right, wrong, right. b: right, right, and abstains at the end. c: a single turn."""
    rows = [
        turn("a", RIGHT), turn("b", RIGHT), turn("a", WRONG), turn("c", WRONG),
        turn("b", RIGHT), turn("a", RIGHT), turn("b", "I do not know.", "abstain"),
        turn(None, WRONG),
    ]  # fmt: skip
    return conversations(run_of(rows))


def test_each_conversation_counts_once_and_a_single_turn_is_none(three: Conversations) -> None:
    [counts] = three.counts
    assert (counts.n, counts.single, counts.shortest, counts.longest) == (2, 1, 3, 3)
    # The worst turns are 0 and 0, the means 2/3 and 2/3; a was resolved, b was not.
    assert figures(three, "worst_turn", "mean_of_turns", "resolved") == [
        (0, 2, 1, 0), (pytest.approx(2 / 3), 2, 1, 0), (0.5, 2, 1, 0),
    ]  # fmt: skip


def test_a_share_has_wilsons_interval(three: Conversations) -> None:
    by_hand = wilson(1, 2)
    assert by_hand is not None
    found = three.of("resolved")
    assert (found.low, found.high, found.method) == (by_hand.low, by_hand.high, "wilson")


def test_the_worst_turn_is_named(three: Conversations) -> None:
    rows = three.worst("exact_match").rows(named=True)
    assert [(row["session"], row["at exact_match"], row["last"]) for row in rows] == [
        ("a", "e2", "e5"),
        ("b", "e6", "e6"),
    ]


def test_a_bar_asks_more_of_the_last_turn() -> None:
    rows = [turn("a", WRONG), turn("a", RIGHT), turn("b", RIGHT), turn("b", WRONG)]
    run = run_of(rows)
    assert conversations(run).of("resolved").value == 1
    strict = conversations(run, metrics="exact_match", bar=1)
    assert strict.of("resolved", "exact_match").value == 0.5
    assert strict.of("resolved").value == 1
    with pytest.raises(InputError, match="Name the metric"):
        conversations(run, bar=0.5)


@pytest.mark.parametrize("said", ["refuse", "clarify", "abstain"])
def test_a_last_turn_that_gives_no_answer_is_not_resolved(said: str) -> None:
    found = conversations(run_of([turn("a", RIGHT), turn("a", "Which one?", said)]))
    assert found.of("resolved").value == 0
    part = conversations(run_of([turn("a", RIGHT), turn("a", "90 m, perhaps", "partial")]))
    assert part.of("resolved").value == 1


def test_a_last_turn_that_nobody_judged_is_missing_and_bounded() -> None:
    rows = [turn("a", RIGHT), turn("a", RIGHT, None), turn("b", RIGHT), turn("b", RIGHT)]
    found = conversations(run_of(rows)).of("resolved")
    assert (found.value, found.n, found.n_missing) == (1, 1, 1)
    assert (found.worst, found.best) == (0.5, 1)


def test_a_last_turn_without_an_answer_is_undefined() -> None:
    rows = [turn("a", RIGHT), turn("a", None, None), turn("b", RIGHT), turn("b", RIGHT)]
    assert figures(conversations(run_of(rows)), "resolved") == [(1, 1, 1, 0)]


def test_where_nothing_tells_what_is_answered_the_reason_stands_in_its_place() -> None:
    rows = [turn("a", RIGHT, None), turn("a", RIGHT, None)]
    run = ragstone.evaluate(rows, metrics=["exact_match"], judge="rules")
    found = conversations(run)
    assert found.unresolved.startswith("not_judged")
    assert {one.figure for one in found.figures} == {"worst_turn", "mean_of_turns"}
    assert "Resolved:" in as_text(conversations_page(found), 100)


def test_systems_have_their_own_conversations_of_one_session() -> None:
    rows = [turn("a", RIGHT, system="one"), turn("a", WRONG, system="one"),
            turn("a", RIGHT, system="two"), turn("a", RIGHT, system="two")]  # fmt: skip
    found = conversations(run_of(rows))
    assert [one.n for one in found.counts] == [1, 1]
    assert figures(found, "worst_turn", system="one") == [(0, 1, 0, 0)]
    assert figures(found, "worst_turn", system="two") == [(1, 1, 0, 0)]
    with pytest.raises(InputError, match="2 figures are the worst_turn"):
        found.of("worst_turn", "exact_match")


def test_turns_stand_by_their_number_else_by_the_length_of_the_history() -> None:
    said = [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hello."}]
    abstains = turn("a", "I do not know.", "abstain")
    answers = turn("a", RIGHT)
    by_history = run_of([{**abstains, "history": said}, answers])
    assert conversations(by_history).of("resolved").value == 0
    by_number = run_of([{**abstains, "turn": 2}, {**answers, "meta": {"turn": 10}}])
    assert conversations(by_number).of("resolved").value == 1
    in_order = run_of([abstains, answers])
    assert conversations(in_order).of("resolved").value == 1


def test_the_run_tells_of_its_conversations(three: Conversations) -> None:
    run = run_of([turn("a", RIGHT), turn("a", WRONG), turn("b", RIGHT), turn("b", RIGHT)])
    summary = summarise(run)
    assert summary.conversations
    assert sentence(summary.conversations) == "2 conversations of 2 turns. Resolved: 100%."
    page = run_page(run, summary)
    assert "2 conversations of 2 turns." in as_text(page, 100)
    [record] = [one for one in page.record()["conversations"]["figures"]  # type: ignore[call-overload]
                if (one["figure"], one["metric"]) == ("worst_turn", "exact_match")]  # fmt: skip
    assert (record["value"], record["n"]) == (0.5, 2)
    assert "worst turn" in as_text(full_page(run, summary=summary), 100)
    assert "Conversations" in [plain(one.title) for one in page_of(three).sections]


def test_data_without_sessions_have_none_and_the_page_says_how_to_name_them() -> None:
    run = run_of([turn(None, RIGHT), turn(None, WRONG)])
    found = conversations(run)
    assert not found
    assert found.to_dict()["figures"] == []
    assert "No example names its session." in as_text(conversations_page(found), 100)
    assert summarise(run).conversations is None
    single = conversations(run_of([turn("a", RIGHT), turn("b", WRONG)]))
    assert not single
    assert "2 sessions of a single turn" in as_text(conversations_page(single), 100)


def test_an_unknown_metric_is_refused(three: Conversations) -> None:
    with pytest.raises(UnknownName):
        conversations(run_of([turn("a", RIGHT), turn("a", RIGHT)]), metrics="nothing")
    with pytest.raises(InputError, match="no worst turn"):
        three.worst("abstention")
    assert isinstance(three.of("mean_of_turns", "abstention"), ConversationFigure)


def test_people_rated_the_worst_turns_of_mtrag_as_counted_by_hand(
    shared: Path, tmp_path: Path
) -> None:
    """The median of the annotators' faithfulness as a score: the figures against plain Python."""
    import gzip

    file = shared / "data" / "rag_quality_mtrag" / "answers.jsonl.gz"
    ratings: dict[tuple[str, str], list[float]] = {}
    rows = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            meta = record["meta"]
            session = meta["task_id"].partition("<::>")[0]
            right = record["labels"]["faithfulness_median"] >= 3
            ratings.setdefault((meta["system"], session), []).append(float(right))
            rows.append({
                "id": record["id"], "system": meta["system"], "conversation_id": session,
                "turn": meta["turn"], "question": record["question"], "history": meta["history"],
                "answer": RIGHT if right else WRONG, "reference": RIGHT,
            })  # fmt: skip
    run = ragstone.evaluate(rows, metrics=["exact_match"], judge="rules", out=tmp_path / "run")
    assert run.form.cluster == "session"
    found = conversations(run)
    for system in ("reference", "gpt-4o", "llama-3.1-405b-instruct"):
        own = [given for (name, _), given in ratings.items() if name == system]
        assert len(own) == 11
        worst = found.of("worst_turn", "exact_match", system)
        assert worst.value == pytest.approx(sum(map(min, own)) / 11)
        mean = found.of("mean_of_turns", "exact_match", system)
        assert mean.value == pytest.approx(sum(sum(one) / len(one) for one in own) / 11)
