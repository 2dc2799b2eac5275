"""How long the guard takes and how well it ranks answers, beside RAGGround.

    python benchmarks/guard.py [--only defaults,speed,stream,ranking,long,memory]

On one core, warm, in the processor's own time, so that other work on the machine counts little;
the load is told.

defaults  What `Checks()` blocks of the answers by MTRAG's models and of BEGIN's, by what people say
          of them: fully faithful, which is a median of 4 of 4 in MTRAG, or not, below 3; by the
          rule, which looks at the mean of the sentences, and if each had to reach the least. Then
          the same of streams, sentence by sentence. Last a number or a name of an answer that
          people find faithful and the guard passes is replaced by one that its contexts do not
          have: how many are caught.
speed     MTRAG's 249 answers, each by its own contexts and another one at each call: the whole
          `assess` by strings and, with the contexts' vectors cached, by the encoder. RAGGround's
          `verify` on the same texts in turn with ours, round by round. It runs without its neural
          model where that is not on the machine, which is told.
stream    A held sentence once its end is known, by contexts that were read before.
ranking   AUROC of faithful answers: BEGIN's labelled rows, all of them, and MTRAG's. An answer
          without claims gets 0. The share of words is the naive judge of local_judge.py.
long      Answers and contexts of 1 MB, 5,000 contexts: time of one `assess` (its deadline is 1 s).
memory    Assessments of answers and contexts that are new each time, a tenth of their words made
          up: memory after each tenth of them.

RAGGround's environment is made once, from peers-ragground.txt.
"""

import json
import logging
import os
import random
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import NamedTemporaryFile
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from labelled import Record, is_faithful, records_of, word_share
from measure import demo_words, run
from measure import memory as held_memory
from peers import peer_python

from ragstone.guard import Checks, Guard, assess_stream
from ragstone.judges.local.claim_support import support
from ragstone.judges.local.text_terms import tokens
from ragstone.stats import auroc

ROUNDS, ASSESSMENTS = 3, 1_000_000

PEER = """
import json, sys, time
from ragground.app import RAGGround
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
guard = RAGGround(auto_download=False)
print(json.dumps(guard.is_model_ready()), flush=True)
for _ in sys.stdin:
    found = []
    for row in rows:
        begun = time.process_time()
        score = guard.verify(context=row["contexts"], answer=row["answer"]).grounding_score
        found.append([score, 1000 * (time.process_time() - begun)])
    print(json.dumps(found), flush=True)
"""


