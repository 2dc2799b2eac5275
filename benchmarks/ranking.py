"""Six ranking metrics with per-query values over many labelled lists, beside pytrec-eval.

    python benchmarks/ranking.py [--queries 1000000] [--depth 10] [--alone]

Prints processor seconds and the memory above the input. The peer computes five
of its measures on a tenth of the queries (it would need most of the machine's
memory for all) and its times are multiplied by ten.
"""

import argparse
import gc
import time
from pathlib import Path

import numpy as np
import polars as pl

from ragstone.judgements import VALUE, View, same_outcome
from ragstone.metrics import parse_metric, score

METRICS = ["precision(k=10)", "sufficiency_hit(k=10)", "sufficiency_rate(k=10)",
           "misleading_rate(k=10)", "mrr(k=10)", "ndcg(k=10)"]  # fmt: skip
BLOCK = 20_000


class Labels:
    """Labelled lists as the contexts view has them."""

    def __init__(self, frame: pl.DataFrame, examples: int) -> None:
        self.frame = frame
        self.examples = pl.select(
            contexts=pl.repeat("", examples), reference=pl.repeat("", examples)
        )

    def view(self, view: type[View], wanted: object) -> pl.DataFrame:  # noqa: ARG002
        return self.frame

    def outcome(self, ask: str) -> pl.DataFrame:  # noqa: ARG002
        return same_outcome(VALUE, None, self.examples.height)


def labels(queries: int, depth: int) -> pl.DataFrame:
    """Random labels: a fifth sufficient, two fifths relevant, a tenth misleading."""
    draw = np.random.default_rng(0)
    weights = draw.choice(np.array([0, 1, 2], dtype=np.int8), queries * depth, p=[0.4, 0.4, 0.2])
    return pl.DataFrame(
        {
            "row": np.repeat(np.arange(queries, dtype=np.uint32), depth),
            "rank": np.tile(np.arange(1, depth + 1, dtype=np.uint32), queries),
            "relevant": weights >= 1,
            "sufficient": weights >= 2,
            "misleading": draw.random(queries * depth) < 0.1,
            "weight": weights,
        },
        schema_overrides={"weight": pl.Int32},
    )


def ours(frame: pl.DataFrame, queries: int, depth: int) -> tuple[float, float]:
    """Processor seconds, and the mean NDCG."""
    metrics = [parse_metric(name) for name in METRICS]
    start = time.process_time()
    total = 0.0
    for first in range(0, queries, BLOCK):
        size = min(BLOCK, queries - first)
        block = frame.slice(first * depth, size * depth).with_columns(pl.col("row") - first)
        scores = score(Labels(block, size), metrics)
        total += float(scores[METRICS[-1]]["value"].sum())
    return time.process_time() - start, total / queries


def peer(frame: pl.DataFrame, queries: int, depth: int) -> tuple[float, float]:
    """Processor seconds of the conversion to dictionaries, and of the evaluation."""
    import pytrec_eval

    start = time.process_time()
    relevance = frame["weight"].to_list()
    documents = [f"d{rank}" for rank in range(depth)]
    scores = [float(depth - rank) for rank in range(depth)]
    run = {str(query): dict(zip(documents, scores, strict=True)) for query in range(queries)}
    qrels = {
        str(query): dict(
            zip(documents, relevance[query * depth : (query + 1) * depth], strict=True)
        )
        for query in range(queries)
    }
    converted = time.process_time()
    measures = {"P.10", "recip_rank", "ndcg_cut.10", "success.10", "map_cut.10"}
    pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    return converted - start, time.process_time() - converted


def memory(field: str) -> float:
    """A field of this process's status, in megabytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"this system does not tell {field}")


def forget_peak() -> float:
    """Start the peak anew, and say where it starts."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--alone", action="store_true", help="leave the peer out")
    given = parser.parse_args()
    frame = labels(given.queries, given.depth)
    before = forget_peak()
    seconds, mean = ours(frame, given.queries, given.depth)
    above = memory("VmHWM") - before
    print(f"ragstone     {seconds:6.2f} s CPU  {above:6.0f} MB above the input  (NDCG {mean:.6f})")
    if not given.alone:
        tenth = given.queries // 10
        convert, evaluate = peer(frame.head(tenth * given.depth), tenth, given.depth)
        print(f"pytrec-eval  {evaluate * 10:6.2f} s CPU  and {convert * 10:.2f} s of conversion")
        print(f"ratio        {(evaluate * 10) / seconds:6.2f} without conversion, "
              f"{(evaluate + convert) * 10 / seconds:.2f} with it")  # fmt: skip


if __name__ == "__main__":
    main()
