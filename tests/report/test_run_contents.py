"""Run contents: the dossier of an example, and the calls to models in it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from ragstone.core.errors import UnknownName
from ragstone.data import Context, Example, Turn, to_frame
from ragstone.judgements import KINDS
from ragstone.models.chat import Usage
from ragstone.report.page import OutlineItem, Phrase, plain
from ragstone.report.run_contents import call_items, cost, dossier, dossiers, tokens, took
from ragstone.run import Entry
from ragstone.run.calls.journal_reader import Attempt, Totals

Rows = Sequence[Mapping[str, Any]]

PIER = Example(
    "pier", "q1", "a", question="How long?", answer="It is 90 m. It is red.",
    history=(Turn("user", "Hello."),), policy="be kind",
    contexts=(Context("c1", "The pier is 90 m long.", 1), Context("c2", None, 2)),
    reference=("90 m", "Ninety metres"), evidence=("It is 90 m long.",),
    reference_contexts={"c1": 2}, slices={"topic": "sea"}, labels={"helpful": 1},
    meta={"year": 1850},
)  # fmt: skip
MINE = Example("mine", "q2", "a", question="Why?", contexts=None)


class Tables:
    """A run of two examples; all rows are the pier's unless they say otherwise."""

    def __init__(self, scores: Rows = (), **judged: Rows) -> None:
        self.given = judged
        self.read: list[str] = []
        self.scored = [{"example_id": "pier", "status": "value", **one} for one in scores]

    def excerpt(self, examples: Collection[str], /) -> "Tables":  # noqa: ARG002
        return self

    def examples(self, columns: Sequence[str] | None = None, /) -> pl.DataFrame:
        self.read.append("examples")
        found = to_frame([PIER, MINE])
        return found if columns is None else found.select(columns)

    def scores(self) -> pl.DataFrame:
        self.read.append("scores")
        names = ("example_id", "metric", "status", "label", "reason")
        return pl.DataFrame(self.scored, schema={**dict.fromkeys(names, pl.String),
                                                 "value": pl.Float64})  # fmt: skip

    def judgements(self, kind: str, /) -> pl.DataFrame:
        self.read.append(kind)
        rows = [{"example_id": "pier", "subject": "s", "judge": "m", **one}
                for one in self.given.get(kind, ())]  # fmt: skip
        return pl.DataFrame(rows, schema={"example_id": pl.String, **KINDS[kind].schema()})

    def calls(self, example: str, /) -> Sequence[Entry]:  # noqa: ARG002
        return ()


def tables_of(**tables: Any) -> Any:
    return Tables(**tables)


CLAIMS: Rows = ({"index": 0, "text": "It is 90 m."}, {"index": 1, "text": "It is red."})


def record(**tables: Any) -> dict[str, Any]:
    return dossier(tables_of(**tables), "pier").to_dict()


def test_an_example_stands_as_it_was_given() -> None:
    found = record()
    assert (found["id"], found["question_id"], found["system"]) == ("pier", "q1", "a")
    assert found["history"] == [{"role": "user", "text": "Hello."}]
    assert (found["policy"], found["reference"]) == ("be kind", ["90 m", "Ninety metres"])
    assert found["reference_contexts"] == [{"id": "c1", "grade": 2}]
    assert (found["slices"], found["labels"], found["meta"]) == (
        {"topic": "sea"}, {"helpful": 1}, {"year": 1850},
    )  # fmt: skip
    assert [(one["id"], one["rank"], one["text"]) for one in found["contexts"]] == [
        ("c1", 1, "The pier is 90 m long."), ("c2", 2, None),
    ]  # fmt: skip


def test_no_retrieval_is_not_an_empty_one() -> None:
    found = dossier(tables_of(), "mine").to_dict()
    assert found["contexts"] is None
    assert found["reference_contexts"] is None
    assert (found["claims"], found["gold_evidence"], found["judgements"]) == ([], [], {})


def test_a_claim_has_the_support_of_its_index_and_none_of_a_statement_or_evidence() -> None:
    support = [
        {"origin": "claim", "author": "m", "index": 1, "verdict": "absent"},
        {"origin": "statement", "author": "m", "index": 0, "verdict": "contradicted"},
        {"origin": "evidence", "author": "data", "index": 0, "verdict": "supported"},
    ]
    found = record(claims=CLAIMS, support=support)
    verdicts = [one["support"] and one["support"]["verdict"] for one in found["claims"]]
    assert verdicts == [None, "absent"]
    assert [one["support"]["verdict"] for one in found["gold_evidence"]] == ["supported"]


