"""Judge identity: models, prompts and plan of a judge, flip rates, and its passport.

A passport is the record of a judge's check against people. It is valid until the judge's models,
prompts or plan change.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from ragstone.annotation.label_table import LabelTable
from ragstone.core.errors import DamagedRun, InputError
from ragstone.core.files import write_result
from ragstone.core.messages import argument
from ragstone.data.sources import on_disk
from ragstone.judgements import KINDS, Preference
from ragstone.judges import fingerprint
from ragstone.judges.judge import HumanJudge
from ragstone.run import Run
from ragstone.run.folder.checksums import read_json
from ragstone.run.folder.remote_folder import refuse_copy
from ragstone.run.folder.schemas import Manifest
from ragstone.run.settings import Several
from ragstone.stats import ends_of, mean_interval

from .people_scores import KEYS, judged_units

# Settings of a run beside the models and prompts of LLMs that a judge's word depends on.
PARTS = ("nli", "encoder", "cross_encoder", "bertscore", "citations")


class JudgeIdentity(BaseModel):
    """Models, prompts and plan of the judges of a run.

    Models stand with their parameters, prompts with the hash of their text. A part that a run does
    not have is left unset, and one that a later version writes is compared too.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    judges: Several[str] = []
    models: dict[str, Several[str]] = {}
    prompts: dict[str, str] = {}
    rubrics: str | None = None
    plan: str | None = None
    local: Several[str] = []

    @property
    def id(self) -> str:
        """A hash of the identity in twelve hex digits."""
        return fingerprint(json.dumps(self.to_dict(), sort_keys=True))[:12]

    def to_dict(self) -> dict[str, Any]:
        """Return the identity in the form of a passport."""
        return self.model_dump(exclude_unset=True)


def identity(form: Manifest) -> JudgeIdentity:
    """Identify the judges of a run."""
    settings = form.settings
    spoke = [judge.name for judge in form.judges if judge.kinds]
    chat = settings.llm
    return JudgeIdentity(
        judges=sorted(name for name in spoke if judge_kind(name) != HumanJudge.name),
        models={} if chat is None else chat.judges,
        prompts={} if chat is None else chat.prompts,
        rubrics=None if chat is None else chat.rubrics,
        plan=None if chat is None else chat.plan,
        local=settings.local if "local" in map(judge_kind, spoke) else [],
        **{name: value for name in PARTS if (value := getattr(settings, name))},
    )


def judge_kind(judge: str) -> str:
    """The kind of judge that a name begins with: ``local`` of ``local:strings``."""
    return judge.partition(":")[0]


def changes(then: JudgeIdentity, now: JudgeIdentity) -> list[str]:
    """The differences of two identities, one line for each part; empty if there are none."""
    lines, before, after = [], then.to_dict(), now.to_dict()
    for part in dict.fromkeys([*before, *after]):
        had, has = before.get(part), after.get(part)
        if had == has:
            continue
        if isinstance(had, Mapping) and isinstance(has, Mapping):
            names = [name for name in dict.fromkeys([*had, *has]) if had.get(name) != has.get(name)]
            lines += [f"{part}: {name} was {_short(had.get(name))}, is {_short(has.get(name))}"
                      for name in names]  # fmt: skip
        else:
            lines.append(f"{part}: was {_short(had)}, is {_short(has)}")
    return lines


def _short(value: object, most: int = 60) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


SAME = 1e-9


@dataclass(frozen=True, slots=True)
class FlipRate:
    """The share of verdicts that differ between two runs.

    ``what`` is a kind and column, or a metric; ``low`` and ``high`` are the ends of its interval;
    ``n`` counts the units both runs judged.
    """

    what: str
    value: float | None
    low: float | None
    high: float | None
    n: int


def flip_rates(run: Run, again: Run, *, level: float = 0.95) -> list[FlipRate]:
    """Measure how often the second run's verdicts on the same units differ.

    That nothing else differs between the runs is for the caller to check: ``same_data``,
    ``same_judge``.

    Verdicts on claims and statements are left out if the judge made these itself. Intervals treat
    the units of an example as a cluster.
    """
    # Not claims, which a judge makes anew each time, so that verdicts on them do not match.
    about_claims = [name for name, kind in KINDS.items() if kind.about == "proposition"]
    first, second = (
        judged_units(of)
        .filter(~pl.col("kind").is_in(about_claims))
        .select(*KEYS, pl.col("value").alias(name), pl.col("number").alias(f"n {name}"))
        for of, name in ((run, "before"), (again, "after"))
    )
    both = first.join(second, on=KEYS, how="inner", nulls_equal=True)
    if both.is_empty():
        raise InputError(
            f"{run.path} and {again.path} have no judgement of the same example in common."
        )
    changed = (
        pl.when(pl.col("n before").is_not_null() & pl.col("n after").is_not_null())
        .then((pl.col("n before") - pl.col("n after")).abs() > SAME)
        .otherwise(pl.col("before") != pl.col("after"))
    )
    flagged = both.with_columns(changed=changed.cast(pl.Float64))
    rates = []
    for (kind, column), rows in flagged.group_by("kind", "column", maintain_order=True):
        rates.append(_rate(f"{kind}.{column}", rows, level))
    return rates


