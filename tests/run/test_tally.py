"""What is counted while blocks go by, and what of it stands in signatures and remarks."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.core.messages import Reason
from ragstone.judges import LEDGER
from ragstone.metrics import EmbeddingHallucination, parse_metric
from ragstone.run.calls.journal import Counts
from ragstone.run.estimates.cautions import of_clusters, of_models, of_sizes, remarks
from ragstone.run.estimates.estimates import Provenance
from ragstone.run.folder.run_tally import RunTally
from ragstone.run.folder.schemas import Counted, Estimate
from ragstone.run.settings import ChatSettings, ModelNames

Entry = tuple[str, str, str]


def tally(*outcomes: tuple[Entry, int], **known: Any) -> RunTally:
    return RunTally(outcomes=Counter(dict(outcomes)), **known)


def ledger(*entries: tuple[str, str, str | None, list[str] | None]) -> pl.DataFrame:
    """Judge, status, reason and requests of entries, all of one ask."""
    rows = [
        {"row": at, "ask": "claims", "judge": judge, "subject": f"s{at}", "status": status,
         "reason": reason, "requests": requests}
        for at, (judge, status, reason, requests) in enumerate(entries)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LEDGER)


# Who judged -------------------------------------------------------------------------------------


def test_who_judged_has_shares_where_several_did_the_largest_first() -> None:
    found = tally(
        (("claims", "human", "ok"), 1), (("claims", "local", "ok"), 3),
        (("claims", "m", "failed"), 9), (("relevance", "ids", "ok"), 5),
        (("quality", "b", "ok"), 2), (("quality", "a", "ok"), 2), (("response", "m", "failed"), 1),
    ).judges_by_ask()  # fmt: skip
    assert found == {
        "claims": "local 75%+human 25%", "relevance": "ids", "quality": "a 50%+b 50%",
    }  # fmt: skip


def test_a_judge_fills_what_its_word_counts_on_whatever_else_has_its_name_in_it() -> None:
    """A user's own function may be called m, as in human."""
    found = tally(
        (("claims", "m", "ok"), 1), (("quality", "m", "failed"), 3), (("response", "n", "ok"), 1),
        (("relevance", "human", "ok"), 4),
    )  # fmt: skip
    assert found.filled_by(["m"]) == {"claims"}
    assert found.filled_by({"m": (), "n": ()}) == {"claims", "response"}
    assert found.filled_by(()) == frozenset()


CHAT = ChatSettings(
    judges={"m": ["m@1"], "other": ["other@1"]}, plan="bundled",
    prompts={"claims": "7f", "support": "8a", "quality": "9b"}, rubrics="none",
)  # fmt: skip


def signature(judges: dict[str, str], *by_chat: str, metric: str = "faithfulness") -> str:
    made = Provenance("1", "data", judges, "question_id", chat=CHAT, by_chat=by_chat)
    return made.of(parse_metric(metric), "n")


def test_prompts_stand_in_the_signature_of_what_a_chat_model_judged() -> None:
    """Faithfulness rests on claims and their support; of these one is by model."""
    assert "|prompts:claims@7f|plan:bundled|" in signature({"claims": "m"}, "claims")
    both = signature({"claims": "m", "support/claim": "m 80%+human 20%"}, "claims", "support/claim")
    assert "|prompts:claims@7f+support@8a|plan:bundled|" in both
    assert "prompts" not in signature({"claims": "m"}, "claims", metric="exact_match")


# Calls ------------------------------------------------------------------------------------------


def test_before_the_first_call_nothing_is_counted() -> None:
    assert Counts().troubles == {}
    assert not Counts().any_reply


@pytest.mark.parametrize(
    ("known", "paid"),
    [
        ({"answered": 1, "failed": 1}, False),
        ({"answered": 2, "failed": 1}, True),
        ({"answered": 1, "failed": 1, "completion": 5}, True),
        ({"answered": 1, "failed": 1, "prompt": 5}, True),
        ({"calls": 3}, False),
    ],
)
def test_a_reply_that_does_not_read_is_paid_all_the_same(known: Any, paid: bool) -> None:
    assert Counts(**known).any_reply is paid


