"""The judge that an encoder is behind: which texts it compares, and what is at the edges."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.data import Context, Example, to_frame
from ragstone.judgements import MISSING, Tables
from ragstone.judges import Block, Filled, Judge, RowBuilder
from ragstone.judges.rules import RulesJudge
from ragstone.judges.similarity import (
    BertscoreSettings,
    CrossEncoderJudge,
    SimilarityJudge,
    bertscore,
)
from ragstone.metrics import Missing, Score, Undefined
from ragstone.models import TokenVectors
from ragstone.report.reason_words import words
from ragstone.testing import ScriptedEncoder

Judged = Callable[..., Tables]
Scored = Callable[..., Score]

PLANE = {
    "East?": (2, 0),
    "It is east.": (1, 0),
    "It is north.": (0, 3),
    "It is west.": (-1, 0),
    "It is northeast.": (5, 5),
    "half": (0.5, 0.866025403784),
}


def plane(**options: Any) -> ScriptedEncoder:
    return ScriptedEncoder(PLANE, dimensions=2, **options)


def judge(**options: Any) -> tuple[Judge, ...]:
    return (SimilarityJudge(plane(**options)), RulesJudge())


def example(*contexts: str | None, **fields: Any) -> Example:
    found = tuple(Context(str(rank), text, rank) for rank, text in enumerate(contexts, 1))
    given = {"question": "East?", "answer": "It is east.", "contexts": found}
    return Example(fields.pop("id", "1"), "q", "s", **given | fields)


def rows(tables: Tables, measure: str) -> list[tuple[Any, ...]]:
    found = tables.of(f"similarity/{measure}").sort("row", "index")
    return found.select("row", "index", "value", "reason").rows()


def test_each_context_is_compared_with_the_question(judged: Judged) -> None:
    given = example("It is east.", "It is north.", "It is west.", "half")
    tables = judged(["similarity/question_context"], [given], judge())
    assert rows(tables, "question_context") == [
        (0, 1, 1.0, None), (0, 2, 0.0, None), (0, 3, -1.0, None), (0, 4, 0.5, None),
    ]  # fmt: skip
    assert tables.of("similarity/question_context")["judge"].unique().to_list() == ["scripted"]


def test_the_best_of_several_references_counts_for_a_context(judged: Judged) -> None:
    given = example("It is north.", reference=("It is west.", "It is northeast."))
    tables = judged(["similarity/reference_context"], [given], judge())
    assert rows(tables, "reference_context") == [(0, 1, pytest.approx(0.707107), None)]


def test_each_sentence_of_the_answer_has_its_best_context(judged: Judged) -> None:
    given = example("It is north.", "It is west.", answer="It is east. ... It is north.")
    tables = judged(["similarity/sentence_context"], [given], judge())
    assert [row[:3] for row in rows(tables, "sentence_context")] == [(0, 0, 0.0), (0, 1, 1.0)]


def test_the_answer_is_compared_with_every_reference_and_with_the_question(judged: Judged) -> None:
    given = example(reference=("It is north.", "It is east."))
    asks = ["similarity/answer_reference", "similarity/question_answer"]
    tables = judged(asks, [given], judge())
    assert rows(tables, "answer_reference") == [(0, 0, 0.0, None), (0, 1, 1.0, None)]
    assert rows(tables, "question_answer") == [(0, 0, 1.0, None)]


def test_bertscore_is_that_of_the_function(judged: Judged) -> None:
    encoder = ScriptedEncoder()
    settings = BertscoreSettings(layer=1)
    examples = [
        example(id="1", answer="the old bridge", reference=("a bridge", "the old bridge")),
        example(id="2", answer="it opened", reference=("it closed",)),
    ]
    measures = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
    asks = [f"similarity/{measure}" for measure in measures]
    tables = judged(asks, examples, (SimilarityJudge(encoder, settings),))
    expected = bertscore(
        encoder,
        ["the old bridge", "the old bridge", "it opened"],
        ["a bridge", "the old bridge", "it closed"],
        layer=1,
    )
    columns = (expected.precision, expected.recall, expected.f1)
    for measure, column in zip(measures, columns, strict=True):
        found = [row[2] for row in rows(tables, measure)]
        assert found == pytest.approx(column, abs=1e-6)


@dataclass(frozen=True)
class Prober:
    """Makes the questions it was given of every answer."""

    texts: Sequence[str]
    name: str = "prober"
    about: str = "questions of a test"
    asks: frozenset[str] = frozenset({"probes"})

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(ask, self.name)
        for row in rows:
            if block.examples[row].answer and sheet.done(row, f"probes of {row}"):
                for index, text in enumerate(self.texts):
                    sheet.add(f"probes of {row}", index=index, text=text, noncommittal=False)
        return sheet.filled()


def test_generated_questions_are_compared_with_the_one_that_was_asked(
    judged: Judged, scored: Scored
) -> None:
    judges = (Prober(["It is east.", "It is north."]), *judge())
    tables = judged(["probes", "similarity/question_probe"], [example()], judges)
    assert rows(tables, "question_probe") == [(0, 0, 1.0, None), (0, 1, 0.0, None)]
    assert scored("answer_relevance", example(), judges) == 0.5
    assert scored('answer_relevance(scale="shifted")', example(), judges) == 0.75
    without = scored("answer_relevance", example(), judge())
    assert isinstance(without, Missing)
    assert "LLM judge" in words(without.reason)


def test_where_nothing_was_retrieved_nothing_is_resembled(scored: Scored) -> None:
    bare = example(reference=("It is east.",))
    assert scored("embedding_context_relevance", bare, judge()) == Undefined("no_contexts")
    assert scored("reference_similarity_max", bare, judge()) == Undefined("no_contexts")
    assert scored("embedding_context_sufficiency", bare, judge()) == 0
    assert scored("embedding_hallucination", bare, judge()) == 1
    assert scored("embedding_hallucination(windows=True)", bare, judge()) == 1
    none = example(contexts=None)
    for name in ("embedding_context_relevance", "embedding_hallucination"):
        assert scored(name, none, judge()) == Undefined("no_retrieval")


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_resembles_nothing(answer: str, scored: Scored) -> None:
    given = example("It is east.", answer=answer, reference=("It is east.",))
    zero = (
        "semantic_similarity", "embedding_answer_relevance", "bertscore_precision",
        "bertscore_recall", "bertscore_f1",
    )  # fmt: skip
    for name in zero:
        assert scored(name, given, judge()) == 0
    hallucination = scored("embedding_hallucination", given, judge())
    assert hallucination == Undefined("empty_answer")


def test_an_answer_without_a_word_has_no_sentence(scored: Scored) -> None:
    given = example("It is east.", answer="...")
    assert scored("embedding_hallucination", given, judge()) == Undefined("no_sentences")


def test_an_empty_context_resembles_nothing(scored: Scored) -> None:
    given = example("It is east.", "  ")
    assert scored("embedding_context_relevance", given, judge()) == 0.5


def test_contexts_without_their_text_cannot_be_compared(scored: Scored) -> None:
    given = example(None, None, reference=("It is east.",))
    for name in ("embedding_context_relevance", "reference_similarity_max",
                 "embedding_hallucination"):  # fmt: skip
        assert scored(name, given, judge()) == Missing("scripted: no_context_text")
    some = example("It is east.", None)
    assert scored("embedding_context_relevance", some, judge()) == Missing("incomplete_judgement")
    hallucination = scored("embedding_hallucination", some, judge())
    assert hallucination == Missing("scripted: no_context_text")


def test_each_text_of_a_block_is_embedded_once(judged: Judged) -> None:
    encoder = plane()
    given = [
        example("It is east.", "It is north.", id=str(number), reference=("It is east.",))
        for number in range(3)
    ]
    asks = [f"similarity/{one}" for one in ("question_context", "reference_context",
                                            "sentence_context", "answer_reference",
                                            "question_answer")]  # fmt: skip
    judged(asks, given, (SimilarityJudge(encoder),))
    assert sorted(encoder.asked) == ["East?", "It is east.", "It is north."]


def test_without_a_known_limit_nobody_says_whether_a_text_was_cut(judged: Judged) -> None:
    tables = judged(["similarity/question_context"], [example("half")], judge(max_tokens=0))
    assert tables.of("similarity/question_context")["cut"].to_list() == [None]


class Unmeasured(ScriptedEncoder):
    """Its server is down when it is asked how long texts are."""

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:  # noqa: ARG002
        raise ModelFailure("lengths did not answer.")


def test_windows_that_cannot_be_cut_have_failed_with_the_reason(scored: Scored) -> None:
    judges = (SimilarityJudge(Unmeasured()),)
    found = scored("embedding_hallucination(windows=True)", example("It is east."), judges)
    assert found == Missing("no_answer?said=lengths+did+not+answer.")


class Counting(ScriptedEncoder):
    """Fails from the second time on that it is asked for tokens."""

    times = 0

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        self.times += 1
        if self.times > 1:
            raise ModelFailure("tokens did not answer.")
        return super().tokens(texts, layer=layer, limit=limit)


def test_bertscores_that_fail_are_asked_for_once_and_the_known_ones_stay() -> None:
    encoder = Counting()
    one = SimilarityJudge(encoder, BertscoreSettings(layer=1))
    examples = [example(id=name, answer=name, reference=("a bridge",)) for name in ("1", "2")]
    block = Block(examples, to_frame(examples))
    first = one.fill("similarity/bertscore_precision", block, [0])
    assert first.ledger["status"].to_list() == ["ok"]
    for measure in ("precision", "recall", "f1"):
        both = one.fill(f"similarity/bertscore_{measure}", block, [0, 1])
        assert both.ledger["status"].to_list() == ["ok", "failed"]
    assert encoder.times == 2


def test_the_next_block_begins_anew(judged: Judged) -> None:
    encoder = plane()
    one = SimilarityJudge(encoder)
    for _ in range(2):
        judged(["similarity/question_answer"], [example()], (one,))
    assert sorted(encoder.asked) == ["East?", "East?", "It is east.", "It is east."]


def test_what_the_encoder_does_not_answer_has_failed_and_the_rest_goes_on(judged: Judged) -> None:
    given = [example("It is east.", id="1"), example("It is north.", answer="a " * 99, id="2")]
    asks = ["similarity/question_context", "similarity/question_answer"]
    tables = judged(asks, given, judge(silent_on=["a " * 99]))
    assert tables.outcome("similarity/question_context")["status"].to_list() == [0, 0]
    outcome = tables.outcome("similarity/question_answer")
    assert outcome["status"].to_list() == [0, MISSING] or outcome["status"][1] == MISSING
    assert words(outcome["reason"][1]) == "scripted did not answer."


def test_bertscore_fails_with_an_encoder_that_has_no_token_vectors(scored: Scored) -> None:
    given = example(reference=("It is east.",))
    score = scored("bertscore_f1", given, judge(layers=0, longest=0))
    assert isinstance(score, Missing)
    assert "tokens" in score.reason
    assert scored("semantic_similarity", given, judge(layers=0, longest=0)) == 1


def test_a_text_that_was_cut_is_noted(judged: Judged) -> None:
    long = " ".join(["east"] * 9)
    given = example(long, "It is east.", reference=(long,))
    asks = ["similarity/question_context", "similarity/answer_reference", "similarity/bertscore_f1"]
    tables = judged(asks, [given], judge(max_tokens=8, longest=10))
    found = {ask: tables.of(ask).sort("index")["cut"].to_list() for ask in asks}
    assert list(found.values()) == [[True, False], [True], [True]]


def test_in_windows_the_best_part_of_a_long_context_counts(scored: Scored) -> None:
    vectors = {"q": (1, 0), "north": (0, 1), "east": (1, 0), "west": (-1, 0)}
    encoder = ScriptedEncoder(vectors, dimensions=2, max_tokens=6)
    long = "north north north north east east east east"
    given = example(long, question="q", answer="east", reference=("east",))
    judges = (SimilarityJudge(encoder),)
    assert scored("embedding_context_relevance", given, judges) == 0
    for name in ("embedding_context_relevance", "embedding_context_sufficiency",
                 "reference_similarity_max"):  # fmt: skip
        assert scored(f"{name}(windows=True)", given, judges) == 1
    assert scored("embedding_hallucination", given, judges) == 1
    assert scored("embedding_hallucination(windows=True)", given, judges) == 0


def test_a_metric_with_and_one_without_windows_stand_side_by_side(judged: Judged) -> None:
    asks = ["similarity/sentence_context", "similarity/sentence_context_windows"]
    tables = judged(asks, [example("It is east.")], judge())
    assert [tables.of(ask)["value"].to_list() for ask in asks] == [[1.0], [1.0]]


@dataclass(frozen=True)
class SharedWords:
    """A cross-encoder: the share of the answer's words that the reference has."""

    name: str = "shared-words"
    about: str = "words of a test"
    fingerprint: str = "0" * 32
    labels: tuple[str, ...] = ("similar",)
    max_tokens: int = 9

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        words = [(set(one.split()), set(other.split())) for one, other in pairs]
        shares = [len(ours & theirs) / len(ours) for ours, theirs in words]
        return np.array(shares, dtype=np.float32).reshape(-1, 1)

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        return np.array([len(f"{one} {two}".split()) + 3 for one, two in pairs], dtype=np.int32)


