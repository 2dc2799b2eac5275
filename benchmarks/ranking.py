"""Six ranking metrics with per-query values over many labelled lists, beside pytrec-eval.

    python benchmarks/ranking.py [--queries 1000000] [--depth 10]

Prints processor seconds and the memory above the input. The peer computes five
of its measures on a tenth of the queries (it would need most of the machine's
memory for all) and its times are multiplied by ten.
"""

import gc
import time

import numpy as np
import polars as pl
from measure import forget_peak, memory, run

from ragstone.judgements import VALUE, View, same_outcome
from ragstone.metrics import parse_metric, score

METRICS = ["precision(k=10)", "sufficiency_hit(k=10)", "sufficiency_rate(k=10)",
           "misleading_rate(k=10)", "mrr(k=10)", "list_ndcg(k=10)"]  # fmt: skip
BLOCK = 20_000


class Labels:
    """Labelled lists as the contexts view has them."""

    def __init__(self, frame: pl.DataFrame, examples: int) -> None:
        self.frame = frame
        texts = pl.repeat("", examples)
        self.examples = pl.select(contexts=texts, reference=texts)

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
    ranked = {str(query): dict(zip(documents, scores, strict=True)) for query in range(queries)}
    qrels = {
        query: dict(zip(documents, relevance[first : first + depth], strict=True))
        for query, first in zip(ranked, range(0, len(relevance), depth), strict=True)
    }
    converted = time.process_time()
    measures = {"P.10", "recip_rank", "ndcg_cut.10", "success.10", "map_cut.10"}
    pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(ranked)
    return converted - start, time.process_time() - converted


def main(queries: int = 1_000_000, depth: int = 10) -> None:
    frame = labels(queries, depth)
    gc.collect()
    forget_peak()
    before = memory()
    seconds, mean = ours(frame, queries, depth)
    above = (memory("VmHWM") - before) / 2**20
    print(f"ragstone     {seconds:6.2f} s CPU  {above:6.0f} MB above the input  (NDCG {mean:.6f})")
    tenth = queries // 10
    convert, evaluate = peer(frame.head(tenth * depth), tenth, depth)
    print(f"pytrec-eval  {evaluate * 10:6.2f} s CPU  and {convert * 10:.2f} s of conversion")
    print(f"ratio        {(evaluate * 10) / seconds:6.2f} without conversion, "
          f"{(evaluate + convert) * 10 / seconds:.2f} with it")  # fmt: skip


if __name__ == "__main__":
    run(main)