def test_questions_that_came_to_nothing_are_counted_once_whatever_rested_on_them() -> None:
    """Two entries of one request, one that held a part, one never put, one well, one blocked."""
    found = RunTally()
    found.count_calls(
        ledger(
            ("m", "failed", "m: timeout", ["r1"]), ("m", "failed", "m: timeout", ["r1"]),
            ("m", "ok", "m: not_in_reply", ["r2"]), ("local", "failed", "no_context_text", None),
            ("m", "ok", None, ["r3"]), ("m", "blocked", None, ["r4"]),
        ),
        None,
    )  # fmt: skip
    assert dict(found.failed_calls) == {
        ("m", "failed", "m: timeout"): 1, ("m", "ok", "m: not_in_reply"): 1,
        ("m", "blocked", ""): 1,
    }  # fmt: skip
    assert found.retryable == 2, "what is blocked stays so"


def test_quotes_of_models_are_counted_with_those_that_are_not_there() -> None:
    support = pl.DataFrame(
        {"quote_found": [True, False, None, False], "evidence_unknown": [0, 2, None, 1]}
    )
    found = RunTally()
    found.count_calls(ledger(), support)
    found.count_calls(ledger(), support.head(1))
    assert dict(found.quotes) == {"quotes": 4, "unfound": 2, "unknown": 3}


def test_a_block_adds_its_examples_outcomes_and_pairs() -> None:
    similarities = pl.DataFrame(
        {"measure": ["question_context"] * 3 + ["answer_reference"], "cut": [1, 0, 1, 0]}
    )
    found = RunTally(examples=2)
    found.add(3, ledger(("m", "ok", None, None), ("m", "ok", None, None)), similarities)
    found.add(1, ledger(("m", "failed", "x", None)))
    assert found.examples == 6
    assert dict(found.outcomes) == {("claims", "m", "ok"): 2, ("claims", "m", "failed"): 1}
    assert dict(found.pairs) == {"question_context": 3, "answer_reference": 1}
    assert dict(found.cut) == {"question_context": 2, "answer_reference": 0}


def test_a_folder_without_a_journal_asked_no_model(tmp_path: Path) -> None:
    found = RunTally(served=Counter({("m", "m-1"): 2}))
    found.count_served(tmp_path)
    assert found.served == {("m", "m-1"): 2}


# Remarks ----------------------------------------------------------------------------------------


def codes(found: Any) -> list[str]:
    return [Reason.read(one).code for one in found]


def facts(found: Any) -> dict[str, str]:
    (one,) = found
    return dict(Reason.read(one).facts)


def test_of_a_run_without_models_there_is_nothing_to_remark() -> None:
    assert list(remarks([], ModelNames(), RunTally())) == []
    assert list(of_models(RunTally(), Counts(answered=5))) == []
    assert list(of_clusters("question_id", 9, [])) == []


def test_what_an_encoder_lacks_failed_at_or_cut_is_remarked() -> None:
    opened = ModelNames(encoder="e@01", reads=256, lacking="none", strings="no encoder")
    counted = RunTally(
        pairs=Counter({"question_context": 9, "answer_reference": 4, "bertscore_f1": 7}),
        cut=Counter({"question_context": 2, "answer_reference": 0, "bertscore_f1": 3}),
        unanswered=3,
    )
    found = list(remarks([], opened, counted))
    assert codes(found) == [
        "no_encoder", "similarities_failed", "strings_alone", "texts_cut", "bertscore_cut",
    ]  # fmt: skip
    assert dict(Reason.read(found[3]).facts) == {
        "model": "e", "reads": "256", "cut": "question_context:2:9",
    }  # fmt: skip
    assert dict(Reason.read(found[4]).facts) == {"model": "e", "cut": "3", "pairs": "7"}


