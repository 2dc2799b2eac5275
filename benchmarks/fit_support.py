"""Fits the weights of the local judge's support on human-labelled data and prints them.

    python benchmarks/fit_support.py [--data ../shared/data]

Logistic regression on the counts of ``ragstone.judges.local.support``, averaged over the claims
of an answer, for the label belongs to the answer. Every set weighs the same, and so do the two
classes in each. Only sets whose licence allows it: MTRAG (Apache-2.0), WiCE (annotations ODC-BY),
BEGIN without its Topical-Chat part (CC BY 4.0). The AUROC is that of five folds by question or
document, each judged by weights fitted on the other four.
"""

import argparse
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from ragstone.judges.local.claims import claims
from ragstone.judges.local.response import response_type
from ragstone.judges.local.support import WEIGHTS, Passages, gather

FOLDS = 5
SETS = {
    "rag_quality_mtrag": "answers.jsonl.gz",
    "faithfulness_begin": "pairs.jsonl.gz",
    "faithfulness_wice": "claims.jsonl.gz",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data: Path = parser.parse_args().data
    rows = [row for name, file in SETS.items() for row in labelled(name, data / name / file)]
    features = np.array([row["features"] for row in rows])
    label = np.array([row["label"] for row in rows])
    group = np.array([f"{row['set']} {row['label']}" for row in rows])
    fold = np.array([row["fold"] for row in rows])
    weight = np.array([150 / (group == mine).sum() for mine in group])
    score = np.zeros(len(rows))
    for held_out in range(FOLDS):
        train = fold != held_out
        model = LogisticRegression().fit(features[train], label[train], sample_weight=weight[train])
        score[~train] = model.decision_function(features[~train])
    for name in SETS:
        mine = np.array([row["set"] == name for row in rows])
        auroc = roc_auc_score(label[mine], score[mine])
        print(f"{name:24} {mine.sum():5} rows, held-out AUROC {auroc:.3f}")
    model = LogisticRegression().fit(features, label, sample_weight=weight)
    print(f"INTERCEPT = {model.intercept_[0]:.2f}")
    for feature, value in zip(WEIGHTS, model.coef_[0], strict=True):
        print(f'    "{feature}": {value:.2f},')


def labelled(name: str, path: Path) -> list[dict[str, Any]]:
    """Rows with a label and at least one claim: features, label, fold."""
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            label = human_label(name, record)
            if label is None or response_type(record["answer"])[0] in ("abstain", "refuse"):
                continue
            passages = Passages(record["contexts"])
            seen = [gather(claim.text, passages) for claim in claims(record["answer"])]
            counts = [list(one.features().values()) for one in seen if one is not None]
            if counts:
                row = {"set": name, "label": label, "fold": fold_of(name, record)}
                rows.append(row | {"features": np.mean(counts, axis=0)})
    return rows


def human_label(name: str, record: dict[str, Any]) -> bool | None:
    if name == "rag_quality_mtrag":
        return bool(record["labels"]["faithfulness_median"] >= 3)
    if name == "faithfulness_begin" and record["meta"]["source"] == "tc":
        return None
    label: bool | None = record["labels"]["faithful"]
    return label


def fold_of(name: str, record: dict[str, Any]) -> int:
    if name == "faithfulness_begin":
        document = record["contexts"][0]
    else:
        document = record["meta"]["task_id" if name == "rag_quality_mtrag" else "title"]
    return int(hashlib.sha256(str(document).encode()).hexdigest(), 16) % FOLDS


if __name__ == "__main__":
    main()
