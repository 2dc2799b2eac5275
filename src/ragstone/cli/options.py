"""Command-line options: how a command declares its own, those that several share, their values.

A command's function declares an option once: parameters before the ``*`` of its signature are
arguments, those after it options. ``Args`` of its docstring says what each does, with other names
and the word for its value in parentheses: ``metric (-m): …``, ``by (FIELD): …``. Options that
several commands share are described once: in ``Args`` of their file, in ``Args`` here for several
files, and in ``Request`` for what ``evaluate`` takes in Python too.

Every command has ``--kinds``, because any run may hold tables of the user's own kinds.

Args:
    kinds (MODULE): Python file or module that defines judgement kinds to add. It is executed, so
        load only code you trust.
    metrics_from (FILE): Python file that defines metrics to add. It is executed, so load only code
        you trust.
    json: Print the result as JSON.
    run: A run folder made by `ragstone evaluate`, its URL, or latest.
    baseline (SYSTEM): Compare every other system of RUN with this one. Not with RUN_B.
    cluster (FIELD): Field that groups dependent rows. Default: the one the run was evaluated with.
    margin (X): Differences up to this size are too small to matter, in the metric's unit.
    without_corrections: Read runs as their judges left them, without what people corrected.
    columns (--map FIELD=COLUMN): Label file column that holds a label or the values of a metric;
        repeatable.
    scales (--scale METRIC=FIRST:LAST): Scale on which people rated a metric, such as
        faithfulness=1:5; repeatable. Default: 1:4, 1:5 and 0:100 are recognised, with a note.
    full: Print all estimates, with counts, methods, slices, legends.
    pooled: Add a column for the answers of all systems together.
    map (FIELD=COLUMN): Column or path of a field: 'answer=$.output.text'. Repeatable.
    host (ADDRESS): Address to listen on. 0.0.0.0 lets other machines in; docs/network.md says how
        to do so safely.
    port (N): Port to listen on; 0 takes a free one.
    token (TOKEN): Token that opens the pages; RAGSTONE_TOKEN may hold it instead. It is in the
        printed address. Default: a new one at each start.
    no_token: Let everybody on this machine in.
    url (URL): Address at which others open the server if that is not its own, as behind a proxy:
        https://rag.example
    certfile (FILE): Certificate in PEM: encrypts everything.
    keyfile (FILE): Key of the certificate, if it is in another file.
"""

import functools
import pkgutil
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import typer
from typer.models import ParameterInfo

from .output import guarded, print_notes

if TYPE_CHECKING:
    from ragstone.metrics import Metric
    from ragstone.run import Run

ENTRY = re.compile(r"^    (\w+)(?: \((.+?)\))?: (.*(?:\n     +.*)*)", re.MULTILINE)
# What a command cannot take.
IN_PYTHON = re.compile(r" In Python.*$")

# What stands for a value of ``Request``, where its type does not say it.
METAVARS = {
    "by": "FIELD", "cluster": "FIELD", "out": "FOLDER", "qrels": "FILE|URL", "citations": "REGEX",
    "engine": "ENGINE",
    "bertscore": "SETTINGS", "plan": "PLAN", "prompts": "DIR", "budget": "USD", "batch_rest": "HOW",
    "batch_wait": "SECONDS", "timeout": "SECONDS", "cache": "DIR|URL",
}  # fmt: skip

STANDS = {str: "NAME", int: "N", float: "X", Path: "FILE"}


@functools.cache
def _entries(docstring: str) -> dict[str, tuple[str, str]]:
    listed = cleandoc(docstring).partition("Args:\n")[2]
    return {name: (typed, " ".join(words.split())) for name, typed, words in ENTRY.findall(listed)}


@functools.cache
def _of_request() -> dict[str, tuple[str, str]]:
    # Read, not imported: the help of a command loads nothing that judges.
    entries = {}
    for file, names in (("settings", ("Limits", "Instructions")), ("request", ("Request",))):
        code = (pkgutil.get_data("ragstone", f"run/{file}.py") or b"").decode()
        for name in names:
            docstring = code.partition(f'\nclass {name}:\n    """')[2].partition('"""')[0]
            for field, (_, words) in _entries(docstring).items():
                text = IN_PYTHON.sub("", words.replace("``", ""))
                entries[field] = (METAVARS.get(field, ""), text)
    return entries


