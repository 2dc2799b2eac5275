"""How long the local judge takes, beside the encoder it uses.

    python benchmarks/local_judge_speed.py [--data ../shared/data] [--repeats 15]

An answer of 5 sentences against 5 contexts of 150 words, made of the demo data's words: with the
contexts' vectors at hand, as after a first answer; and without, beside the time of the encoder
alone on the same texts, in the same run. Then the 249 rows of MTRAG with every local metric, each
time in a process and with a cache of its own: cold, and again with what the first one kept. At the
end the import and the memory of the NumPy stack. Medians; two threads.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")

import ragstone
from ragstone.data import cornwall
from ragstone.judges.local.aligner import Aligner, AlignmentInput
from ragstone.judges.local.claim_support import Alignment, support
from ragstone.judges.local.claims_and_evidence import Passages
from ragstone.models import BUILTIN, Encoder, pull
from ragstone.models.numpy_bert import load

SENTENCES, CONTEXTS, WORDS = 5, 5, 150
SUITES = ["--suite", "embedding", "--suite", "quick", "-m", "bertscore_f1", "-m",
          "answer_correctness", "-m", "reference_similarity_max", "--by", "system"]  # fmt: skip
STACK = """
import resource, sys, time
started = time.perf_counter()
import ragstone.models.numpy_bert
import tokenizers, safetensors
imported = time.perf_counter() - started
from pathlib import Path
encoder = ragstone.models.numpy_bert.load(Path(sys.argv[1]), "model")
encoder.embed(["The bridge was opened in 1859."] * 8 + ["word " * 200] * 8)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{imported:.2f} s import, {peak:.0f} MB peak with the model loaded and used")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    folder = the_model()
    an_answer(load(folder, BUILTIN), arguments.repeats)
    answers = arguments.data / "rag_quality_mtrag/answers.jsonl.gz"
    if answers.is_file():
        whole_runs(answers)
    else:
        print(f"MTRAG is not in {arguments.data}: left out")
    told = subprocess.run(
        [sys.executable, "-c", STACK, str(folder)], check=True, capture_output=True, text=True
    )
    print(f"NumPy stack: {told.stdout.strip()}")


def the_model() -> Path:
    """The built-in encoder's folder, fetched where it is not there."""
    return pull(BUILTIN).folder


def an_answer(encoder: Encoder, repeats: int) -> None:
    text = texts()
    contexts = tuple(text(WORDS) for _ in range(CONTEXTS))
    judge = Judge(encoder, contexts)
    judge(tuple(text(15) for _ in range(SENTENCES)))
    warm, outside, cold, alone = [], [], [], []
    for _ in range(repeats):
        propositions = tuple(text(15) for _ in range(SENTENCES))
        begun = time.perf_counter()
        judge(propositions)
        warm.append(time.perf_counter() - begun)
        judge.encoder.remember(propositions)
        begun = time.perf_counter()
        judge(propositions)
        outside.append(time.perf_counter() - begun)
        fresh = tuple(text(WORDS) for _ in range(CONTEXTS))
        propositions = tuple(text(15) for _ in range(SENTENCES))
        begun = time.perf_counter()
        Judge(encoder, fresh)(propositions)
        cold.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        encoder.tokens([*fresh, *propositions])
        alone.append(time.perf_counter() - begun)
    told = {
        "outside the encoder": outside,
        "contexts' vectors at hand": warm,
        "nothing at hand": cold,
        "the encoder alone on the same texts": alone,
    }
    print(f"An answer of {SENTENCES} sentences, {CONTEXTS} contexts of {WORDS} words")
    for name, seconds in told.items():
        print(f"  {name:38} {1000 * statistics.median(seconds):7.1f} ms")
    ratio = statistics.median(one / other for one, other in zip(cold, alone, strict=True))
    print(f"  {'nothing at hand / the encoder alone':38} {ratio:7.2f}")


class Remembering:
    """The encoder, with the token vectors of some texts at hand."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.kept: dict[str, object] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self.encoder, name)

    def remember(self, given: Sequence[str]) -> None:
        self.kept = dict(zip(given, self.encoder.tokens(given), strict=True))

    def tokens(self, given: Sequence[str]) -> list[object]:
        if all(text in self.kept for text in given):
            return [self.kept[text] for text in given]
        return list(self.encoder.tokens(given))


class Judge:
    """Support of propositions by the same contexts."""

    def __init__(self, encoder: Encoder, contexts: tuple[str, ...]) -> None:
        self.encoder = Remembering(encoder)
        self.contexts = contexts
        self.passages = Passages(contexts)
        self.aligner = Aligner(self.encoder)  # type: ignore[arg-type]

    def __call__(self, propositions: tuple[str, ...]) -> None:
        asked = AlignmentInput(self.contexts, self.passages, propositions)
        matches: list[list[Alignment | None]] = self.aligner.align([asked])
        for text, match in zip(propositions, matches[0], strict=True):
            support(text, self.passages, None, match)


def texts() -> Callable[[int], str]:
    """Sentences of the demo data's words, of 8 to 22 of them, up to a number of words."""
    contexts = [context for row in ragstone.read(cornwall()) for context in row.contexts or ()]
    words = " ".join(context.text or "" for context in contexts).split()
    draw = random.Random(0)

    def text(n: int) -> str:
        made: list[str] = []
        while len(made) < n:
            k = draw.randint(8, 22)
            begin = draw.randrange(len(words) - k)
            sentence = words[begin : begin + k]
            made += [sentence[0].capitalize(), *sentence[1:-1], sentence[-1].rstrip(".,") + "."]
        return " ".join(made[:n]).rstrip(".,") + "."

    return text


def whole_runs(answers: Path) -> None:
    """Cold and cached, with the model in place but no embedding kept."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        cache = folder / "cache"
        (cache / "models").mkdir(parents=True)
        source = the_model()
        (cache / "models" / source.name).symlink_to(source, target_is_directory=True)
        environment = os.environ | {"RAGSTONE_CACHE": str(cache)}
        for how in ("cold", "cached"):
            command = [sys.executable, "-m", "ragstone", "evaluate", str(answers), *SUITES]
            begun = time.perf_counter()
            subprocess.run(
                [*command, "--out", str(folder / how), "--json"],
                check=True, env=environment, capture_output=True,
            )  # fmt: skip
            print(f"MTRAG, every local metric, {how:6} {time.perf_counter() - begun:6.1f} s")


if __name__ == "__main__":
    main()
