"""Encoder and cross-encoder of a run: when they are opened, and what the run says of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone import evaluate, evaluate_one, rescore
from ragstone.core.errors import InputError, ModelError, RunConflict, UnknownName
from ragstone.core.messages import in_python
from ragstone.judges.similarity import bertscore, count_documents
from ragstone.models import open_encoder
from ragstone.models.download import PLACE
from ragstone.models.model_store import Origin, keep, models_folder
from ragstone.report.reason_words import words
from ragstone.run import Estimate, Run
from ragstone.testing import ScriptedEncoder, tiny_bert
from tests.availability import import_or_skip

pytestmark = pytest.mark.torch

PLANE = {"Long?": (1, 0), "It is long.": (1, 0), "It is short.": (0, 1), "Both.": (1, 1)}
EMBEDDING = (
    "embedding_context_relevance",
    "embedding_context_sufficiency",
    "embedding_answer_relevance",
    "semantic_similarity",
    "embedding_hallucination",
)


def plane(**options: Any) -> ScriptedEncoder:
    return ScriptedEncoder(PLANE, dimensions=2, **options)


def rows() -> list[dict[str, Any]]:
    return [
        {
            "id": str(number),
            "question": "Long?",
            "contexts": ["It is long.", "It is short."],
            "answer": answer,
            "reference": "It is long.",
        }
        for number, answer in enumerate(["It is long.", "It is short.", "Both."])
    ]


def one(run: Run, metric: str) -> Estimate:
    return next(e for e in run.estimate_list if e.metric == metric and not e.group)


def test_the_suite_for_embeddings_is_complete_without_an_llm() -> None:
    run = evaluate(rows(), suites="embedding", embedder=plane(), judge="rules")
    assert run.exit_status == 0
    values = {name: one(run, name).value for name in EMBEDDING}
    assert list(run.manifest["metrics"]) == list(EMBEDDING)
    assert values == {
        "embedding_context_relevance": 0.5,
        "embedding_context_sufficiency": 0.5,
        "embedding_answer_relevance": pytest.approx((1 + 0 + 0.707107) / 3),
        "semantic_similarity": pytest.approx((1 + 0 + 0.707107) / 3),
        "embedding_hallucination": 0,
    }


def test_the_run_says_what_it_compared_with() -> None:
    encoder = plane()
    run = evaluate(
        rows(),
        metrics=["semantic_similarity", "bertscore_f1"],
        embedder=encoder,
        bertscore="layer=1",
    )
    assert run.manifest["models"]["encoder"] == f"scripted@{encoder.fingerprint}"
    assert run.manifest["models"]["bertscore"] == "layer 1"
    assert f"encoder:scripted@{encoder.fingerprint[:12]}" in run.signature
    assert "bertscore:layer 1" in one(run, "bertscore_f1").signature
    assert "bertscore" not in one(run, "semantic_similarity").signature
    assert {"name": "scripted", "about": encoder.about, "kinds": ["similarity"]} in list(
        run.manifest["judges"]
    )
    assert run.judgements("similarity")["judge"].unique().to_list() == ["scripted"]


def test_bertscore_comes_from_a_model_of_its_own_beside_a_server(tmp_path: Path) -> None:
    """A server gives no token vectors; a folder does."""
    import_or_skip("sentence_transformers", reason="needs the extra torch")
    folder = tiny_bert(tmp_path / "bert")
    run = evaluate(
        rows(),
        metrics=["semantic_similarity", "bertscore_f1"],
        embedder=plane(layers=0, longest=0),
        bertscore=f"model={folder},layer=1",
        out=tmp_path / "run",
    )
    assert one(run, "semantic_similarity").value == pytest.approx((1 + 0 + 0.707107) / 3)
    assert one(run, "bertscore_f1").n == 3
    matched = open_encoder(str(folder))
    answers = ["It is long.", "It is short.", "Both."]
    expected = bertscore(matched, answers, ["It is long."] * 3, layer=1).f1.mean()
    assert one(run, "bertscore_f1").value == pytest.approx(expected)
    assert f"bertscore:model {matched.name}@" in one(run, "bertscore_f1").signature


def test_bertscore_alone_needs_no_other_encoder(tmp_path: Path) -> None:
    import_or_skip("sentence_transformers", reason="needs the extra torch")
    folder = tiny_bert(tmp_path / "bert")
    run = evaluate(rows(), metrics="bertscore_f1", bertscore=f"model={folder}", offline=True,
                   judge="rules", out=tmp_path / "run")  # fmt: skip
    assert one(run, "bertscore_f1").n == 3


def test_another_encoder_or_another_bertscore_is_another_run(tmp_path: Path) -> None:
    given: dict[str, Any] = {"metrics": "bertscore_f1", "out": tmp_path / "run"}
    evaluate(rows(), embedder=plane(), **given)
    assert evaluate(rows(), embedder=plane(), **given).path == tmp_path / "run"
    with pytest.raises(RunConflict, match="encoder"):
        evaluate(rows(), embedder=plane(max_tokens=9), **given)
    with pytest.raises(RunConflict, match="bertscore"):
        evaluate(rows(), embedder=plane(), bertscore="layer=1", **given)


def test_without_the_default_encoder_what_needs_it_is_missing_and_the_rest_is_there() -> None:
    run = evaluate(rows(), metrics=["semantic_similarity", "token_f1"], offline=True)
    assert one(run, "token_f1").n == 3
    missing = one(run, "semantic_similarity")
    assert (missing.n, missing.n_missing) == (0, 3)
    assert "ragstone[local]" in words(next(iter(missing.reasons)))
    assert run.exit_status == 4
    (remark,) = map(words, run.manifest["remarks"])
    assert "offline" in remark
    assert "models pull" in remark


@pytest.mark.parametrize("metrics", [["token_f1"], ["answer_relevance"], []])
def test_an_encoder_is_opened_only_where_somebody_needs_it(metrics: list[str]) -> None:
    run = evaluate(rows(), metrics=metrics)
    assert run.manifest["models"]["encoder"] is None
    assert run.manifest["models"]["lacking"] is None


def test_an_encoder_that_is_named_must_open(tmp_path: Path) -> None:
    for name, error in (
        ("no-such-encoder", UnknownName),
        (str(tmp_path / "nowhere"), ModelError),
        ("builtin:minilm", ModelError),
    ):
        with pytest.raises(error):
            evaluate(rows(), metrics="token_f1", embedder=name, offline=True, out=tmp_path / "run")
    with pytest.raises(ModelError):
        evaluate(rows(), metrics="token_f1", cross_encoder=f"onnx:{tmp_path}",
                 out=tmp_path / "run")  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_a_mistake_in_the_settings_of_bertscore_is_told_at_once(tmp_path: Path) -> None:
    for settings, error in (("layer=99", ModelError), ("rescale", InputError), ("x", InputError)):
        with pytest.raises(error):
            evaluate(rows(), metrics="bertscore_f1", embedder=plane(), bertscore=settings,
                     out=tmp_path / "run")  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_what_the_encoder_does_not_answer_is_missing_and_the_rest_is_there() -> None:
    run = evaluate(
        rows(),
        metrics=["semantic_similarity", "embedding_context_relevance"],
        embedder=plane(silent_on=["Both."]),
    )
    assert one(run, "embedding_context_relevance").n == 3
    assert one(run, "semantic_similarity").reasons == {"no_answer?said=scripted+did+not+answer.": 1}
    assert one(run, "semantic_similarity").n == 2
    failed = run.ledger().filter(status="failed")
    assert failed["reason"].unique().to_list() == ["no_answer?said=scripted+did+not+answer."]


def test_similarities_that_failed_are_asked_again_and_nothing_else_is(tmp_path: Path) -> None:
    given = [*rows(), {**rows()[0], "id": "3", "contexts": None, "retrieved_ids": ["7"]}]
    names = ["token_f1", "semantic_similarity", "embedding_context_relevance", "bertscore_f1"]
    out = tmp_path / "run"
    silent = plane(silent_on=["Both."])
    before = evaluate(given, metrics=names, embedder=silent, out=out)
    assert one(before, "semantic_similarity").n_missing == 1
    told = [in_python(words(remark)) for remark in before.manifest["remarks"]]
    assert any("rescore(run=RUN) asks" in one for one in told)
    still = rescore(out, embedder=silent)
    assert one(still, "semantic_similarity").n == one(before, "semantic_similarity").n
    assert sorted(still.ledger().rows()) == sorted(before.ledger().rows())
    encoder = plane()
    run = rescore(out, embedder=encoder)
    fresh = evaluate(given, metrics=names, embedder=plane())
    assert sorted(encoder.asked) == ["Both.", "It is long."]
    for name in names:
        assert one(run, name).value == one(fresh, name).value
        assert one(run, name).n == one(fresh, name).n
    for key in ("judged", "compared", "remarks", "models"):
        assert run.manifest[key] == fresh.manifest[key]
    assert sorted(run.ledger().rows()) == sorted(fresh.ledger().rows())
    assert sorted(run.judgements("similarity").rows()) == sorted(
        fresh.judgements("similarity").rows()
    )
    with pytest.raises(InputError, match="No similarity is left"):
        rescore(out, embedder=plane())


def test_failures_whose_encoder_cannot_be_opened_stay_as_they_are(tmp_path: Path) -> None:
    out = tmp_path / "run"
    silent = plane(silent_on=["Both."])
    before = evaluate(rows(), metrics="semantic_similarity", embedder=silent, out=out)
    run = rescore(out, by="system")
    assert one(run, "semantic_similarity").n_missing == 3
    assert run.manifest["judged"] == before.manifest["judged"]
    assert run.manifest["remarks"] == before.manifest["remarks"]
    with pytest.raises(UnknownName, match="scripted"):
        rescore(out)


def test_settings_of_bertscore_without_any_to_compute_are_an_error(tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(rows(), metrics="bertscore_f1", embedder=plane(), out=out)
    with pytest.raises(InputError, match="no BERTScore to compute"):
        rescore(out, metrics="token_f1", bertscore="layer=1")


def test_a_built_in_that_is_damaged_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path))
    row = {"question": "When?", "answer": "It opened in 1859.", "contexts": ["Opened 1859."]}
    given: dict[str, Any] = {"metrics": "expected_faithfulness", "judge": "local"}
    assert evaluate([row], **given).manifest["remarks"] == []
    tiny_bert(models_folder() / PLACE)
    origin = Origin("builtin:minilm", "", "", "", "", "safetensors")
    stored = keep(PLACE, origin, ["model.safetensors"])
    (stored.folder / "model.safetensors").write_bytes(b"")
    (remark,) = map(words, evaluate([row], **given).manifest["remarks"])
    assert remark.startswith("local judged by strings alone: The stored model builtin:minilm is")


def test_texts_that_were_cut_are_counted_and_told() -> None:
    long = "It is long. " * 9
    given = [{**row, "contexts": [long, "It is short."]} for row in rows()]
    encoder = plane(max_tokens=12, longest=12)
    names = ["embedding_context_relevance", "bertscore_f1"]
    run = evaluate(given, metrics=names, embedder=encoder)
    assert run.manifest["compared"]["question_context"] == {"pairs": 2, "cut": 1}
    assert run.manifest["compared"]["bertscore_f1"] == {"pairs": 3, "cut": 0}
    (remark,) = map(words, run.manifest["remarks"])
    assert "scripted reads 12 tokens" in remark
    assert "1 of 2 pairs of question and context" in remark
    assert "windows=True" in remark


def test_a_model_is_told_with_its_revision() -> None:
    encoder = plane(name="org/name@v2")
    run = evaluate(rows(), metrics="embedding_context_sufficiency", embedder=encoder)
    (remark,) = map(words, run.manifest["remarks"])
    assert "not for org/name@v2;" in remark


def test_a_threshold_that_was_set_for_another_model_is_told() -> None:
    names = ["embedding_context_sufficiency", "embedding_hallucination(threshold=0.7)"]
    run = evaluate(rows(), metrics=names, embedder=plane())
    (remark,) = map(words, run.manifest["remarks"])
    assert remark.startswith("embedding_context_sufficiency: the threshold was set for all-MiniLM")
    run = evaluate(rows(), metrics=names, embedder=plane(name="builtin:minilm"))
    assert run.manifest["remarks"] == []


def test_idf_is_counted_over_all_references_before_the_first_block() -> None:
    given = [{**row, "reference": f"It is {number} long."} for number, row in enumerate(rows())]
    encoder = ScriptedEncoder()
    run = evaluate(iter(given), metrics="bertscore_f1", embedder=encoder, bertscore="idf")
    references = [row["reference"] for row in given]
    expected = bertscore(
        encoder,
        [row["answer"] for row in given],
        references,
        idf=count_documents(encoder, references),
    )
    assert run.scores()["value"].to_list() == pytest.approx(expected.f1, abs=1e-6)
    assert "idf of 3 references" in run.signature


def test_correctness_has_its_part_of_similarity() -> None:
    labelled = [
        {
            **rows()[2],
            "labels": {
                "claims": [{"text": "Both.", "agreement": "matches"}],
                "statements": [{"text": "long", "agreement": "missing"}],
            },
        }
    ]
    run = evaluate(labelled, metrics="answer_correctness", embedder=plane(), judge="human")
    assert one(run, "answer_correctness").value == pytest.approx(0.25 * 0.707107)


class Same:
    """A cross-encoder: 1 for equal texts."""

    name, about, fingerprint = "same", "equal texts", "1" * 32
    labels, max_tokens = ("same",), 99

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.array([[one == other] for one, other in pairs], dtype=np.float32)

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        return np.full(len(pairs), 5, dtype=np.int32)


def test_a_cross_encoder_fills_what_has_its_name() -> None:
    name = "semantic_similarity_cross_encoder"
    run = evaluate(rows(), metrics=name, cross_encoder=Same())
    assert one(run, name).value == pytest.approx(1 / 3)
    assert f"cross_encoder:same@{'1' * 12}" in one(run, name).signature
    assert run.manifest["models"]["encoder"] is None


def test_the_ragas_suite_has_the_similarity_of_a_cross_encoder_that_is_given() -> None:
    name = "semantic_similarity_cross_encoder"
    asked: dict[str, Any] = {"suites": "ragas", "embedder": plane()}
    with_it = evaluate(rows(), cross_encoder=Same(), **asked)
    assert with_it.form.metrics == [*evaluate(rows(), **asked).form.metrics, name]
    assert one(with_it, name).value == pytest.approx(1 / 3)
    assert name in evaluate_one(**rows()[0], suite="ragas", cross_encoder=Same(), offline=True)


def test_similarities_can_be_added_to_a_finished_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(rows(), metrics="token_f1", out=out)
    run = rescore(out, suites="embedding", embedder=plane())
    fresh = evaluate(rows(), metrics="token_f1", suites="embedding", embedder=plane())
    for name in ("token_f1", *EMBEDDING):
        assert one(run, name).value == one(fresh, name).value
        assert one(run, name).n == 3
    assert run.manifest["models"]["encoder"] == fresh.manifest["models"]["encoder"]
    assert run.manifest["compared"] == fresh.manifest["compared"]
    same = run.judgements("similarity").equals(fresh.judgements("similarity"))
    assert same or sorted(run.judgements("similarity").rows()) == sorted(
        fresh.judgements("similarity").rows()
    )
    again = evaluate(rows(), metrics="token_f1", out=out)
    assert one(again, "semantic_similarity").n == 3


def test_similarities_that_are_there_are_not_computed_again(tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(rows(), metrics="semantic_similarity", embedder=plane(), out=out)
    encoder = plane()
    run = rescore(out, metrics=["answer_correctness", "semantic_similarity"], embedder=encoder)
    assert encoder.asked == []
    assert one(run, "semantic_similarity").n == 3
    run = rescore(out, metrics="embedding_context_relevance", embedder=encoder)
    assert sorted(encoder.asked) == ["It is long.", "It is short.", "Long?"]
    assert one(run, "semantic_similarity").n == one(run, "embedding_context_relevance").n == 3
    assert run.judgements("similarity").height == 3 + 6


def test_another_encoder_cannot_join_a_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(rows(), metrics="semantic_similarity", embedder=plane(), out=out)
    with pytest.raises(RunConflict, match="encoder: there scripted@"):
        rescore(out, metrics="embedding_context_relevance", embedder=plane(max_tokens=5))
    assert [e.metric for e in Run.open(out).estimate_list if not e.group] == ["semantic_similarity"]


def test_without_an_encoder_new_similarities_are_missing(tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(rows(), metrics="token_f1", out=out)
    run = rescore(out, metrics="semantic_similarity", offline=True)
    assert one(run, "semantic_similarity").n_missing == 3
    run = rescore(out, by="system", embedder=plane())
    assert one(run, "semantic_similarity").n == 3


def test_a_stopped_run_goes_on_with_its_counts(tmp_path: Path) -> None:
    given = [{**rows()[0], "id": str(number)} for number in range(1_001)]
    given[-1] |= {"contexts": ["It is long. " * 9]}
    options: dict[str, Any] = {
        "metrics": "embedding_context_relevance",
        "embedder": plane(max_tokens=12),
        "out": tmp_path / "run",
    }

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(given, progress=stop, **options)
    run = evaluate(given, **options)
    assert run.manifest["compared"]["question_context"] == {"pairs": 3, "cut": 1}


def test_the_local_judge_says_by_what_it_judged(
    tmp_path: Path, minilm_by_name: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert minilm_by_name.is_dir()
    rows = [{"question": "When?", "answer": "It opened in 1859.", "contexts": ["Opened 1859."]}]
    metric = "expected_faithfulness"
    aligned = evaluate(rows, metrics=metric, judge="local", out=tmp_path / "aligned")
    strings = evaluate(rows, metrics=metric, judge="local:strings", out=tmp_path / "strings")
    [support] = aligned.judgements("support").to_dicts()
    assert "aligned" in support["reason"]
    assert "builtin:minilm" in aligned.manifest["judges"][0]["about"]
    [support] = strings.judgements("support").to_dicts()
    assert "aligned" not in support["reason"]
    assert support["judge"] == "local:strings"
    assert aligned.manifest["signature"] != strings.manifest["signature"]
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "empty"))
    with pytest.raises(RunConflict):
        evaluate(rows, metrics=metric, judge="local", out=tmp_path / "aligned")


def test_an_nli_model_judges_support_and_is_in_the_signature(tmp_path: Path) -> None:
    import_or_skip("sentence_transformers", reason="needs the extra torch")
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    model = tiny_bert(tmp_path / "nli", head=3, id2label=labels)
    rows = [{"question": "When?", "answer": "It opened in 1932.", "contexts": ["Opened 1932."]}]
    run = evaluate(
        rows,
        metrics="expected_faithfulness",
        judge=[f"nli:{model}", "local:strings"],
        out=tmp_path / "run",
    )
    [support] = run.judgements("support").to_dicts()
    assert support["judge"] == f"nli:{model}"
    assert f"nli:{model}@" in run.manifest["signature"]