def described(
    command: Callable[..., None], panels: Mapping[str, str] | None = None, rare: str = ""
) -> Callable[..., None]:
    """Return the command with the options that its signature and docstring declare.

    Args:
        panels: Headings in the help, each with the names of its options.
        rare: Names of options that only ``--help-all`` lists.
    """
    docstring = command.__doc__ or ""
    shared = sys.modules[command.__module__].__doc__ or ""
    usual, request = _entries(__doc__ or ""), _of_request()
    # Only ``evaluate`` has panels, and what ``Request`` says of a name is about it.
    entries = (usual | request if panels else request | usual) | _entries(shared)
    entries |= _entries(docstring)
    headings = {name: title for title, names in (panels or {}).items() for name in names.split()}
    before = signature(command)
    parameters = []
    for parameter in before.parameters.values():
        kind, extra = parameter.annotation, []
        if get_origin(kind) is Annotated:
            kind, *extra = get_args(kind)
        info = extra[0] if extra else {}
        if not isinstance(info, ParameterInfo):
            typed, words = entries[parameter.name]
            is_option = parameter.kind is Parameter.KEYWORD_ONLY
            if is_option and parameter.name in headings:
                info = {**info, "rich_help_panel": headings[parameter.name]}
            info = _info(parameter, kind, typed, words, is_option, info)
            info.hidden = info.hidden or parameter.name in rare.split()
        parameters.append(parameter.replace(annotation=Annotated[kind, info]))
    if rare:
        parameters.append(HELP_ALL)
    command.__doc__ = cleandoc(docstring).partition("\n\nArgs:\n")[0]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = before.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command


def _help_all(context: typer.Context, is_asked: bool) -> None:
    if is_asked:
        rare = [option for option in context.command.params if getattr(option, "hidden", False)]
        for option in rare:
            option.hidden = False  # type: ignore[attr-defined]
        typer.echo(context.get_help())
        for option in rare:
            option.hidden = True  # type: ignore[attr-defined]
        raise typer.Exit


HELP_ALL = Parameter(
    "help_all", Parameter.KEYWORD_ONLY, default=False,
    annotation=Annotated[bool, typer.Option(
        "--help-all", callback=_help_all, is_eager=True, expose_value=False,
        help="Show all options, also the rare ones.",
    )],
)  # fmt: skip


def _info(
    parameter: Parameter, kind: Any, typed: str, words: str, is_option: bool, extra: dict[str, Any]
) -> Any:
    parts = [part for part in get_args(kind) if part is not type(None)] or [kind]
    single = (get_args(parts[0]) or parts)[0]
    flags = [word for word in typed.split() if word.startswith("-")]
    metavar = " ".join(word for word in typed.split() if not word.startswith("-"))
    if not is_option:
        needed = parameter.default is Parameter.empty
        name = parameter.name.upper()
        metavar = metavar or (name if needed else f"[{name}]")
        return typer.Argument(metavar=metavar, help=words, **extra)
    if not any(flag.startswith("--") for flag in flags):
        flags = [f"--{parameter.name.replace('_', '-')}", *flags]
    return typer.Option(*flags, metavar=metavar or STANDS.get(single), help=words, **extra)


def with_kinds(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with ``--kinds``, which is heeded before the command does anything."""

    @functools.wraps(described(command))
    def run(
        *args: Any, kinds: list[str] | None = None, help_all: bool = False, **options: Any
    ) -> None:
        del help_all  # Typer hands it over; its callback has done what it means.
        if kinds:
            from ragstone.judgements import load_kinds

            for name in kinds:
                load_kinds(name)
        command(*args, **options)

    before = signature(command)
    kind = Annotated[list[str] | None, {"hidden": "help_all" in before.parameters}]
    added = Parameter("kinds", Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    run.__signature__ = before.replace(parameters=[*before.parameters.values(), added])  # type: ignore[attr-defined]
    return described(run)


def in_group(
    group: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command of a group, by its own name or by another."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        return group.command(name)(guarded(with_kinds(command)))

    return add


# The options of a command that serves pages, by the field of ``ServerAddress``.
SERVER: dict[str, Any] = {
    "host": str,
    "port": int,
    "token": Annotated[str, {"envvar": "RAGSTONE_TOKEN", "show_envvar": False}],
    "no_token": bool,
    "url": str,
    "certfile": Path | None,
    "keyfile": Path | None,
}


def with_server(port: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a server, by default on this port, as one ``at``."""
    defaults = {"host": "127.0.0.1", "port": port, "token": "", "no_token": False, "url": ""}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, **options: Any) -> None:
            from ragstone.web.security import ServerAddress

            at = ServerAddress(**{name: options.pop(name) for name in SERVER})
            command(*args, at=at, **options)

        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=kind)
            for name, kind in SERVER.items()
        ]
        before = signature(command)
        run.__annotations__ = {k: v for k, v in command.__annotations__.items() if k != "at"}
        others = [parameter for parameter in before.parameters.values() if parameter.name != "at"]
        run.__signature__ = before.replace(parameters=[*others, *added])  # type: ignore[attr-defined]
        return run

    return decorate


