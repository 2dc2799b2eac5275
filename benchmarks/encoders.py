"""The back ends of the encoders beside sentence-transformers, in one run.

    python benchmarks/encoders.py [--model FOLDER] [--threads 2] [--repeats 7]

Embeds sentences and chunks of 150 words, made of the demo data's words, with each back end that is
installed and with sentence-transformers itself, one after the other in every repetition, and
prints texts a second (median, and best), the ratio to sentence-transformers of the same repetition
(median), and the share of what the processor's matrix product would allow: the time of the model's
products alone, at their shapes, measured in the same repetitions. Other work on the machine spoils
it.
The ONNX back end needs a folder that holds onnx/model.onnx beside the safetensors.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import median

import numpy as np

import ragstone
from ragstone.core.errors import MissingDependency, ModelError
from ragstone.models import download as builtin
from ragstone.models import numpy_bert as bert
from ragstone.models.download import to_stderr
from ragstone.models.encoder import Encoder
from ragstone.models.model_folder import ModelFolder
from ragstone.models.numpy_bert import read_weights

DATA = Path(__file__).parents[1] / "src" / "ragstone" / "data" / "cornwall.jsonl"
PEER = "sentence-transformers"
ROWS = 1024
"""Rows of the matrices, about as many as a batch has tokens."""

MEASURED = "RAGSTONE_MEASURED"
Embed = Callable[[list[str]], object]


@dataclass
class Measured:
    """Seconds of each repetition."""

    texts: list[str]
    tokens: int
    seconds: dict[str, list[float]] = field(default_factory=dict)


def corpora(sentences: int, chunks: int) -> dict[str, list[str]]:
    """Texts of the demo data's words in another order, the same in every run."""
    draw = random.Random(0)
    words = [
        word
        for example in ragstone.read(DATA)
        for context in example.contexts or ()
        for word in (context.text or "").split()
    ]
    return {
        "sentences": [
            " ".join(draw.choices(words, k=draw.randint(6, 32))) for _ in range(sentences)
        ],
        "chunks of 150 words": [" ".join(draw.choices(words, k=150)) for _ in range(chunks)],
    }


def encoders(folder: Path, threads: int) -> dict[str, Embed]:
    """What can embed here; a word about what cannot."""
    numpy = bert.load(folder, "numpy")
    print(f"{numpy.about}; {threads} threads")
    found: dict[str, Embed] = {"numpy": numpy.embed}
    loads: Mapping[str, Callable[[], Encoder]] = {
        "onnx": lambda: import_module("ragstone.models.onnx_encoder").load(folder, "onnx"),
        "torch": lambda: import_module("ragstone.models.torch_encoder").load(
            str(folder), "torch", offline=True
        ),
    }
    for name, load in loads.items():
        try:
            found[name] = load().embed
        except (MissingDependency, ModelError, ModuleNotFoundError) as error:
            print(f"without {name}: {error}")
    try:
        import_module("torch").set_num_threads(threads)
        import_module("transformers.utils.logging").disable_progress_bar()
        model = import_module("sentence_transformers").SentenceTransformer(
            str(folder), device="cpu", local_files_only=True
        )
    except ModuleNotFoundError as error:
        print(f"without {PEER}: {error}")
    else:
        model.float()
        found[PEER] = lambda texts: model.encode(texts, show_progress_bar=False)
    return found


def product(folder: Path) -> Callable[[], float]:
    """Measures the seconds that the model's matrix products alone need for a token."""
    model = ModelFolder.read(folder)
    weights = read_weights(model.inside / "model.safetensors", model.config)
    wide, inner = weights.hidden, len(weights.layers[0].inner.bias)
    shapes = [(wide, 3 * wide), (wide, wide), (wide, inner), (inner, wide)]
    draw = np.random.default_rng(0)
    operands = [
        (
            draw.random((ROWS, given), np.float32),
            draw.random((made, given), np.float32),
            np.empty((ROWS, made), np.float32),
        )
        for given, made in shapes
    ]

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(len(weights.layers)):
            for left, right, result in operands:
                np.matmul(left, right.T, out=result)
        return (time.perf_counter() - start) / ROWS

    return measure


def run(folder: Path, threads: int, repeats: int) -> None:
    found = encoders(folder, threads)
    tokenizer = ModelFolder.read(folder).tokenizer
    limit = ModelFolder.read(folder).max_tokens
    results = {
        name: Measured(texts, sum(len(ids) for ids in tokenizer.ids(texts, limit)))
        for name, texts in corpora(400, 60).items()
    }
    products = product(folder)
    ceiling: list[float] = []
    for repeat in range(-1, repeats):
        for measured in results.values():
            for name, embed in found.items():
                start = time.perf_counter()
                embed(measured.texts)
                if repeat >= 0:
                    measured.seconds.setdefault(name, []).append(time.perf_counter() - start)
            ceiling.append(min(products() for _ in range(5)))
    for corpus, measured in results.items():
        report(corpus, measured, min(ceiling))


def report(corpus: str, measured: Measured, token: float) -> None:
    count = len(measured.texts)
    most = count / (token * measured.tokens)
    print(f"\n{count} {corpus}, {measured.tokens / count:.0f} tokens each on average")
    print(f"{'':24}{'a second':>10}{'best':>8}{'beside the peer':>18}{'of the ceiling':>17}")
    peer = measured.seconds.get(PEER)
    for name, seconds in measured.seconds.items():
        ratio = "–"
        if peer:
            ratio = f"{median(t / s for t, s in zip(peer, seconds, strict=True)):.2f}"
        best = count / min(seconds)
        print(f"{name:24}{count / median(seconds):10.1f}{best:8.1f}{ratio:>18}{best / most:17.0%}")
    print(f"{'matrix products alone':24}{'':10}{most:8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="a folder; without it builtin:minilm")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    if MEASURED not in os.environ:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        limits = dict.fromkeys(names, str(given.threads))
        own = {MEASURED: "yes", "RAYON_NUM_THREADS": str(given.threads)}
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | limits | own)
    folder: Path = given.model or builtin.fetch_builtin(note=to_stderr).folder
    run(folder, given.threads, given.repeats)


if __name__ == "__main__":
    main()
