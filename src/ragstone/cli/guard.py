"""``ragstone guard FILE``: assess answers as the guard does inside a request."""

import json as plain_json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .column_names import column_names
from .failures import guarded
from .grouped import SourceFirst
from .output import print_page
from .progress import bar

if TYPE_CHECKING:
    from ragstone.guard import Guard

guard = typer.Typer(
    cls=SourceFirst,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Check answers as the guard does while they are being given: ragstone guard FILE.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

NoCitations = Annotated[
    bool,
    typer.Option("--no-citations", help="Do not ask for citations, of a system that was not asked "
                 "to cite."),
]  # fmt: skip
AbstainOk = Annotated[
    bool, typer.Option("--abstain-ok", help="An answer that says it does not know is fine.")
]
LeastSupport = Annotated[
    float | None,
    typer.Option("--least-support", min=0, max=1, metavar="P", help="The least probability that "
                 "the contexts support a sentence. Default: 0.5."),
]  # fmt: skip
LeastRetrievalScore = Annotated[
    float | None,
    typer.Option("--least-retrieval-score", min=0, max=1, metavar="X", help="The least mean of "
                 "the retrieval scores. Default: 0.25."),
]  # fmt: skip
JudgeName = Annotated[
    str | None,
    typer.Option("--judge", "-j", metavar="NAME", help="Who judges the sentences: local:strings "
                 "(the default), local, nli:NAME, openai:MODEL or http://HOST/v1#MODEL."),
]  # fmt: skip
Seconds = Annotated[float, typer.Option("--deadline", metavar="S", help="Seconds for one answer.")]


def named_guard(
    *,
    citations: bool = True,
    abstain_ok: bool = False,
    least_support: float | None = None,
    least_retrieval_score: float | None = None,
    judge: str | None = None,
    deadline: float = 1.0,
    offline: bool = False,
    **others: Any,
) -> "Guard":
    """The guard that the options describe."""
    from ragstone.guard import Checks, Guard

    given = {"least_support": least_support, "least_retrieval_score": least_retrieval_score}
    named: Any = {name: value for name, value in given.items() if value is not None}
    return Guard(
        Checks(citations=citations, **named),
        abstain_ok=abstain_ok,
        judge=judge,
        deadline=deadline,
        offline=offline,
        **others,
    )


@guard.command("assess")
@guarded
def assess_file(
    data: Annotated[
        str, typer.Argument(metavar="FILE", help="Examples: JSON lines, CSV, Parquet and the other "
                            "formats of `ragstone formats`; - for standard input.")
    ],
    no_citations: NoCitations = False,
    abstain_ok: AbstainOk = False,
    least_support: LeastSupport = None,
    least_retrieval_score: LeastRetrievalScore = None,
    judge: JudgeName = None,
    deadline: Seconds = 1.0,
    gate: Annotated[
        Path | None,
        typer.Option(metavar="GATE.json", help="Pass, ask or block by this gate, which "
                     "`ragstone guard calibrate` made."),
    ] = None,
    offline: options.Offline = False,
    map: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=COLUMN", help="Column to read a field from if it is not "
                     "recognised, such as answer=my_column; repeatable."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip rows that cannot be read.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Assess only the first N rows.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Write a row for every assessment.")
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Assess every answer of FILE as the guard does inside a request.

    A row an assessment: which checks passed and failed, with places and reasons, and
    what comes of it. Judged by strings, without a key or a network, unless --judge
    names somebody else.

    Example: ragstone guard answers.jsonl --no-citations --out assessed.jsonl

    Exit status: 0 all answers are ok, 1 a check failed, 2 invalid input, 3 not all
    could be judged.
    """
    from ragstone.core.errors import InputError
    from ragstone.core.files import result_lines
    from ragstone.core.messages import argument
    from ragstone.data import read
    from ragstone.guard import Gate
    from ragstone.guard.guard import AssessedData, assess_data
    from ragstone.report.pages.guard_pages import guard_page, row_of
    from ragstone.run.folder.run_list import Progress

    if out is not None and out.exists() and Path(data).exists() and out.samefile(data):
        raise InputError(f"{argument('out', out)} is the file that is read. Name another one.")
    made = named_guard(
        citations=not no_citations,
        abstain_ok=abstain_ok,
        least_support=least_support,
        least_retrieval_score=least_retrieval_score,
        judge=judge,
        deadline=deadline,
        offline=offline,
        gate=None if gate is None else Gate.read(gate),
    )
    examples = read(data, columns=column_names(map or ()), skip_bad=skip_bad, limit=limit)
    rows: list[dict[str, Any]] = []
    found = AssessedData()
    writing = nullcontext(_not_written) if out is None else result_lines(out)
    with bar("answers") as progress, writing as write:
        for one in assess_data(examples, made):
            found.add(one)
            row = row_of(one)
            write(plain_json.dumps(row, ensure_ascii=False))
            if json:
                rows.append(row)
            if progress is not None:
                read_so_far, total = examples.progress() or (0, 0)
                progress(Progress("assessing", found.n, read_so_far / total if total else None))
    void = made.gate.void if isinstance(made.gate, Gate) else ()
    print_page(guard_page(data, found, rows, void), json=json)
    if not found.ok[True] or found.ok[False] or found.ok[None]:
        raise typer.Exit(1 if found.ok[False] else 3)


def _not_written(_: str) -> None:
    """Where no file is named, the rows go nowhere."""
