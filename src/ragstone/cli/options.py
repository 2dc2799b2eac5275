"""Options that several commands have, the same in each."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import guarded

if TYPE_CHECKING:
    from ragstone.run import Run

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

WithoutOverrules = Annotated[
    bool,
    typer.Option(
        "--without-overrules", help="Read runs as their judges left them, without what people "
        "overruled.",
    ),
]  # fmt: skip


def read_run(run: Path, *, without_overrules: bool) -> "Run":
    """Open a run, with what people overruled or without."""
    from ragstone.run import Run

    opened = Run.open(run)
    return opened.without_overrules() if without_overrules else opened


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

Offline = Annotated[
    bool,
    typer.Option("--offline", help="Download no model, and send no text to another machine."),
]