def test_a_cross_encoder_compares_answer_and_reference(scored: Scored, judged: Judged) -> None:
    judges = (*judge(), CrossEncoderJudge(SharedWords()))
    name = "semantic_similarity_cross_encoder"
    given = example(reference=("It was west.", "It is west."))
    assert scored(name, given, judges) == pytest.approx(2 / 3, abs=1e-6)
    assert scored(name, example(answer=" ", reference=("x",)), judges) == 0
    tables = judged(["similarity/answer_reference_cross_encoder"], [given], judges)
    measure = "answer_reference_cross_encoder"
    assert [row[2] for row in rows(tables, measure)] == pytest.approx([1 / 3, 2 / 3], abs=1e-6)
    assert tables.of(f"similarity/{measure}")["cut"].to_list() == [False, False]
    long = example(reference=("It is east of the old bridge.",))
    tables = judged([f"similarity/{measure}"], [long], judges)
    assert tables.of(f"similarity/{measure}")["cut"].to_list() == [True]
    assert scored(name, given, judge()) == Missing("not_judged?kind=similarity&by=cross_encoder")


def test_a_cross_encoder_that_tells_labels_apart_gives_no_similarity() -> None:
    with pytest.raises(ModelError, match="entails, contradicts"):
        CrossEncoderJudge(SharedWords(labels=("entails", "contradicts")))


def test_without_an_encoder_it_is_said_what_to_do(scored: Scored) -> None:
    given = example("It is east.", reference=("It is east.",))
    score = scored("semantic_similarity", given, (RulesJudge(),))
    assert isinstance(score, Missing)
    assert "ragstone[local]" in words(score.reason)
