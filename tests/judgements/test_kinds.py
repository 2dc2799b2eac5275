"""Kinds: the columns of their tables, and the guideline that says what their words mean."""

from typing import get_args

import polars as pl
import pytest

from ragstone.data.record_labels import Unit
from ragstone.judgements import (
    ASKS,
    CLAIM_VERDICTS,
    KINDS,
    RESPONSE_TYPES,
    STATEMENT_VERDICTS,
    SUPPORT_VERDICTS,
    VIEWS,
    Agreement,
    Ask,
    Column,
    Kind,
    Quality,
    Similarity,
    Support,
)
from ragstone.judgements.view import ABOUT


def test_a_kind_says_what_was_judged_then_its_own_then_why_and_by_whom() -> None:
    """A kind that is made here, so that nothing but the class statement can give it its columns."""
    try:

        class Tone(Kind):
            name = "tone"
            asks = (Ask(),)

            friendly = Column(pl.Boolean, "it is", role="verdict")
            words = Column(pl.UInt32, "how many")

        assert KINDS["tone"] is Tone
        assert Tone.schema() == {
            "subject": pl.String,
            "friendly": pl.Boolean,
            "words": pl.UInt32,
            "reason": pl.String,
            "judge": pl.String,
        }
        assert list(Tone.schema()) == ["subject", "friendly", "words", "reason", "judge"]
        assert (Tone.empty().height, Tone.empty().schema) == (0, Tone.schema())
    finally:
        KINDS.pop("tone", None)
        ASKS.pop("tone", None)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_a_verdict_says_of_each_of_its_words_what_it_means(kind: type[Kind]) -> None:
    for name in kind.having("verdict"):
        column = kind.columns[name]
        if isinstance(column.dtype, pl.Enum):
            assert list(column.values) == column.dtype.categories.to_list()
            assert all(column.values.values())
        else:
            assert (column.dtype, bool(column.doc)) == (pl.Boolean, True)


def test_a_kind_names_what_it_asks_by_its_parts() -> None:
    assert (Support.ask("claim").name, Support.ask("claim").origin) == ("support/claim", "claim")
    assert (Quality.ask().name, Quality.ask().origin) == ("quality", None)
    with pytest.raises(KeyError):
        Support.ask("clam")


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_an_ask_of_a_kind_is_found_by_its_part(kind: type[Kind]) -> None:
    for ask in kind.asks:
        assert kind.ask(ask.part) is ASKS[ask.name]


def test_an_ask_fills_its_columns_and_not_who_said_so_and_why() -> None:
    asked = {(name, ask.part): [column.name for column in kind.filled_by(ask)]
             for name, kind in KINDS.items() for ask in kind.asks}  # fmt: skip
    assert asked["grounding", "citation"] == ["source_cited", "fabricated_source"]
    assert asked["grounding", "support"] == [
        "support_present", "unsupported_claim_present", "contradicted_claim_present",
    ]  # fmt: skip
    assert asked["statements", ""] == ["reference", "index", "text"]
    assert asked["rating", ""] == ["criterion", "score"]
    for (name, part), columns in asked.items():
        whole = [one for one in KINDS[name].columns if one not in ("reason", "judge")]
        assert columns == whole or (name, part)[0] == "grounding"


def test_each_unit_is_of_an_answer_a_context_or_a_proposition() -> None:
    """Claims, statements, criteria and gold evidence are propositions; a reference and a probe
    stand for the answer that is held against them."""
    propositions = {"claim", "statement", "criterion", "evidence"}
    expected = {
        unit: "proposition" if unit in propositions else "answer" for unit in get_args(Unit)
    }
    assert expected | {"context": "context"} == ABOUT


def test_a_value_is_good_where_it_counts_as_yes_unless_it_is_said_otherwise() -> None:
    values = {"warm": "it is", "cold": "it is not", "dry": "neither"}
    assert Column(None, values=values, positive=("warm",)).tones == {
        "warm": "good", "cold": "caution", "dry": "caution",
    }  # fmt: skip
    assert Column(None, values=values).tones == {}
    assert Column(None, values=values, positive=("warm",), tones={"dry": "bad"}).tones == {
        "dry": "bad"
    }


def test_what_is_computed_in_a_view_is_made_of_what_judges_said_of_the_unit() -> None:
    """So that a sheet for a metric of weights asks people for what makes them."""
    made = {
        (view.name, name): set(fact.made_of)
        for view in VIEWS.values()
        for name, fact in view.columns.items()
        if fact.made_of
    }
    assert made == {("contexts", "weight"): {"relevant", "sufficient"}}
    assert made["contexts", "weight"] <= set(VIEWS["contexts"].taken)


def test_the_words_of_a_verdict_are_those_of_the_contract() -> None:
    assert RESPONSE_TYPES == ("answer", "partial", "abstain", "refuse", "clarify")
    assert SUPPORT_VERDICTS == ("supported", "contradicted", "absent")
    assert CLAIM_VERDICTS == ("matches", "contradicts", "extra")
    assert STATEMENT_VERDICTS == ("full", "partial", "missing", "contradicted")
    assert list(Agreement.columns["verdict"].values) == [*CLAIM_VERDICTS, *STATEMENT_VERDICTS]


def test_a_table_of_similarities_has_a_place_for_each_that_is_asked_for() -> None:
    asked = {ask.partition("/")[2] for ask in ASKS if ask.startswith("similarity/")}
    measures = Similarity.schema()["measure"]
    assert isinstance(measures, pl.Enum)
    assert asked == set(measures.categories)


def test_the_key_of_a_kind_tells_its_rows_about_a_subject_apart() -> None:
    assert {name: kind.key for name, kind in KINDS.items() if kind.key != ()} == {
        "agreement": ("origin", "author", "reference", "index"),
        "citations": None,
        "claims": ("index",),
        "conversation_support": ("origin", "author", "reference", "index"),
        "criteria": ("origin", "author", "reference", "index"),
        "critique": ("aspect", "index"),
        "entities": ("reference", "index"),
        "answer_sentences": ("index",),
        "importance": ("origin", "author", "reference", "index"),
        "lexical": ("reference",),
        "squad_words": ("reference",),
        "ngrams": ("reference",),
        "preference": ("rival", "order"),
        "probes": ("index",),
        "rating": ("criterion",),
        "relevance": ("rank",),
        "similarity": ("measure", "index"),
        "statements": ("reference", "index"),
        "support": ("origin", "author", "reference", "index"),
    }
    about_an_answer = {"grounding", "phrases", "quality", "response"}
    assert {name for name, kind in KINDS.items() if kind.key == ()} == about_an_answer
