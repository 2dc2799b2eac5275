"""Command-line options: options that several commands share, and the parsing of their values.

Every command has ``--kinds``, because any run may hold tables of the user's own kinds.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.core.errors import MissingDependency

from .output import guarded, print_notes

if TYPE_CHECKING:
    from ragstone.metrics import Metric
    from ragstone.run import Run


Kinds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE",
        help="Python file or module that defines judgement kinds to add. It is executed, so load "
        "only code you trust.",
    ),
]


def with_kinds(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option, which is heeded before the command does anything."""

    @functools.wraps(command)
    def run(*args: Any, kinds: list[str] | None = None, **options: Any) -> None:
        if kinds:
            from ragstone.judgements import load_kinds

            for name in kinds:
                load_kinds(name)
        command(*args, **options)

    own = Parameter("kinds", Parameter.KEYWORD_ONLY, default=None, annotation=Kinds)
    given = signature(command)
    shown = given.replace(parameters=[*given.parameters.values(), own])
    run.__signature__ = shown  # type: ignore[attr-defined]
    return run


SERVER = {
    "host": Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on. 0.0.0.0 lets other machines "
                     "in; docs/network.md says how to do so safely."),
    ],
    "port": Annotated[
        int, typer.Option(metavar="N", help="Port to listen on; 0 takes a free one.")
    ],
    "token": Annotated[
        str,
        typer.Option(metavar="TOKEN", envvar="RAGSTONE_TOKEN", show_envvar=False,
                     help="Token that opens the pages; RAGSTONE_TOKEN may hold it instead. It "
                          "is in the printed address. Default: a new one at each start."),
    ],
    "no_token": Annotated[
        bool, typer.Option("--no-token", help="Let everybody on this machine in.")
    ],
    "url": Annotated[
        str,
        typer.Option(metavar="URL", help="Address at which others open the server if that is "
                                         "not its own, as behind a proxy: https://rag.example"),
    ],
    "certfile": Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate in PEM: encrypts everything.")
    ],
    "keyfile": Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Key of the certificate, if it is in another file."),
    ],
}  # fmt: skip
"""The options of a command that serves pages, by the field of ``ServerAddress``."""


def with_server(port: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a server; it takes them as one ``at``.

    Args:
        port: What it listens on by default.
    """
    defaults = {"host": "127.0.0.1", "port": port, "token": "", "no_token": False, "url": ""}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, **options: Any) -> None:
            try:
                from ragstone.web.security import ServerAddress
            except ModuleNotFoundError as error:
                raise MissingDependency("The local app", "ui") from error
            at = ServerAddress(**{name: options.pop(name) for name in SERVER})
            command(*args, at=at, **options)

        own = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=kind)
            for name, kind in SERVER.items()
        ]
        before = signature(command)
        run.__annotations__ = {k: v for k, v in command.__annotations__.items() if k != "at"}
        shown = [one for one in before.parameters.values() if one.name != "at"]
        run.__signature__ = before.replace(parameters=[*shown, *own])  # type: ignore[attr-defined]
        return run

    return decorate


def column_names(pairs: Sequence[str]) -> dict[str, str]:
    """Name to column. The column stands behind the last ``=``, for ``ndcg(k=10)`` is a name too.

    >>> column_names(["answer=reply", "ndcg(k=10)=gain"])
    {'answer': 'reply', 'ndcg(k=10)': 'gain'}

    Raises:
        BadParameter: One that has no name or no column.
    """
    columns = {}
    for pair in pairs:
        name, equals, column = pair.rpartition("=")
        if not (equals and name.strip() and column.strip()):
            raise typer.BadParameter(f"{pair!r} is not FIELD=COLUMN.", param_hint="--map")
        columns[name.strip()] = column.strip()
    return columns


RatingScales = Annotated[
    list[str] | None,
    typer.Option(
        "--scale",
        metavar="METRIC=FIRST:LAST",
        help="Scale on which people rated a metric, such as faithfulness=1:5; repeatable. "
        "Default: 1:4, 1:5 and 0:100 are recognised, with a note.",
    ),
]


def scale_ends(pairs: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Metric to the ends of its scale. They stand behind the last ``=``.

    >>> scale_ends(["faithfulness=1:4", "ndcg(k=10)=0:100"])
    {'faithfulness': (1.0, 4.0), 'ndcg(k=10)': (0.0, 100.0)}

    Raises:
        BadParameter: One that has no name or no two numbers.
    """
    scales = {}
    for pair in pairs:
        name, _, ends = pair.rpartition("=")
        first, _, last = ends.partition(":")
        try:
            scales[name.strip()] = float(first), float(last)
        except ValueError:
            name = ""
        if not name.strip():
            expected = "METRIC=FIRST:LAST, such as faithfulness=1:5"
            raise typer.BadParameter(f"{pair!r} is not {expected}.", param_hint="--scale")
    return scales


PANEL = "LLM judges"

Plan = Annotated[
    str,
    typer.Option(
        metavar="PLAN",
        rich_help_panel=PANEL,
        help="isolated: each task in its own call; lean: fewer calls, because some tasks share "
        "one and may influence each other.",
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        rich_help_panel=PANEL,
        help="Folder of custom prompts: files such as support.md, which replace the built-in ones.",
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=PANEL,
        help="Language in which models write claims and reasons, such as German. Default: the "
        "language of the texts.",
    ),
]
Rubrics = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", rich_help_panel=PANEL, help="TOML file that defines your own criteria."
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=PANEL,
        help="Print the expected calls, tokens and cost without calling any model.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        metavar="USD",
        rich_help_panel=PANEL,
        help="Stop calling models at this cost. What was not judged is reported as missing; to "
        "continue, run the same command with a larger budget.",
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(metavar="N", rich_help_panel=PANEL, help="Stop after this many model calls."),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=PANEL,
        help="TOML file with prices per million tokens. Default: the prices in the `prices` extra.",
    ),
]
Batch = Annotated[
    bool,
    typer.Option(
        "--batch",
        rich_help_panel=PANEL,
        help="Ask in batches, which OpenAI, Anthropic, Gemini and servers with /v1/batches answer "
        "within a day, usually at half the price. Ends with status 5 until they have; the same "
        "command goes on.",
    ),
]
BatchWait = Annotated[
    float,
    typer.Option(metavar="SECONDS", rich_help_panel=PANEL, help="Wait so long for batches."),
]
BatchRest = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        rich_help_panel=PANEL,
        help="How what a batch could not answer is asked again: batch, in the next one; alone, at "
        "once and at the full price.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        rich_help_panel=PANEL,
        help="Time limit for one reply, counted from when the request is sent.",
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(
        metavar="N",
        rich_help_panel=PANEL,
        help="Maximum concurrent calls per model; adapts to the server's limit.",
    ),
]
Rpm = Annotated[
    int | None,
    typer.Option(
        metavar="N", rich_help_panel=PANEL, help="Maximum calls per minute to each model."
    ),
]
Tpm = Annotated[
    int | None,
    typer.Option(
        metavar="N", rich_help_panel=PANEL, help="Maximum tokens per minute to each model."
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|URL",
        rich_help_panel=PANEL,
        help="Folder that caches replies across runs, or its URL, such as s3://bucket/cache, for "
        "several machines. Default: Ragstone's cache folder.",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        rich_help_panel=PANEL,
        help="Neither use cached replies from earlier runs nor cache new ones.",
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        rich_help_panel=PANEL,
        help="Print every reply, and each example with its verdicts as soon as it is judged.",
    ),
]


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