def test_a_claim_is_held_against_every_reference() -> None:
    agreement = [
        {"origin": "claim", "author": "m", "index": 0, "reference": at, "verdict": verdict}
        for at, verdict in enumerate(("matches", "contradicts"))
    ]
    first, second = record(claims=CLAIMS, agreement=agreement)["claims"]
    assert [one["verdict"] for one in first["agreement"]] == ["matches", "contradicts"]
    assert second["agreement"] == []


def test_a_context_has_what_was_said_of_its_rank() -> None:
    relevance = [{"rank": 2, "relevant": False, "reason": "of gulls"}]
    first, second = record(relevance=relevance)["contexts"]
    assert first["relevance"] is None
    assert (second["relevance"]["relevant"], second["relevance"]["reason"]) == (False, "of gulls")


def test_what_is_the_same_in_all_rows_is_not_repeated_in_them() -> None:
    (row,) = record(quality=[{"helpful": True}])["judgements"]["quality"]
    assert not {"example_id", "subject"} & row.keys()
    assert (row["helpful"], row["judge"]) == (True, "m")


def test_other_kinds_stand_by_themselves_where_they_say_anything() -> None:
    """What is told beside a unit is not told again."""
    found = record(
        quality=[{"helpful": True}], claims=CLAIMS, relevance=[{"rank": 1, "relevant": True}],
        response=[{"response_type": "answer"}, {"response_type": "abstain", "example_id": "mine"}],
    )  # fmt: skip
    assert set(found["judgements"]) == {"quality", "response"}
    assert [one["response_type"] for one in found["judgements"]["response"]] == ["answer"]


def test_a_panel_speaks_for_its_members() -> None:
    """Who is in no panel speaks for itself."""
    said = [{"judge": judge, "helpful": judge != "a"} for judge in ("a", "b", "a,b", "local")]
    rows = record(quality=said)["judgements"]["quality"]
    assert [row["judge"] for row in rows] == ["a,b", "local"]


def test_what_was_judged_under_two_subjects_stands_once() -> None:
    judged = [{"subject": subject, "helpful": True} for subject in ("s", "t")]
    assert len(record(quality=judged)["judgements"]["quality"]) == 1


def test_each_metric_says_how_it_came_out_for_this_example_alone() -> None:
    scores: Rows = [
        {"metric": "hit", "value": 0.0, "label": "wrong", "reason": "note"},
        {"metric": "mrr", "status": "undefined", "reason": "no_x"},
        {"metric": "hit", "value": 1.0, "example_id": "mine"},
    ]
    assert record(scores=scores)["scores"] == [
        {"metric": "hit", "status": "value", "value": 0.0, "label": "wrong", "reason": "note"},
        {"metric": "mrr", "status": "undefined", "value": None, "label": None, "reason": "no_x"},
    ]


@pytest.mark.parametrize(("name", "near"), [("pie", "pier"), ("mime", "mine"), ("zz", "")])
def test_an_unknown_example_is_compared_with_those_that_begin_alike(name: str, near: str) -> None:
    with pytest.raises(UnknownName) as caught:
        dossier(tables_of(), name)
    assert ("Did you mean" in str(caught.value)) is bool(near)
    assert near in str(caught.value)


def test_of_several_examples_each_table_is_read_once() -> None:
    tables = tables_of(quality=[{"helpful": True}], scores=[{"metric": "hit", "value": 1.0}])
    found = dossiers(tables, ["mine", "pier"])
    assert len(tables.read) == len(set(tables.read)) == len(KINDS) + 2
    assert {name: len(one.scores) for name, one in found.items()} == {"pier": 1, "mine": 0}
    assert set(found["pier"].judgements) == {"quality"}
    assert not found["mine"].judgements


def test_of_examples_that_are_not_there_nothing_is_told() -> None:
    assert dossiers(tables_of(), ["of no run"]) == {}


