"""The NLI judge's rules, with a model that is told what follows from what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.data import Context, Example
from ragstone.judgements import MISSING, VALUE, Tables
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.nli_judge import NliJudge, nli_judge, outputs, read_sentences, windows
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import Missing, Score, Undefined
from ragstone.report.reason_words import explain
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

Judged = Callable[..., Tables]
Scored = Callable[..., Score]
Pair = tuple[str, str]

pytestmark = pytest.mark.torch

ASKED = ["response", "claims", "statements", "support/claim", "support/statement"]
BRIDGE = "The Royal Albert Bridge crosses the Tamar. It opened in 1859."
HEATH = "Cornish heath grows on the Lizard peninsula."


@dataclass(eq=False)
class Scripted:
    """A cross-encoder that says what ``rule`` says of premise and hypothesis."""

    rule: Callable[[str, str], Sequence[float]]
    labels: tuple[str, ...] = ("contradiction", "entailment", "neutral")
    max_tokens: int = 100
    name: str = "scripted"
    about: str = "scripted: by hand"
    fingerprint: str = "0" * 32
    asked: list[Pair] = field(default_factory=list)

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        self.asked += pairs
        rows = [self.rule(*pair) for pair in pairs]
        return np.array(rows, np.float32).reshape(len(pairs), len(self.labels))

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int32]:
        return np.array([len(f"{one} {two}".split()) for one, two in pairs], np.int32)


def says(entailment: float, contradiction: float = 0.0) -> Callable[[str, str], Sequence[float]]:
    return lambda _premise, _hypothesis: (contradiction, entailment, 1 - entailment - contradiction)


def judge(rule: Callable[[str, str], Sequence[float]], **model: Any) -> NliJudge:
    return NliJudge("nli:scripted", Scripted(rule, **model))


def example(answer: str = "The bridge opened in 1859.", **fields: Any) -> Example:
    given = {
        "question": "When did the bridge open?",
        "answer": answer,
        "contexts": (Context("bridge", BRIDGE, 1), Context("heath", HEATH, 2)),
        "reference": ("The Royal Albert Bridge opened in 1859.",),
        "evidence": ("It opened in 1859.",),
    }
    return Example(fields.pop("id", "1"), "q", "s", **given | fields)


def row(judged: Judged, nli: NliJudge, given: Example | None = None) -> dict[str, Any]:
    """What it says of the only claim."""
    tables = judged(ASKED, [given or example()], (nli, LocalJudge(), RulesJudge()))
    found = tables.of("support/claim")
    assert found["judge"].to_list() == ["nli:scripted"]
    return found.row(0, named=True)


@pytest.mark.parametrize(
    ("entailment", "contradiction", "verdict"),
    [
        (0.9, 0.0, "supported"),
        (0.5, 0.5, "supported"),
        (0.49, 0.0, "absent"),
        (0.1, 0.2, "absent"),
        (0.2, 0.5, "absent"),
        (0.2, 0.51, "contradicted"),
        (0.0, 1.0, "contradicted"),
    ],
)
def test_verdicts_follow_the_probabilities(
    judged: Judged, entailment: float, contradiction: float, verdict: str
) -> None:
    said = row(judged, judge(says(entailment, contradiction)))
    assert said["verdict"] == verdict
    assert said["probability"] == pytest.approx(entailment, abs=1e-6)
    assert (said["quote"] is None) == (said["evidence"] == []) == (verdict == "absent")


def test_contexts_are_the_premise_and_the_proposition_the_hypothesis(judged: Judged) -> None:
    nli = judge(says(1))
    row(judged, nli)
    assert isinstance(nli.model, Scripted)
    assert nli.model.asked[0] == (f"{BRIDGE} {HEATH}", "The bridge opened in 1859.")


def test_evidence_and_quote_are_where_the_words_stand(judged: Judged) -> None:
    said = row(judged, judge(says(1)))
    assert said["evidence"] == ["bridge"]
    assert said["quote"] == "It opened in 1859."
    assert explain(said["reason"]) == "entailment 1.00 at best in 1 window"


def test_what_is_said_in_other_words_rests_on_the_whole_window(judged: Judged) -> None:
    said = row(judged, judge(says(1)), example("Brunel finished his masterpiece."))
    assert said["evidence"] == ["bridge", "heath"]
    assert said["quote"] == "The Royal Albert Bridge crosses the Tamar."


def test_the_window_that_entails_most_speaks_for_the_contexts(judged: Judged) -> None:
    filler = " ".join(f"Filler number {place} follows." for place in range(20))
    contexts = (
        Context("a", f"The bridge closed in 1859. {filler}", 1),
        Context("b", f"The bridge opened in spring. {filler}", 2),
    )
    nli = judge(lambda premise, _: (0.4, 0.8, 0.0) if "spring" in premise else (0.3, 0.1, 0.6))
    said = row(judged, nli, example(contexts=contexts))
    assert (said["verdict"], said["evidence"]) == ("supported", ["b"])
    assert said["quote"] == "The bridge opened in spring."
    assert said["probability"] == pytest.approx(0.8)


def test_only_the_window_with_most_words_can_contradict(judged: Judged) -> None:
    filler = " ".join(f"Filler number {place} follows." for place in range(20))
    contexts = (
        Context("near", f"The bridge opened late in 1860. {filler}", 1),
        Context("far", f"The bridge is red. {filler}", 2),
    )
    claim = "The bridge opened late in 1859."
    near = judge(lambda premise, _: (0.9, 0.0, 0.1) if "1860" in premise else (0.0, 0.1, 0.9))
    said = row(judged, near, example(claim, contexts=contexts))
    assert (said["verdict"], said["evidence"]) == ("contradicted", ["near"])
    assert explain(said["reason"]).startswith(
        "contradiction 0.90, entailment 0.10 at best in 5 windows"
    )
    far = judge(lambda premise, _: (0.9, 0.0, 0.1) if "is red" in premise else (0.0, 0.1, 0.9))
    assert row(judged, far, example(claim, contexts=contexts))["verdict"] == "absent"


def test_it_fills_support_of_claims_statements_and_evidence(judged: Judged) -> None:
    nli = judge(says(0.75))
    asks = [*ASKED, "support/evidence", "conversation_support"]
    tables = judged(asks, [example()], (nli, LocalJudge(), RulesJudge()))
    for ask in nli.asks:
        rows = tables.of(ask)
        assert rows["judge"].to_list() == ["nli:scripted"]
        assert rows["origin"].to_list() == [ask.partition("/")[2] or "claim"]
        assert rows["probability"].to_list() == [0.75]


def test_metrics_rest_on_its_rows(scored: Scored) -> None:
    nli = judge(lambda _, claim: (0, 1, 0) if "1859" in claim else (0, 0.25, 0.75))
    answer = example("The bridge opened in 1859. It was painted pink.")
    judges = (nli, LocalJudge(), RulesJudge())
    assert scored("faithfulness", answer, judges) == 1 / 2
    assert scored("expected_faithfulness", answer, judges) == pytest.approx(5 / 8)


def test_a_model_that_fails_leaves_a_failure_with_its_reason(
    judged: Judged, scored: Scored
) -> None:
    def fails(_premise: str, _hypothesis: str) -> Sequence[float]:
        raise ModelFailure("out of memory")

    judges = (judge(fails), RulesJudge())
    tables = judged(["support/evidence"], [example(), example(id="2")], judges)
    outcome = tables.outcome("support/evidence")
    assert outcome["status"].to_list() == [MISSING, MISSING]
    assert outcome["reason"].to_list() == ["nli:scripted: out of memory"] * 2
    assert scored("evidence_recall", example(), judges) == Missing("nli:scripted: out of memory")


def test_contexts_without_text_are_a_failure(judged: Judged) -> None:
    given = example(contexts=(Context("bridge", None, 1),))
    tables = judged(["support/evidence"], [given], (judge(says(1)),))
    outcome = tables.outcome("support/evidence")
    assert outcome.row(0) == (MISSING, "nli:scripted: no_context_text")


def test_where_nothing_was_retrieved_everything_is_absent(judged: Judged, scored: Scored) -> None:
    nli = judge(says(1))
    said = row(judged, nli, example(contexts=()))
    assert (said["verdict"], said["probability"], said["reason"]) == (
        "absent",
        0,
        "nothing_to_read",
    )
    alone = example(contexts=None)
    assert scored("faithfulness", alone, (nli, LocalJudge(), RulesJudge())) == Undefined(
        "no_retrieval"
    )


def test_an_answer_without_claims_asks_nothing(judged: Judged) -> None:
    nli = judge(says(1))
    tables = judged(ASKED, [example("I don't know.")], (nli, LocalJudge(), RulesJudge()))
    assert tables.outcome("support/claim")["status"].to_list() == [VALUE]
    assert tables.of("support/claim").is_empty()


def test_the_same_claims_on_the_same_contexts_are_judged_once(judged: Judged) -> None:
    nli = judge(says(1))
    many = [example(id=str(number)) for number in range(70)]
    tables = judged(["support/evidence"], many, (nli,))
    assert tables.of("support/evidence")["row"].to_list() == list(range(70))
    assert isinstance(nli.model, Scripted)
    assert len(nli.model.asked) == 1


def test_the_same_input_gives_the_same_rows(judged: Judged) -> None:
    nli = judge(lambda premise, _: (0, len(premise) % 7 / 10, 0))
    given = [example("It opened. It closed in 1859.", id=str(number)) for number in range(3)]
    judges = (nli, LocalJudge(), RulesJudge())
    one, two = (judged(ASKED, given, judges).of("support/claim") for _ in range(2))
    assert one.equals(two)


# Labels.


@pytest.mark.parametrize(
    ("labels", "meant"),
    [
        (("contradiction", "entailment", "neutral"), (1, 0)),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), (2, 0)),
        (("entailment", "not_entailment"), (0, None)),
        (("Not-Entailment", "Entailment"), (1, None)),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), (0, 1)),
        (("hallucinated", "consistent"), (1, None)),
        (("LABEL_0",), (0, None)),
    ],
)
def test_labels_are_read_by_their_names(
    labels: tuple[str, ...], meant: tuple[int, int | None]
) -> None:
    assert outputs(Scripted(says(1), labels=labels)) == meant


@pytest.mark.parametrize(
    "labels",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("positive", "negative"),
        ("neutral", "contradiction"),
        ("entailment", "supported", "neutral"),
        ("entailment", "contradiction", "refuted"),
    ],
)
def test_labels_that_are_not_understood_are_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(ModelError, match=f"scripted has the labels {', '.join(labels)}. Expected"):
        judge(says(1), labels=labels)


def test_a_model_of_one_output_says_how_likely_support_is(judged: Judged) -> None:
    nli = judge(lambda _, claim: [0.7 if "1859" in claim else 0.3], labels=("LABEL_0",))
    for answer, verdict, chance in (("1859", "supported", 0.7), ("1860", "absent", 0.3)):
        said = row(judged, nli, example(f"The bridge opened in {answer}."))
        assert said["verdict"] == verdict
        assert said["probability"] == pytest.approx(chance)


def test_it_says_how_it_judges() -> None:
    assert judge(says(1)).about == (
        "inference from the 5 windows of 5 sentences with most words of a proposition, by "
        "scripted: by hand"
    )


# Windows.


def numbered(count: int, **said: str) -> list[str]:
    """Contexts of one sentence each; ``s3`` replaces the sentence of number 3."""
    return [said.get(f"s{place}", f"Filler {place} stays.") for place in range(count)]


def starts(proposition: str, contexts: list[str]) -> list[int]:
    found = windows(proposition, read_sentences(contexts))
    return [one.sentences[0].context for one in found]


def test_the_window_with_most_words_comes_first() -> None:
    contexts = numbered(40, s10="The bridge is red.", s30="The red bridge opened in 1859.")
    assert starts("The red bridge opened in 1859.", contexts)[:2] == [29, 9]


def test_words_of_neighbouring_sentences_count_together() -> None:
    contexts = numbered(40, s10="The red bridge.", s30="A bridge.", s31="Red.", s32="It opened.")
    assert starts("The red bridge opened.", contexts)[:2] == [29, 9]


def test_a_window_begins_a_sentence_early_and_crosses_contexts() -> None:
    (first, *_) = windows("The bridge opened.", read_sentences(numbered(40, s20="It opened.")))
    assert [one.context for one in first.sentences] == [19, 20, 21, 22, 23]
    assert first.pair == (
        "Filler 19 stays. It opened. Filler 21 stays. Filler 22 stays. Filler 23 stays.",
        "The bridge opened.",
    )


def test_windows_share_two_sentences_at_the_most() -> None:
    contexts = numbered(40, **{f"s{place}": "The bridge opened." for place in range(10, 30)})
    found = sorted(starts("The bridge opened.", contexts))
    assert len(found) == 5
    assert all(after - before >= 3 for before, after in pairwise(found))


def test_without_common_words_the_contexts_are_read_from_the_beginning() -> None:
    assert starts("Brunel built it.", numbered(40)) == [0, 5, 10, 15, 20]
    assert starts("Brunel built it.", numbered(7)) == [0, 5]
    assert starts("Brunel built it.", []) == []


def test_a_blank_proposition_has_no_windows() -> None:
    assert starts("  ", numbered(7)) == []


def test_a_window_too_long_for_the_model_loses_whole_sentences(judged: Judged) -> None:
    nli = judge(says(1), max_tokens=12)
    said = row(judged, nli)
    assert isinstance(nli.model, Scripted)
    premise, claim = nli.model.asked[0]
    assert premise == "It opened in 1859."
    assert len(f"{premise} {claim}".split()) <= 12
    assert said["quote"] == "It opened in 1859."


def test_a_sentence_too_long_for_the_model_is_left_to_it(judged: Judged) -> None:
    nli = judge(says(1), max_tokens=3)
    assert row(judged, nli)["verdict"] == "supported"


# A real model, tiny and without sense.


def test_a_model_is_opened_by_name(tmp_path: Path, judged: Judged) -> None:
    import_or_skip("transformers", reason="needs the extra torch")
    names = {0: "entailment", 1: "neutral", 2: "contradiction"}
    folder = tiny_bert(tmp_path, head=3, id2label=names, max_tokens=200, positions=200)
    nli = nli_judge(str(folder))
    assert nli.name == f"nli:{folder}"
    rows = judged(["support/evidence"], [example()], (nli,)).of("support/evidence")
    pair = (f"{BRIDGE} {HEATH}", "It opened in 1859.")
    assert rows["probability"].to_list() == [pytest.approx(nli.model.score([pair])[0, 0], abs=1e-6)]


def test_a_model_whose_labels_say_nothing_is_refused_by_name(tmp_path: Path) -> None:
    import_or_skip("transformers", reason="needs the extra torch")
    folder = tiny_bert(tmp_path, head=3)
    with pytest.raises(ModelError, match="has the labels LABEL_0, LABEL_1, LABEL_2"):
        nli_judge(str(folder))