LabelSource = str
"""A file of labels, or a store: a path would take a slash out of ``postgresql://``."""

LATEST = Path("latest")
"""The word for the newest finished run, where no folder has this name."""


@guarded
def run_folder(run: Path | None) -> Path | None:
    """The folder that was named, or the newest finished run."""
    from ragstone.run.folder.run_list import latest_run

    return latest_run() if run == LATEST and not run.exists() else run


def read_place(given: str) -> Path:
    """The folder at a path; of a run at a URL, which a path would take a slash out of, a copy."""
    from ragstone.core.remote_files import is_url
    from ragstone.run.folder.remote_folder import mirrored

    return guarded(mirrored)(given) if is_url(given) else Path(given)


RunFolder = Annotated[
    Path,
    typer.Argument(
        callback=run_folder,
        parser=read_place,
        help="A run folder made by `ragstone evaluate`, its URL, or latest.",
    ),
]

WithoutCorrections = Annotated[
    bool,
    typer.Option(
        "--without-corrections", help="Read runs as their judges left them, without what people "
        "corrected.",
    ),
]  # fmt: skip


def read_run(run: Path, *, without_corrections: bool) -> "Run":
    """Open a run, with what people corrected or without."""
    from ragstone.run import Run

    opened = Run.open(run)
    return opened.without_corrections() if without_corrections else opened


Full = Annotated[
    bool,
    typer.Option(
        "--full", help="Print every estimate with its counts and method, slices and legends."
    ),
]

Pooled = Annotated[
    bool,
    typer.Option("--pooled", help="Add a column for the answers of all systems together."),
]

Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="SYSTEM",
        help="Compare every other system of RUN with this one. Not with RUN_B.",
    ),
]

Margin = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Differences up to this size are too small to matter, in the metric's unit.",
    ),
]

Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="Field that groups dependent rows. Default: the one the run was evaluated with.",
    ),
]

LabelColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="Label file column that holds a label or the values of a metric; repeatable.",
    ),
]

MetricsFrom = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Python file that defines metrics to add. It is executed, so load only code you "
        "trust.",
    ),
]


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


Embedder = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Embedding model: builtin:minilm, a folder, org/name on the Hugging Face Hub, "
        "openai:MODEL or http://HOST/v1#MODEL. Default: builtin:minilm, if a metric you name "
        "needs embeddings.",
    ),
]

CrossEncoder = Annotated[
    str | None,
    typer.Option(
        "--cross-encoder",
        metavar="NAME",
        help="Cross-encoder that scores answer and reference together: a folder, or org/name on "
        "the Hugging Face Hub.",
    ),
]

Bertscore = Annotated[
    str,
    typer.Option(
        metavar="SETTINGS",
        help="BERTScore settings, separated by commas: model=NAME for an encoder of its own beside "
        "the embedder, layer=9, idf, rescale or rescale=FILE.",
    ),
]

KeepThoughts = Annotated[
    bool,
    typer.Option("--keep-thoughts", help="Also judge what a reasoning model wrote in <think> "
                                         "tags, as part of its answer."),
]  # fmt: skip
Offline = Annotated[
    bool,
    typer.Option("--offline", help="Download no model, and send no text to another machine."),
]
