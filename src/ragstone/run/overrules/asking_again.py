"""Asking again: the verdicts of the run's own judges on a claim or statement that was reworded."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import polars as pl

from ragstone.core.errors import MissingDependency, RagstoneError
from ragstone.core.messages import reason
from ragstone.data import from_frame
from ragstone.judgements import ASKS, MISSING, Tables
from ragstone.judges import Judge
from ragstone.judges.judge import HumanJudge, IdsJudge
from ragstone.judges.judge_names import LOCAL, NLI, STRINGS, parse_judges
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.nli_judge import NliJudge
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import read_metric, wanted_topics
from ragstone.run.chat_judges import able_to_ask, chat_judges
from ragstone.run.encoders import local_encoder
from ragstone.run.forms import Manifest
from ragstone.run.instructions import Instructions
from ragstone.run.judging import judge_further
from ragstone.run.limits import USUAL
from ragstone.run.settings import ChatSettings

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
    made = unit.row or {}
    reworded = _reworded(tables, unit, text)
    with ExitStack() as closing:
        judges, closed = _opened(run, asks, closing)
        return _asked(reworded, asks, judges, closed, made)


def _asked(
    reworded: Tables,
    asks: Sequence[str],
    judges: Sequence[Judge],
    closed: Mapping[str, str],
    made: Row,
) -> AskedAgain:
    """The verdicts of open judges; those of closed ones are missing, and nobody stands in."""
    rows: dict[str, dict[str, list[Row]]] = {}
    unasked: dict[str, str] = {}
    examples = from_frame(reworded.examples)
    for ask in asks:
        who = {row["judge"] for row in reworded.of(ask).to_dicts() if is_about(row, made)}
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


def _opened(
    run: JudgedRun, asks: Sequence[str], closing: ExitStack
) -> tuple[list[Judge], dict[str, str]]:
    """The run's judges that can be opened here, in order, and why the others cannot."""
    closed: dict[str, str] = {}
    chat: Mapping[str, Judge] = {}
    models = run.form.settings.llm
    if models is not None:
        try:
            chat = _chat(run, models, asks, closing)
        except (RagstoneError, MissingDependency) as error:
            closed = dict.fromkeys(models.judges, error.text)
    opened: list[Judge] = []
    for name in (one.name for one in run.form.judges):
        try:
            judge = chat.get(name) or _judge(run.form, name, asks)
        except (RagstoneError, MissingDependency) as error:
            closed[name] = error.text
            continue
        if judge is not None:
            opened.append(judge)
        elif name not in NOBODY:
            closed.setdefault(name, "")
    why = {name: reason("judge_not_opened", of=name, said=said) if said
           else reason("judge_is_another", of=name) for name, said in closed.items()}  # fmt: skip
    return [*opened, RulesJudge()], why


def _chat(
    run: JudgedRun, models: ChatSettings, asks: Sequence[str], closing: ExitStack
) -> Mapping[str, Judge]:
    """The chat models of the run, by name, with its journal; none if they are others by now.

    Raises:
        RagstoneError: A model cannot be opened, or another process writes into the run.
    """
    metrics = [read_metric(name) for name in run.form.metrics]
    found = chat_judges(
        list(models.judges),
        Instructions(plan=models.plan),
        wanted_topics(metrics),
        run.form.settings.citations,
        offline=False,
    )
    if found.settings() != models:
        return {}
    closing.enter_context(run.folder.locked())
    asking = closing.enter_context(found.asking(run.folder.path, USUAL, lambda _: None))
    judges = able_to_ask(tuple(found.judges.values()), asking, asks, {})
    return dict(zip(found.judges, judges, strict=True))


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
