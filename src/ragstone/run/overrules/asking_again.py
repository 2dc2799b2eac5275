"""Asking again: the verdicts of the run's own judges on a claim or statement that was reworded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ragstone.errors import MissingDependency, RagstoneError
from ragstone.examples import from_frame
from ragstone.judgements import ASKS, MISSING, Tables
from ragstone.judges import Judge
from ragstone.judges.human import HumanJudge
from ragstone.judges.ids import IdsJudge
from ragstone.judges.local.judge import LocalJudge
from ragstone.judges.names import LOCAL, NLI, STRINGS, parse_judges
from ragstone.judges.nli import NliJudge
from ragstone.judges.rules import RulesJudge
from ragstone.reason import reason
from ragstone.run.encoders import local_encoder
from ragstone.run.forms import Manifest
from ragstone.run.judging import judge_further

from .judged_run import JudgedRun
from .overrule import TEXT, Row
from .replay import dependents, is_about
from .units import JudgedUnit, has_what_it_takes

NOBODY = (HumanJudge().name, IdsJudge().name, RulesJudge().name)
"""Who need not be asked again: a label is about the old wording, and rules are always here."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """What the judges say of a new wording.

    Attributes:
        rows: Their rows, by example and ask.
        unasked: The reason why there is no verdict, by ask.
    """

    rows: Mapping[str, Mapping[str, list[Row]]]
    unasked: Mapping[str, str]


NOT_ASKED = AskedAgain({}, {})


def ask_again(run: JudgedRun, unit: JudgedUnit, text: str, tables: Tables) -> AskedAgain:
    """The verdicts of the run's own judges on a new wording.

    What no judge can say is missing, with its reason; nothing else is lost by that.

    Args:
        run: As its judges left it.
        unit: What was reworded.
        text: The new wording.
        tables: The judgements, as they stand, of the examples that share it.
    """
    asks = [ask for ask in dependents(unit.ask) if ask in tables.status]
    judges, closed = _opened(run.form, asks)
    rows: dict[str, dict[str, list[Row]]] = {}
    unasked: dict[str, str] = {}
    made = unit.row or {}
    reworded = _reworded(tables, unit, text)
    examples = from_frame(reworded.examples)
    for ask in asks:
        before = reworded.of(ask)
        who = {row["judge"] for row in before.to_dicts() if is_about(row, made)}
        if lacking := sorted(who & closed.keys()):
            unasked[ask] = closed[lacking[0]]
            continue
        try:
            judged = judge_further(examples, reworded, judges, [ask])
        except RagstoneError as error:
            unasked[ask] = reason("not_asked_again", said=error.text)
            continue
        outcome = judged.tables.outcome(ask)
        for number, example in enumerate(examples):
            found = judged.tables.of(ask).filter(pl.col("row") == number).drop("row").to_dicts()
            mine: list[Row] = [row for row in found if is_about(row, made)]
            rows.setdefault(example.id, {})[ask] = mine
            status, why = outcome.row(number)
            if not mine and status == MISSING and has_what_it_takes(reworded, ask, number):
                unasked[ask] = why or ASKS[ask].not_judged
    return AskedAgain(rows, unasked)


def _reworded(tables: Tables, unit: JudgedUnit, text: str) -> Tables:
    """The judgements with the new wording."""
    rows = tables.of(unit.ask)
    mine = pl.all_horizontal(pl.col(name) == value for name, value in unit.key.items())
    changed = rows.with_columns(pl.when(mine).then(pl.lit(text)).otherwise(TEXT).alias(TEXT))
    return replace(tables, rows={**tables.rows, unit.ask: changed})


def _opened(form: Manifest, asks: Sequence[str]) -> tuple[list[Judge], dict[str, str]]:
    """The run's judges that can be opened here, in order, and why the others cannot."""
    opened: list[Judge] = []
    closed: dict[str, str] = {}
    for name in (one.name for one in form.judges):
        try:
            judge = _judge(form, name, asks)
        except (RagstoneError, MissingDependency) as error:
            closed[name] = reason("judge_not_opened", of=name, said=error.text)
            continue
        if judge is not None:
            opened.append(judge)
        elif name not in NOBODY:
            closed[name] = reason("judge_is_another", of=name)
    return [*opened, RulesJudge()], closed


def _judge(form: Manifest, name: str, asks: Sequence[str]) -> Judge | None:
    """The judge of this name; None if there is no such judge here, or it is another by now."""
    if name in (LOCAL, STRINGS):
        judge = LocalJudge(name=name)
        if form.settings.local != judge.parts:
            judge = LocalJudge(local_encoder([judge], asks, None)[0], name=name)
        return judge if form.settings.local == judge.parts else None
    if name.startswith(f"{NLI}:"):
        (nli,) = (one for one in parse_judges([name], offline=True).judges if one.name == name)
        same = isinstance(nli, NliJudge) and (
            f"{name}@{nli.model.fingerprint}" in form.settings.nli
        )
        return nli if same else None
    return None
