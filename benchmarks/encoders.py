"""The encoders' back ends beside sentence-transformers, and BERTScore beside bert-score.

    python benchmarks/encoders.py [--model FOLDER] [--repeats 5] [--only texts,bertscore]

In each repetition every back end is timed once, each time starting with a different one; other work
on the machine spoils it. Two threads. The ONNX back end needs a folder that holds onnx/model.onnx
beside the safetensors; the peers, torch, sentence-transformers and bert-score, are not in the lock
file.

texts      Embeds sentences and chunks of 150 words, made of the demo data's words. Prints texts a
           second (median, and best), the ratio to sentence-transformers of the same repetition
           (median), and the share of what the processor's matrix product would allow: the time of
           the model's products alone, at their shapes.
bertscore  128 pairs of an answer and a chunk of 150 words, and a grid of 50 answers with 10 chunks.
           bert-score runs as it comes, in its own batches of 64; its numbers are compared too, and
           differ only by what padding does to them. Prints medians and their ratios.
"""

import os
import random
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

os.environ.update({f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL", "RAYON")})

import numpy as np
from measure import demo_words, run

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.judges.similarity import bertscore, bertscore_grid
from ragstone.models import Encoder
from ragstone.models import numpy_bert as bert
from ragstone.models.download import fetch_builtin, to_stderr
from ragstone.models.model_folder import ModelFolder
from ragstone.models.numpy_bert import read_weights

PEER, CEILING = "sentence-transformers", "matrix products alone"
THREADS = int(os.environ["OMP_NUM_THREADS"])
ROWS = 1024
"""Rows of the matrices, about as many as a batch has tokens."""

Runs = Mapping[str, Callable[[], Any]]


def main(model: Path | None = None, repeats: int = 5, only: str = "texts,bertscore") -> None:
    folder = model or fetch_builtin(note=to_stderr).folder
    encoders = back_ends(folder)
    print(f"{encoders['numpy'].about}; {THREADS} threads")
    draw = random.Random(0)

    def text(length: int) -> str:
        return " ".join(draw.choices(demo_words(), k=length))

    if "texts" in only:
        sentences = [text(draw.randint(6, 32)) for _ in range(400)]
        chunks = [text(150) for _ in range(60)]
        for name, texts in (("sentences", sentences), ("chunks of 150 words", chunks)):
            embedded(folder, encoders, name, texts, repeats)
    if "bertscore" in only:
        encoders.pop("torch", None)
        scorer = bert_score(folder, encoders["numpy"])
        print(f"\n{'':16} {'who':12} {'seconds':>8} {'ratio':>6} {'wanted':>7} {'apart':>8}")
        for rows, columns, wanted in ((128, 128, (1.3, 2.5)), (50, 10, (2.5, 2.5))):
            candidates = [text(draw.randint(10, 100)) for _ in range(rows)]
            references = [text(150) for _ in range(columns)]
            scored(encoders, scorer, candidates, references, wanted, repeats)


def back_ends(folder: Path) -> dict[str, Encoder]:
    """Those that are installed, without a cache; a word about the others."""
    encoders: dict[str, Encoder] = {"numpy": bert.load(folder, "numpy")}
    for name, options in (("onnx", {}), ("torch", {"offline": True})):
        try:
            load = import_module(f"ragstone.models.{name}_encoder").load
            encoders[name] = load(str(folder) if options else folder, name, **options)
        except (MissingDependency, ModelError, ModuleNotFoundError) as error:
            print(f"without {name}: {error}")
    return encoders


def in_turns(runs: Runs, repeats: int) -> dict[str, list[float]]:
    """Seconds of each, everybody once a repetition; the first one is not counted."""
    names = list(runs)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(-1, repeats):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.perf_counter()
            runs[name]()
            seconds[name].append(time.perf_counter() - start)
    return {name: taken[1:] for name, taken in seconds.items()}


def embedded(
    folder: Path, encoders: Mapping[str, Encoder], corpus: str, texts: list[str], repeats: int
) -> None:
    runs: dict[str, Callable[[], Any]] = {CEILING: products(folder)}
    for name, encoder in encoders.items():
        runs[name] = lambda encoder=encoder: encoder.embed(texts)  # type: ignore[misc]
    try:
        import_module("torch").set_num_threads(THREADS)
        import_module("transformers.utils.logging").disable_progress_bar()
        model = import_module("sentence_transformers").SentenceTransformer(
            str(folder), device="cpu", local_files_only=True
        )
    except ModuleNotFoundError as error:
        print(f"without {PEER}: {error}")
    else:
        model.float()
        runs[PEER] = lambda: model.encode(texts, show_progress_bar=False)
    seconds = in_turns(runs, repeats)
    count, opened = len(texts), ModelFolder.read(folder)
    tokens = sum(len(ids) for ids in opened.tokenizer.ids(texts, opened.max_tokens))
    most = count * ROWS / (min(seconds.pop(CEILING)) * tokens)
    print(f"\n{count} {corpus}, {tokens / count:.0f} tokens each on average")
    print(f"{'':24}{'a second':>10}{'best':>8}{'beside the peer':>18}{'of the ceiling':>17}")
    peer = seconds.get(PEER)
    for name, taken in seconds.items():
        ratio = f"{median(np.divide(peer, taken)):.2f}" if peer else "–"
        best = count / min(taken)
        print(f"{name:24}{count / median(taken):10.1f}{best:8.1f}{ratio:>18}{best / most:17.0%}")
    print(f"{CEILING:24}{'':10}{most:8.1f}")


def products(folder: Path) -> Callable[[], None]:
    """The model's matrix products alone, for as many tokens as the matrices have rows."""
    model = ModelFolder.read(folder)
    weights = read_weights(model.inside / "model.safetensors", model.config)
    wide, inner = weights.hidden, len(weights.layers[0].inner.bias)
    shapes = [(wide, 3 * wide), (wide, wide), (wide, inner), (inner, wide)]
    draw = np.random.default_rng(0)
    operands = [
        (
            draw.random((ROWS, columns), np.float32),
            draw.random((results, columns), np.float32),
            np.empty((ROWS, results), np.float32),
        )
        for columns, results in shapes
    ]

    def multiply() -> None:
        for _ in range(len(weights.layers)):
            for left, right, result in operands:
                np.matmul(left, right.T, out=result)

    return multiply


def bert_score(folder: Path, encoder: Encoder) -> Any:
    """bert-score's scorer of the same model, in 32 bits."""
    import_module("torch").set_num_threads(THREADS)
    scorer = import_module("bert_score").BERTScorer(
        model_type=str(folder), num_layers=encoder.layers, device="cpu", nthreads=0
    )
    scorer._model.float()
    return scorer


def scored(
    encoders: Mapping[str, Encoder],
    scorer: Any,
    candidates: list[str],
    references: list[str],
    wanted: tuple[float, float],
    repeats: int,
) -> None:
    """Pairs of texts, or a grid where there are fewer references."""
    pairs, name, score = (candidates, references), f"{len(candidates)} pairs", bertscore
    if len(references) < len(candidates):
        pairs = ([text for text in candidates for _ in references], references * len(candidates))
        name, score = f"{len(candidates)} x {len(references)} grid", bertscore_grid
    runs: dict[str, Callable[[], Any]] = {"bert-score": lambda: scorer.score(*pairs)[2].numpy()}
    for back_end, encoder in encoders.items():
        runs[back_end] = lambda encoder=encoder: (  # type: ignore[misc]
            score(encoder, candidates, references).f1.ravel()
        )
    expected = runs["bert-score"]()
    seconds = {who: median(taken) for who, taken in in_turns(runs, repeats).items()}
    print(f"{name:16} {'bert-score':12} {seconds['bert-score']:8.3f}")
    for back_end, limit in zip(encoders, wanted, strict=False):
        ratio = seconds["bert-score"] / seconds[back_end]
        apart = float(np.abs(runs[back_end]() - expected).max())
        print(f"{'':16} {back_end:12} {seconds[back_end]:8.3f} {ratio:6.2f} "
              f"{limit:7.1f} {apart:8.0e}", flush=True)  # fmt: skip


if __name__ == "__main__":
    run(main)