def main(only: str = "defaults,speed,stream,ranking,long,memory") -> None:
    logging.disable(logging.CRITICAL)
    parts = {part.__name__: part for part in (defaults, speed, stream, ranking, long, memory)}
    for name in only.split(","):
        print(f"\n## {name}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        parts[name]()


def answers_of(name: str) -> list[Record]:
    """The rows of a labelled set that have an answer, and a label of it."""
    return [row for row in records_of(name) if row["answer"] and is_faithful(row) is not None]


def texts_of(row: Record) -> tuple[str, str, list[str]]:
    return row["question"], row["answer"], row["contexts"]


def defaults() -> None:
    begin, mtrag = answers_of("BEGIN"), answers_of("MTRAG")
    fully = [row for row in mtrag if row["labels"]["faithfulness_median"] == 4]
    of_models = [row for row in mtrag if not row["id"].endswith("-reference")]
    of_models = [row for row in of_models if row in fully or not is_faithful(row)]
    for name, rows in (("MTRAG", of_models), ("BEGIN", begin)):
        faithful = np.array([is_faithful(row) for row in rows])
        print(f"{name}: {faithful.sum():,} faithful answers, {(~faithful).sum():,} others")
        assessed = [Guard(deadline=60).assess(*texts_of(row)) for row in rows]
        blocked = np.array([verdict.ok is not True for verdict in assessed])
        lowest = [1 if verdict.confidence is None else verdict.confidence for verdict in assessed]
        each = blocked | (np.array(lowest) < Checks().least_support)
        for rule, wrong in (("mean", blocked), ("each sentence", each)):
            print(f"  {rule:14} faithful blocked {wrong[faithful].mean():.3f}"
                  f"  others caught {wrong[~faithful].mean():.3f}")  # fmt: skip
        held = np.array([held_in_stream(row) for row in rows])
        print(f"  a stream holds a sentence of  faithful {(held[faithful] > 0).mean():.3f}"
              f"  others {(held[~faithful] > 0).mean():.3f};"
              f" of faithful sentences {held[faithful].mean():.3f}")  # fmt: skip
    for name, faithful_rows in {
        "MTRAG": fully,
        "WiCE": [*filter(is_faithful, answers_of("WiCE"))],
        "BEGIN": [*filter(is_faithful, begin)],
    }.items():
        for what, places in (("number", numbers_of), ("name", names_of)):
            caught = [*caught_changes(faithful_rows, places)]
            print(f"{name}: one {what} changed, caught {sum(caught)} of {len(caught)}")


def held_in_stream(row: Record) -> float:
    """The share of the sentences with claims that a stream holds back."""
    question, answer, contexts = texts_of(row)
    stream = assess_stream(question, contexts, [answer], guard=Guard(deadline=60))
    list(stream)
    held = [not unit.released for unit in stream.units if unit.claims]
    return float(np.mean(held)) if held else 0.0


def caught_changes(
    rows: Sequence[Record], places_of: Callable[[str], Iterator[re.Match[str]]]
) -> Iterator[bool]:
    """For each answer that passes, whether it fails with one place changed for another answer's."""
    guard = Guard(deadline=60)
    pool = sorted({place.group() for row in rows for place in places_of(row["answer"])})
    for seed, row in enumerate(rows):
        draw, answer = random.Random(seed), row["answer"]
        known = set(tokens(" ".join([row["question"] or "", *row["contexts"]])))
        there = [place for place in places_of(answer) if known.issuperset(tokens(place.group()))]
        if not there or not guard.assess(*texts_of(row)).ok:
            continue
        place = draw.choice(there)
        others = [other for other in pool if known.isdisjoint(tokens(other))]
        changed = answer[: place.start()] + draw.choice(others) + answer[place.end() :]
        yield guard.assess(row["question"], changed, row["contexts"]).ok is False


def numbers_of(answer: str) -> Iterator[re.Match[str]]:
    """Its numbers of two digits and more, without citations and numerals of lists."""
    return re.finditer(r"(?<![\w.,[])\d[\d,]*\d(?:\.\d+)?(?![\w\]),]|[.)]\s)", answer)


def names_of(answer: str) -> Iterator[re.Match[str]]:
    """Its capitalised words that open no sentence and are no small word elsewhere."""
    for name in re.finditer(r"(?<=[a-z,] )[A-Z][\w-]{2,}(?: [A-Z][\w-]+)*", answer):
        if name.group().lower() not in answer:
            yield name


def speed() -> None:
    rows, guard = answers_of("MTRAG"), Guard()

    def by_strings() -> list[float]:
        return [milliseconds(guard.assess, *texts_of(row)) for row in rows]

    by_strings()
    ours, theirs = [], []
    with peer(rows) as ask:
        for _ in range(ROUNDS):
            ours.append(by_strings())
            theirs.append([taken for _, taken in ask()])
    show("strings", np.ravel(ours))
    show("RAGGround 0.2.2", np.ravel(theirs))
    ratios = np.median(theirs, axis=1) / np.median(ours, axis=1)
    print("RAGGround / strings, medians, by round: " + ", ".join(f"{x:.0f}" for x in ratios))
    guard = Guard(judge="local", deadline=600)
    by_encoder = []
    for row in rows:
        guard.assess(None, "It is said here.", row["contexts"])
        by_encoder.append(milliseconds(guard.assess, *texts_of(row)))
    show("encoder, contexts' vectors cached", by_encoder)


def milliseconds(work: Callable[..., Any], *arguments: Any) -> float:
    """Return the processor milliseconds that work takes."""
    begun = time.process_time()
    work(*arguments)
    return 1000 * (time.process_time() - begun)


def stream() -> None:
    guard, rows = Guard(), answers_of("MTRAG")
    taken: list[float] = []
    for turn in range(2):
        for row in rows:
            read = guard.read(row["contexts"])
            spans = [claim.span.text for claim in guard.assess(None, row["answer"], read).judged]
            read = guard.read(row["contexts"])
            for sentence in spans:
                taken += [milliseconds(support, sentence, read.passages, row["question"])] * turn
    show("a held sentence, strings", taken)


def ranking() -> None:
    for name in ("BEGIN", "MTRAG", "WiCE"):
        rows = answers_of(name)
        scores: dict[str, Sequence[float]] = {"share of words": [word_share(r) or 0 for r in rows]}
        for judge in ("strings", "encoder"):
            guard = Guard(judge="local" if judge == "encoder" else None, deadline=600)
            judged = (guard.assess(*texts_of(row)).judged for row in rows)
            claims = [[claim.probability or 0.0 for claim in answer] for answer in judged]
            scores[f"{judge}, mean of the claims"] = [sum(p) / len(p) if p else 0 for p in claims]
            scores[f"{judge}, lowest claim (confidence)"] = [min(p, default=0) for p in claims]
        with peer(rows) as ask:
            scores["RAGGround 0.2.2, grounding_score"] = [score for score, _ in ask()]
        labels = np.array([is_faithful(row) for row in rows])
        print(f"{name}: {len(rows):,} answers, {labels.mean():.3f} faithful")
        for judge, values in scores.items():
            print(f"  {judge:36} {auroc(values, labels):.4f}")


def long() -> None:
    text = made_up(random.Random(0), new=0.0)
    sentence = "The old tin mine of Truro was opened in 1859 by two brothers. "
    contexts = [text(150) for _ in range(5)]
    mega = 1_000_000
    cases: Mapping[str, tuple[str, list[str]]] = {
        "1 MB without a stop": (text(mega // 6).replace(".", ""), contexts),
        "1 MB of one word": ("a" * mega, contexts),
        "20,000 sentences": (" ".join(text(8) for _ in range(20_000)), contexts),
        "a table of 1 MB": (
            "\n".join(f"| {text(8)} | {text(8)} |" for _ in range(11_000)),
            contexts,
        ),
        "Chinese, 1 MB": ("今天天气很好我们去公园吧。" * (mega // 13), contexts),
        "brackets, 1 MB": ("[" * (mega // 2) + "]" * (mega // 2), contexts),
        "citation marks, 1 MB": ("[1] " * (mega // 4), contexts),
        "no knowledge, 1 MB": ("I do not know. " * (mega // 15), contexts),
        "5,000 contexts": (sentence, [text(150) for _ in range(5_000)]),
        "a context of 1 MB": (sentence, [" ".join(text(15) for _ in range(11_000))]),
        "a context of 1 MB without a stop": (sentence, [text(mega // 6).replace(".", "")]),
        "the same sentence, both 1 MB": (sentence * (mega // 62), [sentence * (mega // 62)]),
    }
    for name, (answer, passages) in cases.items():
        guard = Guard()
        begun, spent = time.monotonic(), time.process_time()
        verdict = guard.assess("Who opened the mine?", answer, passages)
        wall, own = time.monotonic() - begun, time.process_time() - spent
        left = ", ".join(check.check for check in verdict.checks if check.status == "not_judged")
        print(f"{name:34} {1000 * wall:6.0f} ms wall {1000 * own:6.0f} ms own"
              f"{'  not judged: ' + left if left else ''}")  # fmt: skip


def memory() -> None:
    text = made_up(random.Random(0), new=0.1)
    guard = Guard()
    for number in range(ASSESSMENTS + 1):
        if number % (ASSESSMENTS // 10) == 0:
            print(f"{number:9,} assessments {held_memory() / 1e6:6.1f} MB", flush=True)
        guard.assess(text(6), text(12) + " [1]", [text(40)])


def made_up(draw: random.Random, new: float) -> Callable[[int], str]:
    """Texts of the demo data's words, in sentences of 10; a share of the words is new."""
    words = [word.strip(".;:!?") or "and" for word in demo_words()]

    def text(length: int) -> str:
        drawn = draw.choices(words, k=length)
        for place in range(length):
            if new and draw.random() < new:
                drawn[place] = f"{drawn[place]}{draw.getrandbits(40):x}"
            if place % 10 == 9:
                drawn[place] += "."
        return " ".join(drawn)

    return text


def show(what: str, taken: Any) -> None:
    median, slow = np.median(taken), np.quantile(taken, 0.95)
    print(f"{what:36} median {median:7.3f} ms  p95 {slow:7.3f} ms  n {np.size(taken):,}")


@contextmanager
def peer(rows: Sequence[Record]) -> Iterator[Callable[[], Any]]:
    """RAGGround in a process of its own: each call gives a score and milliseconds for each row."""
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, rows)))
        file.flush()
        with subprocess.Popen(
            [peer_python("ragground"), "-c", PEER, file.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as child:  # fmt: skip
            asks, replies = child.stdin, child.stdout
            assert asks is not None
            assert replies is not None
            print(f"RAGGround {'with' if json.loads(replies.readline()) else 'without'} its model")

            def ask() -> Any:
                print("go", file=asks, flush=True)
                return json.loads(replies.readline())

            yield ask
            asks.close()


if __name__ == "__main__":
    run(main)