@pytest.mark.parametrize(
    ("languages", "told"),
    [
        ({"English": 91, "Thai": 9}, None),
        ({"English": 90, "Thai": 10}, "0.1000=Thai"),
        ({"": 17, "Thai": 83}, "0.8300=Thai"),
        ({"": 95, "Thai": 5}, None),
        ({"German": 150, "Thai": 49, "Dutch": 1}, "0.7500=German\n0.2450=Thai\n0.0050=Dutch"),
        ({"German": 151, "Thai": 49, "Dutch": 1}, "0.7512=German\n0.2438=Thai"),
    ],
)
def test_a_tenth_in_languages_that_are_not_english_is_remarked(
    languages: dict[str, int], told: str | None
) -> None:
    outcomes = Counter({("response", "local:strings", "ok"): 1, ("relevance", "people", "ok"): 1})
    found = list(
        remarks([], ModelNames(), RunTally(languages=Counter(languages), outcomes=outcomes))
    )
    assert codes(found) == ([] if told is None else ["measured_on_english"])
    if found:
        assert facts(found) == {"languages": told, "questions": "False", "by_phrases": "True"}


def test_of_which_languages_no_way_to_abstain_is_known_is_remarked() -> None:
    languages = Counter({"Thai": 5, "Finnish": 3, "Burmese": 2, "another language": 1})
    outcomes = Counter({("response", "local", "ok"): 1})
    found = list(remarks([], ModelNames(), RunTally(languages=languages, outcomes=outcomes)))
    assert facts(found)["dont_know"] == "Finnish"
    assert facts(found)["unheard"] == "Burmese\nanother language"


def judged_in(judge: str, *asks: str) -> RunTally:
    """The tally of a German answer to a Thai question and of one that nobody judged."""
    tally = RunTally()
    rows = [{"ask": ask, "judge": judge, "status": "ok", "example_id": "a"} for ask in asks]
    rows.append({"ask": "claims", "judge": judge, "status": "failed", "example_id": "b"})
    examples = pl.DataFrame(
        {
            "id": ["a", "b"],
            "question": ["สะพานยาว 250 เมตร"] * 2,
            "answer": ["Das ist der Steg."] * 2,
        }
    )
    tally.count_languages(pl.DataFrame(rows), examples)
    return tally


def test_languages_are_those_of_what_the_local_judge_read() -> None:
    assert judged_in("local", "claims", "relevance").languages == {"German": 1}
    assert judged_in("local:strings", "relevance").languages == {"Thai": 1}
    assert judged_in("human", "claims").languages == {}


def test_languages_of_shards_add_up() -> None:
    tally = judged_in("local", "claims")
    tally.join(Counted.model_validate(tally.counted))
    assert tally.languages == {"German": 2}


def test_pairs_that_a_cross_encoder_cut_are_its_own() -> None:
    cross = "answer_reference_cross_encoder"
    counted = RunTally(pairs=Counter({cross: 5}), cut=Counter({cross: 1}))
    opened = ModelNames(encoder="e@01", cross_encoder="c@02")
    (one,) = remarks([], opened, counted)
    assert Reason.read(one).facts == {"model": "c", "cut": "1", "pairs": "5"}


@pytest.mark.parametrize(
    ("encoder", "threshold", "told"),
    [("e@01", None, True), ("builtin:minilm@01", None, False), ("e@01", 0.31, False),
     (None, None, False)],
)  # fmt: skip
def test_a_threshold_of_another_model_is_told_unless_it_is_the_users_own(
    encoder: str | None, threshold: float | None, told: bool
) -> None:
    usual = EmbeddingHallucination()
    metric = usual if threshold is None else replace(usual, threshold=threshold)
    found = remarks([metric], ModelNames(encoder=encoder), RunTally())
    assert codes(found) == (["threshold_of_another_model"] if told else [])


def test_the_most_frequent_reason_stands_for_what_models_left_open() -> None:
    counted = RunTally(
        failed_calls=Counter({("m", "failed", "timeout"): 3, ("m", "blocked", ""): 2,
                              ("n", "ok", "not_in_reply"): 1})
    )  # fmt: skip
    assert facts(of_models(counted, None)) == {
        "n": "6", "again": "4", "why": "timeout", "others": "2",
    }  # fmt: skip
    alone = RunTally(failed_calls=Counter({("m", "blocked", ""): 2}))
    assert facts(of_models(alone, None)) == {
        "n": "2", "again": "0", "why": "blocked", "others": "0",
    }  # fmt: skip


