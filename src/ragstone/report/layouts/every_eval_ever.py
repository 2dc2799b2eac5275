"""Every Eval Ever: a run as records of the EvalEval coalition's shared schema, version 0.3.0.

For each system a record of its estimates, and a file with a line for each score: where the numbers
come from, how each metric is to be read, the score with its interval. A score that is undefined or
missing has no line and is counted in the record.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl

from ragstone.analysis.scored_run import Scored
from ragstone.core.grouping import grouped
from ragstone.data import Example
from ragstone.data.write_examples import from_frame
from ragstone.report.reason_words import words
from ragstone.run import Estimate, Run

from .layout import OtherFile, Report

VERSION = "0.3.0"
UNKNOWN = "unknown"
# The developer of a system whose name tells none: the schema files records under a developer.
OWNER = "private"

# Names that a folder of the data store, or any folder on Windows, may not have.
RESERVED = frozenset(("data", "con", "prn", "aux", "nul",
                      *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))  # fmt: skip

OUTCOME = "answer_outcome"


def as_every_eval_ever(run: Run) -> Report:
    """A record and its lines for each system, under the names that the shared data store has."""
    scored = Scored(run)
    dataset = Path(run.form.data.source or "data").name.split(".")[0] or "data"
    examples = grouped((item.system, item) for item in from_frame(run.examples()))
    valued = {name: scored.of(name).filter(pl.col("status") == "value") for name in scored.metrics}
    scores = {
        name: {row["example_id"]: row for row in rows.iter_rows(named=True)}
        for name, rows in valued.items()
    }
    seconds = str(int(datetime.fromisoformat(run.form.created).timestamp()))
    files: list[OtherFile] = []
    for system, id in _model_ids(scored.systems).items():
        # The same for the same run and system, in the form of a random one.
        seed = f"{run.form.created}\n{run.signature}\n{system}".encode()
        uuid = UUID(bytes=blake2b(seed, digest_size=16).digest(), version=4)
        index = f"data/{_safe(dataset)}/{id}/{uuid}"
        about = {"schema_version": VERSION, "evaluation_id": f"{dataset}/{id}/{seconds}"}
        estimates = [item for item in run.estimate_list
                     if dict(item.group) == {"system": system}
                     and item.value is not None]  # fmt: skip
        lines = list(_lines(about, id, dataset, examples[system], estimates, scores, scored))
        samples = "".join(f"{_json(line)}\n" for line in lines).encode()
        record = {
            **about,
            **_origin(run, system, id, seconds),
            "evaluation_results": [
                _result(run, scored, dataset, estimate, about["evaluation_id"])
                for estimate in estimates
            ],
        }
        if lines:
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{index}_samples.jsonl",
                "hash_algorithm": "sha256",
                "checksum": sha256(samples).hexdigest(),
                "total_rows": len(lines),
            }
        content = f"{_json(record, indent=1)}\n".encode()
        files.append(OtherFile(f"{index}.json", content))
        files += [OtherFile(f"{index}_samples.jsonl", samples)] if lines else []
    return Report(tuple(files), ())


def _origin(run: Run, system: str, id: str, seconds: str) -> dict[str, Any]:
    return {
        "evaluation_timestamp": run.form.created,
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": run.path.name,
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "ragstone",
            "version": run.form.ragstone,
            "additional_details": {"signature": run.signature},
        },
        "model_info": {
            "name": system,
            "id": id,
            "developer": id.split("/")[0],
            "additional_details": {"deployment_type": UNKNOWN, "model_availability": UNKNOWN},
        },
    }


def _result(
    run: Run, scored: Scored, dataset: str, estimate: Estimate, evaluation: str
) -> dict[str, Any]:
    names = ("n", "n_undefined", "n_missing", "clusters", "worst", "best")
    counts = ((name, getattr(estimate, name)) for name in names)
    details = {name: f"{count}" for name, count in counts if count is not None}
    details |= {f"label {word}": f"{count}" for word, count in estimate.labels.items()}
    details |= {f"reason {words(why)}": f"{count}" for why, count in estimate.reasons.items()}
    uncertainty: dict[str, Any] = {"num_samples": estimate.n}
    if estimate.low is not None and estimate.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": estimate.low, "upper": estimate.high, "confidence_level": estimate.level,
            "method": estimate.method or UNKNOWN,
        }  # fmt: skip
    return {
        "evaluation_result_id": f"{evaluation}#{estimate.metric}",
        "evaluation_name": f"{dataset} {estimate.metric}",
        "evaluation_timestamp": run.form.created,
        "source_data": {
            "dataset_name": dataset,
            "source_type": "other",
            "additional_details": {
                "fingerprint": str(run.form.data.fingerprint),
                "samples": str(run.form.data.examples),
                "questions": str(run.form.data.questions),
            },
        },
        "metric_config": _metric_config(scored, estimate),
        "score_details": {"score": estimate.value, "details": details, "uncertainty": uncertainty},
    }


def _metric_config(scored: Scored, estimate: Estimate) -> dict[str, Any]:
    metric, scale = scored.metric(estimate.metric), scored.scale(estimate.metric)
    name = estimate.metric if metric is None else metric.name
    parameters = {} if metric is None else metric.parameters
    config: dict[str, Any] = {
        "metric_id": f"ragstone.{name}",
        "metric_name": estimate.metric,
        "metric_parameters": {
            key: value if isinstance(value, (str, bool, int, float)) else str(value)
            for key, value in parameters.items()
        },
        "lower_is_better": estimate.better == "-",
        "additional_details": {"signature": estimate.signature, "family": estimate.family},
    }
    if estimate.better == "0":
        config["additional_details"]["direction"] = "neither higher nor lower is better"
    if scale.rate:
        config |= {"score_type": "binary", "metric_unit": "proportion"}
        return config | {"min_score": 0, "max_score": 1}
    if metric is None:
        return config  # Nothing is known of its range.
    low, high = scale.low, scale.high
    config |= {"metric_unit": "proportion"} if (low, high) == (0, 1) else {}
    ends = {
        "min_score": "-Infinity" if low is None else low,
        "max_score": "Infinity" if high is None else high,
    }
    return {**config, "score_type": "continuous", **ends}


def _lines(
    about: Mapping[str, str],
    id: str,
    dataset: str,
    examples: Sequence[Example],
    estimates: Sequence[Estimate],
    scores: Mapping[str, Mapping[str, Mapping[str, Any]]],
    scored: Scored,
) -> Iterator[dict[str, Any]]:
    outcomes = scores.get(OUTCOME, {})
    for example in examples:
        conversation = _asked(example)
        for estimate in estimates:
            row = scores[estimate.metric].get(example.id)
            if row is None:
                continue
            # The schema asks for yes or no, and for what says so.
            scale, by = scored.scale(estimate.metric), "the score is the best possible"
            best = {"+": scale.high, "-": scale.low}.get(estimate.better)
            correct = best is not None and row["value"] == best
            if example.id in outcomes:
                by = f"{OUTCOME} is correct"
                correct = outcomes[example.id]["label"] == "correct"
            facts = {name: word for name, word in example.slices.items() if isinstance(word, str)}
            facts |= {"example_id": example.id, "is_correct_if": by}
            facts |= {name: str(row[name]) for name in ("label", "reason") if row[name] is not None}
            yield {
                **about,
                "model_id": id,
                "evaluation_name": f"{dataset} {estimate.metric}",
                "evaluation_result_id": f"{about['evaluation_id']}#{estimate.metric}",
                **conversation,
                "evaluation": {"score": row["value"], "is_correct": correct},
                "metadata": facts,
            }


def _asked(example: Example) -> dict[str, Any]:
    answer, question = example.answer, example.question or ""
    reference = list(example.reference)
    before = [{"role": turn.role, "content": turn.text} for turn in example.history]
    several = bool(before)
    turns = [*before, {"role": "user", "content": question}]
    turns += [] if answer is None else [{"role": "assistant", "content": answer}]
    attribution = {
        "turn_idx": len(turns) - 1 if several else 0,
        "source": f"messages[{len(turns) - 1}].content" if several else "output.raw",
        "extracted_value": answer,
        "extraction_method": "whole_answer",
        "is_terminal": True,
    }
    return {
        "sample_id": example.question_id,
        "sample_hash": sha256(_json([question, reference]).encode()).hexdigest(),
        "interaction_type": "multi_turn" if several else "single_turn",
        "input": {"raw": question, "reference": reference},
        "output": None if several else {"raw": [] if answer is None else [answer]},
        "messages": [{"turn_idx": at, **turn} for at, turn in enumerate(turns)]
        if several
        else None,
        "answer_attribution": [] if answer is None else [attribution],
    }


def _model_ids(systems: Sequence[str]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for system in systems:
        developer, _, model = system.rpartition("/")
        id = name = f"{_safe(developer.split('/')[-1] or OWNER)}/{_safe(model)}"
        again = 1
        while id in ids.values():
            again += 1
            id = f"{name}-{again}"
        ids[system] = id
    return ids


def _safe(name: str) -> str:
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "x"
    return f"x-{safe}" if safe.split(".")[0].lower() in RESERVED else safe


def _json(value: object, indent: int | None = None) -> str:
    # In ASCII, for some programs take other characters than the line feed for the end of a line.
    return json.dumps(value, allow_nan=False, indent=indent)
