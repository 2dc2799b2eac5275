"""How long the local judge takes, beside the encoder it uses.

    python benchmarks/local_judge_speed.py [--repeats 15]

An answer of 5 sentences against 5 contexts of 150 words, made of the demo data's words: with the
contexts' vectors at hand, as after a first answer; and without, beside the time of the encoder
alone on the same texts, in the same run. Then the 249 rows of MTRAG with every local metric, each
time in a process and with a cache of its own: cold, and again with what the first one kept. At the
end the import and the memory of the NumPy stack. Medians; two threads.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")

from labelled import DATA, file_of
from measure import RAGSTONE, demo_words, run, used_by

from ragstone.judges.local.aligner import Aligner, AlignmentInput
from ragstone.judges.local.claim_support import support
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


def main(repeats: int = 15) -> None:
    folder = pull(BUILTIN).folder
    an_answer(load(folder, BUILTIN), repeats)
    answers = file_of("MTRAG")
    if answers.is_file():
        whole_runs(answers, folder)
    else:
        print(f"MTRAG is not in {DATA}: left out")
    stack = subprocess.run(
        [sys.executable, "-c", STACK, str(folder)], check=True, capture_output=True, text=True
    )
    print(f"NumPy stack: {stack.stdout.strip()}")


def an_answer(encoder: Encoder, repeats: int) -> None:
    def texts(count: int, length: int) -> tuple[str, ...]:
        return tuple(text(draw, length) for _ in range(count))

    draw = random.Random(0)
    contexts, remembering = texts(CONTEXTS, WORDS), Remembering(encoder)
    aligner, passages = Aligner(remembering), Passages(contexts)  # type: ignore[arg-type]
    judge(aligner, contexts, passages, texts(SENTENCES, 15))
    warm, outside, cold, alone = [], [], [], []
    for _ in range(repeats):
        propositions = texts(SENTENCES, 15)
        warm.append(judge(aligner, contexts, passages, propositions))
        remembering.remember(propositions)
        outside.append(judge(aligner, contexts, passages, propositions))
        fresh, propositions = texts(CONTEXTS, WORDS), texts(SENTENCES, 15)
        cold.append(judge(Aligner(encoder), fresh, None, propositions))
        begun = time.perf_counter()
        encoder.tokens([*fresh, *propositions])
        alone.append(time.perf_counter() - begun)
    print(f"An answer of {SENTENCES} sentences, {CONTEXTS} contexts of {WORDS} words")
    for name, seconds in {
        "outside the encoder": outside,
        "contexts' vectors at hand": warm,
        "nothing at hand": cold,
        "the encoder alone on the same texts": alone,
    }.items():
        print(f"  {name:38} {1000 * statistics.median(seconds):7.1f} ms")
    ratio = statistics.median(a / b for a, b in zip(cold, alone, strict=True))
    print(f"  {'nothing at hand / the encoder alone':38} {ratio:7.2f}")


def judge(
    aligner: Aligner,
    contexts: tuple[str, ...],
    passages: Passages | None,
    propositions: tuple[str, ...],
) -> float:
    """Seconds for the support of propositions by contexts, which are read where not read before."""
    begun = time.perf_counter()
    passages = passages or Passages(contexts)
    (matches,) = aligner.align([AlignmentInput(contexts, passages, propositions)])
    for proposition, match in zip(propositions, matches, strict=True):
        support(proposition, passages, None, match)
    return time.perf_counter() - begun


class Remembering:
    """The encoder, with the token vectors of some texts at hand."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.vectors: dict[str, object] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self.encoder, name)

    def remember(self, texts: Sequence[str]) -> None:
        self.vectors = dict(zip(texts, self.encoder.tokens(texts), strict=True))

    def tokens(self, texts: Sequence[str]) -> list[object]:
        if all(text in self.vectors for text in texts):
            return [self.vectors[text] for text in texts]
        return list(self.encoder.tokens(texts))


def text(draw: random.Random, length: int) -> str:
    """Sentences of 8 to 22 of the demo data's words, up to a number of words."""
    words, made = demo_words(), list[str]()
    while len(made) < length:
        k = draw.randint(8, 22)
        begin = draw.randrange(len(words) - k)
        sentence = words[begin : begin + k]
        made += [sentence[0].capitalize(), *sentence[1:-1], sentence[-1].rstrip(".,") + "."]
    return " ".join(made[:length]).rstrip(".,") + "."


def whole_runs(answers: Path, model: Path) -> None:
    """Cold and cached, with the model in place but no embedding kept."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        (cache / "models").mkdir(parents=True)
        (cache / "models" / model.name).symlink_to(model, target_is_directory=True)
        for how in ("cold", "cached"):
            command = [*RAGSTONE, "evaluate", str(answers), *SUITES, "--out", f"{folder}/{how}"]
            used = used_by(command, environment=os.environ | {"RAGSTONE_CACHE": str(cache)})
            print(f"MTRAG, every local metric, {how:6} {used.wall:6.1f} s")


if __name__ == "__main__":
    run(main)
