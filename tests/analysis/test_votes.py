"""On which examples the votes inside a run say different things, worked out by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from ragstone.analysis.label_sampling.sample_designs import among_votes
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError
from ragstone.judgements import KINDS

RATING = 'rating(criterion="tone")'
CRITIQUE = 'critique(aspect="harm")'
PROPOSITION = {"origin": "claim", "reference": 0, "index": 0}


class Votes:
    """A run of two judges who both spoke of each unit; what is theirs alone is in ``rows``."""

    path = "run"

    def __init__(self, ask: str, rows: Sequence[Mapping[str, Any]], status: str) -> None:
        self.kind = ask.partition("/")[0]
        schema = {"example_id": pl.String, **KINDS[self.kind].schema()}
        given = [{"example_id": "e1", "subject": "s"} | dict(row) for row in rows]
        self.table = pl.DataFrame(given, schema=schema)
        self.ask, self.status = ask, status

    def ledger(self) -> pl.DataFrame:
        here = {"ask": pl.lit(self.ask), "status": pl.lit(self.status)}
        return self.table.select("example_id", "judge", "subject", **here)

    def judgements(self, kind: str) -> pl.DataFrame:
        if kind == self.kind:
            return self.table
        return pl.DataFrame(schema={"example_id": pl.String, **KINDS[kind].schema()})


class Voted(Scored):
    facets = pl.DataFrame({"example_id": ["e0", "e1"]})

    def __init__(self, ask: str, rows: Sequence[Mapping[str, Any]], status: str = "vote") -> None:
        self.run = Votes(ask, rows, status)  # type: ignore[assignment]


def by_two(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [{"judge": "x", **one}, {"judge": "y", **other}]


@pytest.mark.parametrize(
    ("metric", "ask", "unit", "alike", "otherwise", "expected"),
    [
        ("precision", "relevance", {"rank": 1},
         {"relevant": True, "sufficient": True, "misleading": False}, {"relevant": False}, 1 / 6),
        ("precision", "relevance", {"rank": 1},
         {"relevant": True, "sufficient": True, "misleading": False}, {"sufficient": False}, 1 / 6),
        ("precision", "relevance", {"rank": 1},
         {"relevant": True, "sufficient": True, "misleading": False}, {"misleading": True}, 1 / 6),
        ("faithfulness", "support/claim", PROPOSITION,
         {"verdict": "supported"}, {"verdict": "absent"}, 1 / 2),
        ("factual_accuracy", "agreement/claim", PROPOSITION,
         {"verdict": "matches"}, {"verdict": "extra"}, 1 / 2),
        ("abstention", "response", {}, {"response_type": "answer"}, {"response_type": "refuse"},
         1 / 2),
        *(("helpfulness", "quality", {},
           {"proper_action": True, "response_on_topic": True, "helpful": True, "incomplete": True,
            "unsafe_content": True}, {name: False}, 1 / 10)
          for name in ("proper_action", "response_on_topic", "helpful", "incomplete",
                       "unsafe_content")),
        (RATING, "rating", {"criterion": "tone"}, {"score": 0.75}, {"score": 0.5}, 0.25),
        (CRITIQUE, "critique", {"aspect": "harm"}, {"verdict": True}, {"verdict": False}, 1 / 2),
        ("win_rate", "preference", {"rival": "b"}, {"verdict": "win"}, {"verdict": "tie"}, 1 / 2),
    ],
)  # fmt: skip
def test_every_word_that_is_voted_on_may_be_outvoted(
    metric: str, ask: str, unit: Mapping[str, Any], alike: Mapping[str, Any],
    otherwise: Mapping[str, Any], expected: float,
) -> None:  # fmt: skip
    """One of two is the half; of several words said of a unit, the mean."""
    rows = by_two({**unit, **alike}, {**unit, **alike, **otherwise})
    assert among_votes(Voted(ask, rows), metric).to_list() == [None, pytest.approx(expected)]


@pytest.mark.parametrize(
    ("metric", "ask", "unit", "other", "one", "another"),
    [
        ("precision", "relevance", {"rank": 1}, {"rank": 2}, {"relevant": True},
         {"relevant": False}),
        *(("faithfulness", "support/claim", PROPOSITION, {**PROPOSITION, name: value},
           {"verdict": "supported"}, {"verdict": "absent"})
          for name, value in (("origin", "statement"), ("reference", 1), ("index", 1))),
        *(("factual_accuracy", "agreement/claim", PROPOSITION, {**PROPOSITION, name: value},
           {"verdict": "matches"}, {"verdict": "extra"})
          for name, value in (("origin", "statement"), ("reference", 1), ("index", 1))),
        (RATING, "rating", {"criterion": "tone"}, {"criterion": "wit"}, {"score": 0},
         {"score": 1}),
        (CRITIQUE, "critique", {"aspect": "harm"}, {"aspect": "wit"}, {"verdict": True},
         {"verdict": False}),
        ("win_rate", "preference", {"rival": "b"}, {"rival": "c"}, {"verdict": "win"},
         {"verdict": "loss"}),
    ],
)  # fmt: skip
def test_what_is_said_of_two_units_is_no_disagreement(
    metric: str, ask: str, unit: Mapping[str, Any], other: Mapping[str, Any],
    one: Mapping[str, Any], another: Mapping[str, Any],
) -> None:  # fmt: skip
    rows = by_two({**unit, **one}, {**unit, **one}) + by_two(
        {**other, **another}, {**other, **another}
    )
    assert among_votes(Voted(ask, rows), metric).to_list() == [None, 0]


@pytest.mark.parametrize(
    ("metric", "ask", "unit", "words"),
    [
        (CRITIQUE, "critique", {"aspect": "harm"}, (True, False)),
        ("win_rate", "preference", {"rival": "b"}, ("win", "loss")),
    ],
)
def test_repeats_and_both_orders_of_one_judge_are_votes(
    metric: str, ask: str, unit: Mapping[str, Any], words: Sequence[Any]
) -> None:
    rows = [{"judge": "x", **unit, "verdict": word} for word in words]
    assert among_votes(Voted(ask, rows, "ok"), metric).to_list() == [None, 0.5]


def test_what_one_judge_says_of_anything_else_is_no_vote() -> None:
    rows = [{"judge": "x", "response_type": "answer"}]
    with pytest.raises(InputError, match="it was judged once"):
        among_votes(Voted("response", by_two(rows[0], rows[0]), "ok"), "abstention")