KEY = "abcdefghijkl"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"calls": 1}, "1 model call, $0.0000"),
        ({"calls": 2000, "usd": 1234.5}, "2,000 model calls, $1,234.50"),
        ({"calls": 2, "usd": None, "unpriced": 2}, "2 model calls, cost unknown"),
        ({"calls": 9, "usd": 0.5, "unpriced": 1200},
         "9 model calls, $0.5000 and 1,200 calls without a price"),
        ({"calls": 1, "prompt": 9000, "completion": 70, "cached": 8000},
         "1 model call, 9,000 tokens sent (8,000 from the server's cache), 70 received, $0.0000"),
        ({"from_cache": 3500}, "0 model calls, 3,500 replies of earlier runs"),
    ],
)  # fmt: skip
def test_a_run_says_what_all_its_questions_took(known: dict[str, Any], said: str) -> None:
    """A run that only took replies of earlier ones paid nothing, and says no cost."""
    assert took(Totals(**{"usd": 0.0, **known})) == said


@pytest.mark.parametrize(
    ("usd", "said"),
    [(0.0, "$0.0000"), (0.00004, "$0.0000"), (0.9999, "$0.9999"), (1, "$1.00"),
     (2345.678, "$2,345.68"), (None, "cost unknown")],
)  # fmt: skip
def test_money_is_told_to_a_hundredth_of_a_cent_below_a_dollar(
    usd: float | None, said: str
) -> None:
    assert cost(usd) == said


@pytest.mark.parametrize(
    ("prompt", "completion", "cached", "reasoning", "said"),
    [
        (None, None, None, None, "tokens unknown"),
        (None, 20, None, None, "tokens sent unknown, 20 received"),
        (1200, None, None, None, "1,200 tokens sent"),
        (1200, 1500, 1000, 1400,
         "1,200 tokens sent (1,000 from its cache), 1,500 received (1,400 of them reasoning)"),
        (12, 20, 0, 0, "12 tokens sent, 20 received"),
    ],
)  # fmt: skip
def test_a_server_may_tell_a_part_of_the_tokens(
    prompt: int | None, completion: int | None, cached: int | None, reasoning: int | None, said: str
) -> None:
    assert tokens(Usage(prompt, completion, cached, reasoning)) == said


def attempt(**known: Any) -> Attempt:
    first = Attempt(KEY, 1, "model", 0.0, 1.25, reply="yes", finish="stop",
                    usage=Usage(prompt=9, completion=2), usd=0.01)  # fmt: skip
    return replace(first, **known)


def item(*attempts: Attempt, prompts: bool = False) -> OutlineItem:
    call = Entry(KEY, "m", "claims", "q1", 0, "Judge.", ("Is ", "it?"), "{}", attempts)
    (found,) = call_items([call], prompts=prompts)
    return found


def said(found: OutlineItem) -> list[str]:
    return [plain(one.words) for one in found.inner]


def test_a_question_is_known_by_task_judge_and_the_first_letters_of_its_key() -> None:
    assert plain(item().words) == "claims  m  abcdefgh"


def test_an_attempt_says_its_time_its_tokens_and_its_cost() -> None:
    assert said(item(attempt())) == ["1.25 s, 9 tokens sent, 2 received, $0.0100", "yes"]


def test_an_attempt_without_an_answer_says_its_time_and_what_went_wrong() -> None:
    late = attempt(finish=None, reply="", trouble="timeout")
    assert said(item(late, attempt(number=2))) == [
        "1.25 s", "timeout", "attempt 2: 1.25 s, 9 tokens sent, 2 received, $0.0100", "yes",
    ]  # fmt: skip
    found = item(attempt(trouble="schema", words="no verdict")).inner[1]
    assert found == OutlineItem(Phrase("schema: no verdict", "caution"))


def test_a_reply_of_an_earlier_run_took_nothing() -> None:
    kept = attempt(source="cache", number=3)
    assert said(item(kept))[0] == "the reply of an earlier run, from the cache"


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ('{"verdict": "yes", "ids": ["é", 1]}', 'verdict: "yes"\nids: ["é", 1]'),
        ("[1, 2]", "[1, 2]"),
        ("{not json", "{not json"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_reply_of_json_has_a_line_for_each_item_and_another_stays_as_it_came(
    reply: str, shown: str
) -> None:
    assert said(item(attempt(reply=reply)))[1] == shown


def test_what_a_model_was_told_stands_before_its_reply_where_it_is_asked_for() -> None:
    assert said(item(attempt(), prompts=True))[:2] == ["Judge.", "Is it?"]
    assert said(item(attempt()))[0].startswith("1.25 s")
