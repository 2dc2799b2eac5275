"""Correcting a run: makes and undoes corrections, and asks the run's judges about new wordings."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import polars as pl

from ragstone.core.errors import InputError, MissingDependency, RagstoneError, each
from ragstone.core.messages import reason
from ragstone.data import from_frame
from ragstone.judgements import ASKS, MISSING, Tables
from ragstone.judges import Judge
from ragstone.judges.judge import LOCAL, NLI, STRINGS, HumanJudge, IdsJudge
from ragstone.judges.judge_names import parse_judges
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.nli_judge import NliJudge
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import read_metric, wanted_topics
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.schemas import Manifest
from ragstone.run.judging.judge_blocks import judge_further
from ragstone.run.judging.run_models import able_to_ask, chat_judges, local_encoder
from ragstone.run.settings import USUAL, ChatSettings, Instructions

from .apply import JudgedRun, dependents, is_about, sharing
from .corrected_run import CorrectedRun, values_of_unit
from .correction import (
    TEXT,
    Correction,
    CorrectionResult,
    JudgedUnit,
    Row,
    Store,
    Undone,
    has_what_it_takes,
    judgement_of,
)
from .correction_checks import asks_named, check_words, checked, unit_named

# Judges that are not asked again: a label is about the old wording, and rules are always here.
NOBODY = (HumanJudge().name, IdsJudge().name, RulesJudge().name)


# The judges' verdicts on a new wording by example and ask, and why an ask has none.
AskedAgain = tuple[Mapping[str, Mapping[str, list[Row]]], Mapping[str, str]]

NOT_ASKED: AskedAgain = {}, {}


def ask_again(run: JudgedRun, unit: JudgedUnit, text: str, tables: Tables) -> AskedAgain:
    """The verdicts of the run's own judges on a new wording.

    What no judge can say is missing, with its reason; nothing else is lost by that.
    """
    asks = [ask for ask in dependents(unit.ask) if ask in tables.status]
    mine = pl.all_horizontal(pl.col(name) == value for name, value in unit.key.items())
    wording = pl.when(mine).then(pl.lit(text)).otherwise(TEXT).alias(TEXT)
    rows = {**tables.rows, unit.ask: tables.of(unit.ask).with_columns(wording)}
    with ExitStack() as closing:
        judges, closed = _opened(run, asks, closing)
        return _asked(replace(tables, rows=rows), asks, judges, closed, unit.row or {})


def _asked(
    reworded: Tables, asks: Sequence[str], judges: Sequence[Judge], closed: Mapping[str, str],
    changed: Row,
) -> AskedAgain:  # fmt: skip
    rows: dict[str, dict[str, list[Row]]] = {}
    unasked: dict[str, str] = {}
    examples = from_frame(reworded.examples)
    for ask in asks:
        who = {row["judge"] for row in reworded.of(ask).to_dicts() if is_about(row, changed)}
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
            verdicts = judged.tables.of(ask).filter(pl.col("row") == number).drop("row").to_dicts()
            mine: list[Row] = [row for row in verdicts if is_about(row, changed)]
            rows.setdefault(example.id, {})[ask] = mine
            status, why = outcome.row(number)
            if not mine and status == MISSING and has_what_it_takes(reworded, ask, number):
                unasked[ask] = why or ASKS[ask].not_judged
    return rows, unasked


def _opened(
    run: JudgedRun, asks: Sequence[str], closing: ExitStack
) -> tuple[list[Judge], dict[str, str]]:
    closed: dict[str, str] = {}
    chat: Mapping[str, Judge] = {}
    models = run.form.settings.llm
    if models is not None:
        try:
            chat = _chat(run, models, asks, closing)
        except (RagstoneError, MissingDependency) as error:
            closed = dict.fromkeys(models.judges, error.text)
    opened: list[Judge] = []
    for name in (form.name for form in run.form.judges):
        try:
            judge = chat.get(name) or _judge(run.form, name, asks)
        except (RagstoneError, MissingDependency) as error:
            closed[name] = error.text
            continue
        if judge is not None:
            opened.append(judge)
        elif name not in NOBODY:
            closed.setdefault(name, "")
    why = {name: reason("judge_not_opened", of=name, said=fault) if fault
           else reason("judge_is_another", of=name) for name, fault in closed.items()}  # fmt: skip
    return [*opened, RulesJudge()], why


def _chat(
    run: JudgedRun, models: ChatSettings, asks: Sequence[str], closing: ExitStack
) -> Mapping[str, Judge]:
    metrics = [read_metric(name) for name in run.form.metrics]
    named_judges = chat_judges(
        list(models.judges), Instructions(plan=models.plan), wanted_topics(metrics),
        run.form.settings.citations, offline=False,
    )  # fmt: skip
    if named_judges.settings() != models:
        return {}
    closing.enter_context(run.folder.locked())
    asking = closing.enter_context(named_judges.asking(run.folder.path, USUAL, lambda _: None))
    judges = able_to_ask(tuple(named_judges.judges.values()), asking, asks, {})
    return dict(zip(named_judges.judges, judges, strict=True))


def _judge(form: Manifest, name: str, asks: Sequence[str]) -> Judge | None:
    if name in (LOCAL, STRINGS):
        judge = LocalJudge(name=name)
        if form.settings.local != judge.parts:
            judge = LocalJudge(local_encoder([judge], asks, None)[0], name=name)
        return judge if form.settings.local == judge.parts else None
    if name.startswith(f"{NLI}:"):
        (nli,) = (
            judge for judge in parse_judges([name], offline=True).judges if judge.name == name
        )
        same = isinstance(nli, NliJudge) and (
            f"{name}@{nli.model.fingerprint}" in form.settings.nli
        )
        return nli if same else None
    return None


class RunCorrections:
    """The corrections of a run, made and taken back, and what they make of it."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._store = Store(folder.path)
        self._read: CorrectedRun | None = None

    def now(self) -> CorrectedRun:
        """The run and its corrections, read again if anybody corrected, or scored, it since."""
        form, read = self.folder.form, self._read
        if form is None:
            raise InputError(f"{self.folder.path} is not a run folder.")
        if read is not None and read.run.form is form and read.stamp == self._store.stamp():
            return read
        run = read.run if read and read.run.form is form else JudgedRun(self.folder, form)
        stamp, corrections = self._store.read()
        self._read = read = CorrectedRun(run, stamp, corrections)
        return read

    def correct(
        self, example: str, kind: str, values: Mapping[str, object], *, unit: object, author: str,
        reason: str, seen: str | None,
    ) -> CorrectionResult:  # fmt: skip
        """Correct one judgement; see ``Run.correct``."""
        checks: list[Callable[[], object]] = [partial(asks_named, kind)]
        checks.append(partial(check_words, author, reason))
        each(checks)
        asks = asks_named(kind)
        answers: dict[str, AskedAgain] = {}
        while True:
            now = self.now()
            of, units = now.units(example, asks)
            mine = unit_named(units, kind, unit)
            now.check_seen(mine, seen)
            said_values = checked(mine, values, of)
            if TEXT in said_values and mine.version not in answers:
                shared = sharing(self.folder, {mine.subject})
                tables, _ = now.few(shared.get((mine.ask, mine.subject), [example]))
                answers[mine.version] = ask_again(now.run, mine, str(said_values[TEXT]), tables)
            again, unasked = answers.get(mine.version, NOT_ASKED)
            correction = Correction(
                len(now.all) + 1, example, mine.ask, mine.name, author.strip(), reason.strip(),
                at=_time(),
                judge=None if mine.row is None else str(mine.row["judge"]),
                was=values_of_unit(mine), said=said_values,
                subject=mine.subject, key=mine.key, about=mine.about, again=again,
            )  # fmt: skip
            # Where somebody was quicker, it is looked at anew, for what they said may matter.
            if self._store.add(now.stamp, correction):
                return self._done(correction, example, unasked)

    def undo(
        self, example: str, kind: str, *, unit: object, author: str, reason: str, seen: str | None
    ) -> CorrectionResult:
        """Take the latest correction of a judgement back; see ``Run.undo_correction``."""
        asks = asks_named(kind)
        check_words(author, reason, needs_reason=False)
        while True:
            now = self.now()
            _, units = now.units(example, asks)
            mine = unit_named(units, kind, unit)
            now.check_seen(mine, seen)
            correction = now.standing(mine)
            if correction is None:
                corrected = [unit.named for unit in units if now.standing(unit)]
                others = f" Corrected are: {', '.join(corrected)}." if corrected else ""
                raise InputError(
                    f"{example}, {mine.named} stands as its judge left it: there is nothing to "
                    f"take back.{others}"
                )
            by = Undone(author.strip(), _time(), reason.strip())
            if self._store.undo(now.stamp, correction.number, by):
                return self._done(replace(correction, undone=by), example, {})

    def _done(
        self, correction: Correction, example: str, unasked: Mapping[str, str]
    ) -> CorrectionResult:
        _, units = self.now().units(example, [ASKS[correction.ask]])
        mine = judgement_of(correction)
        version = next((unit.version for unit in units if judgement_of(unit) == mine), "")
        shared = sharing(self.folder, {correction.subject}).get(
            (correction.ask, correction.subject), []
        )
        return CorrectionResult(
            correction, tuple(dict.fromkeys([*shared, correction.example])), version, unasked
        )


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
