"""The numbers of bert-score 0.3.13 with batch_size=1, in every mode."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.judges.similarity import (
    Baseline,
    bertscore,
    bertscore_grid,
    count_documents,
    read_baseline,
)
from ragstone.models import Encoder
from ragstone.models.numpy_bert import load
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip

pytestmark = pytest.mark.torch

WHY = "bert-score and torch are not in the lock file: pip install torch bert-score==0.3.13"

CANDIDATES = (
    "The bridge opened in 1932.",
    "  the harbour was built in 1834\n",
    "Who closed the old [SEP] mine?",
    "tin copper tin copper " * 40,
    "the red tower",
    "naïve Čapek 東京 …",
)
REFERENCES = (
    "A bridge in the harbour opened 1932",
    "The old harbour is of 1834, when the chapel was built.",
    "the keeper closed the tin mine",
    "copper of the mine " * 30,
    "the red tower",
    "the river",
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("tiny"), layers=3, max_tokens=64)


@pytest.fixture(scope="module")
def baseline_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("baseline") / "tiny.tsv"
    lines = [f"{layer},0.{3 + layer}1,0.{3 + layer}2,0.{3 + layer}15" for layer in range(7)]
    path.write_text("\n".join(["LAYER,P,R,F", *lines]) + "\n", encoding="utf-8")
    return path


def theirs(
    folder: Path,
    layer: int,
    *,
    idf: bool,
    baseline: Path | None,
    candidates: Sequence[str] = CANDIDATES,
    references: Sequence[str] = REFERENCES,
) -> Any:
    bert_score = import_or_skip("bert_score", reason=WHY)
    scorer = bert_score.BERTScorer(
        model_type=str(folder),
        num_layers=layer,
        idf=idf,
        idf_sents=list(references) if idf else None,
        nthreads=0,
        device="cpu",
        lang="en",
        rescale_with_baseline=baseline is not None,
        baseline_path=None if baseline is None else str(baseline),
    )
    scorer._model.float()
    scores = scorer.score(list(candidates), list(references), batch_size=1)
    return [column.numpy() for column in scores]


def ours(encoder: Encoder, layer: int, *, idf: bool, baseline: Baseline | None) -> Any:
    weights = count_documents(encoder, REFERENCES) if idf else None
    pairs, grid = (
        score(encoder, CANDIDATES, REFERENCES, layer=layer, idf=weights, baseline=baseline)
        for score in (bertscore, bertscore_grid)
    )
    for name, chance in zip(("precision", "recall", "f1"), baseline or (0, 0, 0), strict=True):
        diagonal = np.diagonal(getattr(grid, name))
        stretch = 1 / (1 - chance)
        assert diagonal == pytest.approx(getattr(pairs, name), abs=1e-6 * stretch)
    return [pairs.precision, pairs.recall, pairs.f1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("idf", [False, True], ids=["plain", "idf"])
@pytest.mark.parametrize("rescaled", [False, True], ids=["raw", "rescaled"])
@pytest.mark.parametrize("layer", [1, 3])
def test_a_tiny_model_gives_their_numbers(
    tiny: Path, baseline_file: Path, layer: int, rescaled: bool, idf: bool
) -> None:
    file = baseline_file if rescaled else None
    expected = theirs(tiny, layer, idf=idf, baseline=file)
    baseline = None if file is None else read_baseline(file, layer)
    found = ours(load(tiny, "tiny"), layer, idf=idf, baseline=baseline)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("layer", "rescaled", "idf"), [(2, True, True), (6, False, False)])
def test_minilm_gives_their_numbers(
    minilm: Path, baseline_file: Path, layer: int, rescaled: bool, idf: bool
) -> None:
    file = baseline_file if rescaled else None
    expected = theirs(minilm, layer, idf=idf, baseline=file)
    baseline = None if file is None else read_baseline(file, layer)
    found = ours(load(minilm, "minilm"), layer, idf=idf, baseline=baseline)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_with_one_reference_their_idf_gives_no_number_and_ours_does(tiny: Path) -> None:
    text = ["the bridge opened"]
    expected = theirs(tiny, 3, idf=True, baseline=None, candidates=text, references=text)
    assert all(np.isnan(column).all() or not column.any() for column in expected)
    encoder = load(tiny, "tiny")
    found = bertscore(encoder, text, text, idf=count_documents(encoder, text))
    assert found.f1 == pytest.approx([1])
