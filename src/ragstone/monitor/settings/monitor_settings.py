"""Monitor settings: the TOML file as a whole, its defaults, and checks before a monitor starts."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, TypeAdapter

from ragstone.core.errors import InputError, RagstoneError
from ragstone.data.sources import on_disk, read_toml
from ragstone.judges.judge_names import check_name, is_without_model, panel_models
from ragstone.models.chat.chat_names import ADAPTERS, is_chat, open_chat

from .alarm_rules import (
    AlarmPromise,
    AlarmRule,
    Baseline,
    BaselineSettings,
    NoDataSettings,
    Promise,
    PromiseTable,
    Rule,
)
from .sections import (
    METRICS,
    Channel,
    JudgingSettings,
    NotificationSettings,
    RedactionSettings,
    RetentionSettings,
    SamplingSettings,
    Url,
    WriteBackSettings,
)
from .settings_table import LISTED, FileContext, FilePath, Seconds, read_tables, that

# Without a baseline run no bar is right for everybody, so these are counted from the first judged
# answers of the system itself.
DEFAULT_RULES = (
    AlarmRule("guard_ok", "guard_ok", margin=0.05, drop=0.15),
    AlarmRule("faithfulness", "faithfulness", margin=0.05, drop=0.15),
)

DEBOUNCE = 900.0


@dataclass(frozen=True)
class MonitorSettings:
    """All settings: how a monitor judges, keeps and alarms.

    Attributes:
        promise: On the false alarms of all rules together that have no promise of their own.
        debounce: Seconds for which an alarm has to stay resolved until that is sent; one that
            fires again before is the same alarm.
        url: The address at which people open the app, for links in messages; empty: links are
            relative.
    """

    judging: JudgingSettings = JudgingSettings()  # noqa: RUF009
    sampling: SamplingSettings = SamplingSettings()  # noqa: RUF009
    redaction: RedactionSettings = RedactionSettings()  # noqa: RUF009
    retention: RetentionSettings = RetentionSettings()  # noqa: RUF009
    corpus: Path | None = None
    tail: tuple[Path, ...] = ()
    write_back: WriteBackSettings | None = None
    baseline: BaselineSettings = BaselineSettings()  # noqa: RUF009
    promise: AlarmPromise = AlarmPromise()  # noqa: RUF009
    no_data: NoDataSettings = NoDataSettings()  # noqa: RUF009
    debounce: float = DEBOUNCE
    url: str = ""
    rules: tuple[AlarmRule, ...] = DEFAULT_RULES
    tells: tuple[NotificationSettings, ...] = ()
    file: Path | None = None

    @cached_property
    def sharing(self) -> int:
        """Return how many rules share the promise of the file."""
        return sum(rule.promise is None for rule in self.rules)

    def with_options(
        self, *, judges: tuple[str, ...] = (), rate: float | None = None
    ) -> "MonitorSettings":
        """Return the same with what a command line says in place of the file."""
        judging = replace(self.judging, judges=judges) if judges else self.judging
        sampling = self.sampling if rate is None else replace(self.sampling, rate=rate)
        return replace(self, judging=judging, sampling=sampling)


# What holds without a file.
DEFAULTS = MonitorSettings()


PassageFile = Annotated[
    FilePath, that(Path.is_file, "{} is not there; name the file that has the passages.")
]


@dataclass(frozen=True, slots=True)
class _CorpusTable:
    file: PassageFile | None = None


def _is_no_folder(path: Path) -> bool:
    return not path.is_dir()


@dataclass(frozen=True, slots=True)
class _TailTable:
    files: Annotated[
        tuple[Annotated[FilePath, that(_is_no_folder, "{} is a folder; name a file in it.")], ...],
        LISTED,
    ] = ()


@dataclass(frozen=True, slots=True)
class _AlarmsTable:
    debounce: Seconds = DEBOUNCE
    url: Url = ""


@dataclass(frozen=True)
class _SettingsFile:
    __pydantic_config__ = ConfigDict(extra="forbid")

    judging: JudgingSettings = JudgingSettings()  # noqa: RUF009
    corpus: _CorpusTable = _CorpusTable()
    tail: _TailTable = _TailTable()
    alarms: _AlarmsTable = _AlarmsTable()
    rule: tuple[Rule, ...] = ()
    sampling: SamplingSettings = SamplingSettings()  # noqa: RUF009
    redaction: RedactionSettings = RedactionSettings()  # noqa: RUF009
    retention: RetentionSettings = RetentionSettings()  # noqa: RUF009
    write_back: WriteBackSettings | None = None
    baseline: Baseline = BaselineSettings()  # noqa: RUF009
    promise: Promise = PromiseTable()  # noqa: RUF009
    no_data: NoDataSettings = NoDataSettings()  # noqa: RUF009
    tell: tuple[Channel, ...] = ()


def read_settings(path: str | PathLike[str]) -> MonitorSettings:
    """Read settings from a TOML file. Paths in it are counted from where it lies.

    Raises:
        InputError: It cannot be read or is no TOML.
        FaultySettings: It has faults: all of them, each with its line and what to write instead.
    """
    file = Path(path)
    values = read_toml(file, str(file))
    text = on_disk(file).read_text(encoding="utf-8-sig")
    context = FileContext(file.parent, list(METRICS))
    tables = read_tables(TypeAdapter(_SettingsFile), file, values, text, context)
    judged = {"guard_ok", *tables.judging.metrics}
    usual = tuple(rule for rule in DEFAULT_RULES if rule.metric in judged)
    return MonitorSettings(
        judging=tables.judging, sampling=tables.sampling, redaction=tables.redaction,
        retention=tables.retention, corpus=tables.corpus.file, tail=tables.tail.files,
        write_back=tables.write_back, baseline=tables.baseline, promise=tables.promise.promise,
        no_data=tables.no_data, debounce=tables.alarms.debounce, url=tables.alarms.url.rstrip("/"),
        rules=tuple(table.rule for table in tables.rule) or usual, tells=tables.tell, file=file,
    )  # fmt: skip


def unset_variables(settings: MonitorSettings) -> tuple[str, ...]:
    """Return the environment variables with secrets that the settings name and that are not set."""
    back = settings.write_back
    variables = list(back.headers_from.values()) if back else []
    for channel in settings.tells:
        for name in ("url_from", "secret_from", "password_from"):
            variables.append(getattr(channel, name, None) or "")
        variables += getattr(channel, "headers_from", {}).values()
    return tuple(dict.fromkeys(item for item in variables if item and not os.environ.get(item)))


def unpriced_models(settings: MonitorSettings) -> tuple[str, ...]:
    """Return the models whose price is not known, where the settings say what an hour may cost."""
    judging = settings.judging
    if judging.usd_an_hour is None:
        return ()
    from ragstone.run.calls.budget import load_prices

    prices = load_prices(judging.prices)
    models = dict.fromkeys(
        model
        for judge in judging.judges
        for model in map(str.strip, judge.split(","))
        if is_chat(model)
    )
    return tuple(model for model in models if prices.of(model) is None)


def lacking(settings: MonitorSettings) -> Iterator[str]:
    """Give the faults that keep a monitor from starting here, each with what to do."""
    unset = unset_variables(settings)
    if unset:
        yield (
            f"Not set in the environment: {', '.join(unset)}. Set each before the monitor starts "
            f"(export {unset[0]}=…), or leave out the key ending in _from that names it."
        )
    try:
        unpriced = unpriced_models(settings)
    except InputError as error:
        yield error.text
        return
    if unpriced:
        yield (
            f"usd_an_hour in [judging] limits nothing while it is not known what "
            f'{", ".join(unpriced)} costs. Write prices = "prices.toml" beside it, a file with '
            f"the US dollars per million tokens:\n"
            f'  ["{unpriced[0].split("?")[0]}"]\n  input = 0.25\n  output = 2.0\n'
            "or install those of many models: pip install 'ragstone[prices]'. answers_an_hour "
            "needs no prices."
        )


def closed_judges(settings: MonitorSettings) -> Iterator[str]:
    """Give the faults that keep judges from being asked, such as a missing key."""
    for name in settings.judging.judges:
        try:
            check_name(name)
            if not is_without_model(name):
                for model in panel_models(name):
                    # To see whether those of an extra can be had takes seconds and much memory.
                    if not model.startswith(tuple(f"{adapter}:" for adapter in ADAPTERS)):
                        open_chat(model)
        except RagstoneError as error:
            yield error.text


def check_start(settings: MonitorSettings) -> None:
    """Refuse settings by which nothing could be judged, alarms not sent, or money not counted."""
    where = "" if settings.file is None else f"{settings.file}: "
    faults = [*closed_judges(settings), *(f"{where}{item}" for item in lacking(settings))]
    if faults:
        raise InputError("\n".join(faults))