Value = TypeVar("Value")


def column_names(pairs: Sequence[str]) -> dict[str, str]:
    """Name to column.

    >>> column_names(["answer=reply", "ndcg(k=10)=gain"])
    {'answer': 'reply', 'ndcg(k=10)': 'gain'}
    """
    return named_values(pairs, str, "FIELD=COLUMN", "--map")


def scale_ends(pairs: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Metric to the ends of its scale.

    >>> scale_ends(["faithfulness=1:4", "ndcg(k=10)=0:100"])
    {'faithfulness': (1.0, 4.0), 'ndcg(k=10)': (0.0, 100.0)}
    """

    def ends(text: str) -> tuple[float, float]:
        first, _, last = text.partition(":")
        return float(first), float(last)

    return named_values(pairs, ends, "METRIC=FIRST:LAST, such as faithfulness=1:5", "--scale")


def named_values(
    pairs: Sequence[str], read: Callable[[str], Value | None], expected: str, option: str
) -> dict[str, Value]:
    """Name to value, split at the last ``=``, because names such as ``ndcg(k=10)`` have one."""
    values: dict[str, Value] = {}
    for pair in pairs:
        name, _, text = map(str.strip, pair.rpartition("="))
        try:
            value = read(text) if name and text else None
        except ValueError:
            value = None
        if value is None:
            raise typer.BadParameter(f"{pair!r} is not {expected}.", param_hint=option)
        if values.setdefault(name, value) != value:
            raise typer.BadParameter(f"{name} stands twice, with two values.", param_hint=option)
    return values


# A file of labels, or a store: a path would take a slash out of ``postgresql://``.
LabelSource = str

# The word for the newest finished run, where no folder has this name.
LATEST = Path("latest")


@guarded
def run_folder(run: Path | None) -> Path | None:
    """The folder that was named, or the newest finished run."""
    from ragstone.run.folder.run_list import latest_run

    return latest_run() if run == LATEST and not run.exists() else run


def read_place(text: str) -> Path:
    """The folder at a path; of a run at a URL, which a path would take a slash out of, a copy."""
    from ragstone.core.remote_files import is_url
    from ragstone.run.folder.remote_folder import mirrored

    return guarded(mirrored)(text) if is_url(text) else Path(text)


RUN_PARSER = {"callback": run_folder, "parser": read_place}
RunFolder = Annotated[Path, RUN_PARSER]
OtherRun = Annotated[Path | None, RUN_PARSER]


def read_run(run: Path, *, without_corrections: bool) -> "Run":
    """Open a run, with what people corrected or without."""
    from ragstone.run import Run

    opened = Run.open(run)
    return opened.without_corrections() if without_corrections else opened


def load_user_metrics(files: Sequence[Path]) -> "list[Metric]":
    """Load the metrics from the user's own files; what these print is none of the results."""
    from ragstone.metrics import load_metrics

    with redirect_stdout(sys.stderr):
        return [metric for file in files for metric in load_metrics(file)]


def names_of(metrics: Sequence[str] | None) -> list[str]:
    """Text forms of metrics; adds a note for each deprecated name."""
    from ragstone.metrics import alias_note, parse_metric

    notes = {text: alias_note(text) for text in metrics or ()}
    print_notes(note for note in notes.values() if note)
    return [str(parse_metric(text)) if note else text for text, note in notes.items()]