def test_evidence_and_earlier_replies_are_remarked_where_there_are_any() -> None:
    counted = RunTally(quotes=Counter({"quotes": 9, "unfound": 2, "unknown": 1}))
    found = list(of_models(counted, Counts(answered=8, from_journal=1, from_cache=2)))
    assert codes(found) == ["evidence_unknown", "quotes_unfound", "answered_before"]
    assert [dict(Reason.read(one).facts) for one in found] == [
        {"n": "1"}, {"n": "2", "quotes": "9"}, {"answered": "8", "here": "1", "elsewhere": "2"},
    ]  # fmt: skip


def test_a_judge_that_was_several_models_names_each_with_its_replies() -> None:
    served = Counter({("m", "m-1"): 3, ("n", "n-1"): 2, ("m", "m-2"): 1})
    (one,) = of_models(RunTally(served=served), None)
    read = Reason.read(one)
    assert (read.code, read.of, read.facts["models"]) == ("several_models", "m", "m-1=3\nm-2=1")


def test_clusters_that_come_from_fewer_documents_are_told(tmp_path: Path) -> None:
    pairs = {"field": ["doc"] * 8, "cluster": range(8), "value": [1, 2, 3, 3, 3, 3, 3, 3]}
    pl.DataFrame(pairs).write_parquet(tmp_path / "origins.parquet")
    assert facts(of_clusters("question_id", 9, [tmp_path / "origins.parquet"])) == {
        "cluster": "question_id", "clusters": "8", "there": "9", "values": "3", "field": "doc",
    }  # fmt: skip


def estimate(metric: str, value: float | None, low: float | None, clusters: int,
             method: str | None = None, **group: str) -> Estimate:  # fmt: skip
    nothing: dict[str, Any] = dict.fromkeys(Estimate.__dataclass_fields__)
    return Estimate(**nothing | {"metric": metric, "value": value, "low": low, "high": low,
                                 "clusters": clusters, "method": method,
                                 "group": group})  # fmt: skip


def test_means_without_an_interval_and_intervals_of_few_clusters_are_told() -> None:
    """Slices, which may be small, and means that are not there are no matter for a remark."""
    ones = [
        estimate("hit", 0.5, None, 1, system="a"), estimate("mrr", 0.5, None, 1, system="a"),
        estimate("hit", 0.5, 0.1, 9, system="b"), estimate("mrr", 0.5, 0.1, 4, system="b"),
        estimate("f1", 0.5, 0.1, 10), estimate("f1", None, None, 0),
        estimate("hit", 0.5, 0.1, 2, system="b", topic="sea"), estimate("words", 5.0, None, 3),
    ]  # fmt: skip
    alone, alike, few = of_sizes(ones, "question_id")
    assert Reason.read(alike).code == "no_interval_alike"
    assert Reason.read(alike).facts["metric"] == "words"
    assert Reason.read(alone).facts == {
        "metric": "hit", "group": "a", "more": "1", "cluster": "question_id",
    }  # fmt: skip
    assert Reason.read(few).facts == {
        "least": "4", "most": "9", "enough": "10", "cluster": "question_id",
    }  # fmt: skip
    assert list(of_sizes(ones[4:-1], "question_id")) == []


@pytest.mark.parametrize(
    ("method", "clusters", "code"),
    [
        ("bounded_wilson", 9, ["few_clusters"]),
        ("bounded_wilson", 10, ["rare_scores"]),
        ("bounded_wilson", 29, ["rare_scores"]),
        ("bounded_wilson", 30, []),
        ("wilson", 20, []),
        ("cluster_wilson", 20, []),
        ("t", 20, []),
    ],
)
def test_intervals_of_few_scores_in_a_range_are_told(
    method: str, clusters: int, code: list[str]
) -> None:
    ones = [estimate("f1", 0.9, 0.8, clusters, method)]
    assert [Reason.read(one).code for one in of_sizes(ones, "question_id")] == code