def same_data(run: Run, again: Run) -> None:
    """Check that two runs are of the same data."""
    if run.form.settings.data != again.form.settings.data:
        raise InputError(
            f"{again.path} has different data from {run.path}. To see how often a judge changes "
            "its word, evaluate the same file again with the same judge and "
            f"{argument('cached', False)}."
        )


def same_judge(run: Run, again: Run) -> None:
    """Check that two runs have the same judge."""
    changed = changes(identity(run.form), identity(again.form))
    if changed:
        listed = "".join(f"\n  {line}" for line in changed)
        raise InputError(f"{again.path} was judged differently from {run.path}.{listed}")


def order_sensitivity(run: Run, *, level: float = 0.95) -> FlipRate | None:
    """The share of pairs of answers, judged in both orders, whose verdict depended on the order.

    None if no pair was judged.
    """
    rows = run.judgements(Preference.name).filter(pl.col("verdict").is_not_null())
    pairs = rows.group_by("example_id", "judge", "rival").agg(
        pl.col("order").n_unique().alias("orders"), pl.col("verdict").n_unique().alias("verdicts")
    )
    both = pairs.filter(pl.col("orders") == 2)
    if both.is_empty():
        return None
    changed = both.with_columns(changed=(pl.col("verdicts") > 1).cast(pl.Float64))
    return _rate("preference.order", changed, level)


def _rate(what: str, rows: pl.DataFrame, level: float) -> FlipRate:
    clusters = rows.group_by("example_id").agg(pl.col("changed").sum(), pl.len())
    sums, counts = clusters["changed"].to_numpy(), clusters["len"].cast(pl.Float64).to_numpy()
    mean = mean_interval(sums, counts, rate=True, low=0, high=1, level=level)
    return FlipRate(what, mean.value, **ends_of(mean.interval), n=int(np.sum(counts)))


NAME = "judge_passport"


@dataclass(frozen=True, slots=True)
class Passport:
    """The record of a judge that was checked against people.

    Attributes:
        data: Fingerprint of the data, and its name as ``source``.
        estimates: The corrected estimates, over all examples and by group, as plain data.
        flips: How often the judge changed its verdict when asked again; empty if not measured.
        order: How often the order of two answers decided; None if not measured.
        injection: How often injected instructions changed its verdict; empty if not measured.
    """

    judge: JudgeIdentity
    date: str
    data: str
    source: str
    labels: str
    annotators: int
    n_examples: int
    agreement: Sequence[Mapping[str, Any]]
    estimates: Sequence[Mapping[str, Any]]
    flips: tuple[FlipRate, ...]
    order: FlipRate | None
    injection: tuple[FlipRate, ...]

    @property
    def id(self) -> str:
        """Twelve hex digits that identify the judge; they change with its models and prompts."""
        return self.judge.id

    def void_for(self, run: Run) -> list[str]:
        """List the changes between the passport's judge and a run's; empty if it is valid."""
        return changes(self.judge, identity(run.form))

    def to_dict(self) -> dict[str, Any]:
        """The contents of ``judge_passport.json``."""
        return {
            "id": self.id,
            **asdict(self),
            "judge": self.judge.to_dict(),
            "flips": [asdict(rate) for rate in self.flips],
            "injection": [asdict(rate) for rate in self.injection],
        }

    def write(self, folder: Path) -> Path:
        """Write ``judge_passport.json`` into a folder and return its path."""
        refuse_copy(folder)
        file = folder / f"{NAME}.json"
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_result(file, text + "\n")
        return file


def read_passport(path: str | Path) -> Passport:
    """Read a passport."""
    try:
        return read_json(on_disk(path), Passport)
    except DamagedRun as error:
        line = f"{path} is no passport of a judge, as ragstone calibrate writes it into the run:"
        raise InputError("\n".join([line, *(f"  {fault}" for fault in error.faults)])) from error


def fingerprint_of_labels(labels: LabelTable) -> str:
    """The fingerprint of the labels, whatever file they are in."""
    columns = ["example_id", "kind", "column", "unit", "annotator", "value"]
    return fingerprint(*labels.counted.select(columns).sort(columns).iter_rows())
