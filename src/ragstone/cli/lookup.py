"""Lookup commands: list and explain metrics, judges and formats; list and download models."""

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from ragstone.core.errors import ModelError, RagstoneError, UnknownName
from ragstone.core.grouping import grouped
from ragstone.core.messages import in_shell

from .options import load_user_metrics
from .output import BAD_INPUT, print_page

if TYPE_CHECKING:
    from ragstone.judgements import Kind
    from ragstone.models import Stored
    from ragstone.report.page import Page, Section


def metrics(
    name: str | None = None,
    *,
    suite: bool = False,
    metrics_from: list[Path] | None = None,
    json: bool = False,
) -> None:
    """List the metrics, or explain NAME.

    Args:
        name: Metric to explain, or a family such as grounding; with --suite, a suite.
        suite: List suites instead of metrics.
    """
    from ragstone.report.pages import catalogue_page as pages

    load_user_metrics(metrics_from or ())
    if suite:
        page = pages.suite_page([pages.named_suite(name)] if name else pages.suites())
    elif name is None:
        page = pages.catalogue_page()
    else:
        # A family and a metric may share a name; the metric's page says more.
        of_family = {entry.name: entry for entry in pages.catalogue() if entry.family == name}
        if of_family and name not in of_family:
            page = pages.family_page(name, [*of_family.values()])
        else:
            page = pages.metric_page(pages.named(name), name)
    print_page(page, json=json)


CROSS_ENCODER = "a cross-encoder of your choice, docs/judges.md"
CHAT = "a chat model of your choice, docs/judge-models.md; commas between several make a panel"


def judges(kind: str | None = None, *, json: bool = False) -> None:
    """List the judges and what they judge, or explain one KIND.

    Args:
        kind ([KIND]): Kind of judgement to explain: its guideline and its labels.
    """
    from ragstone.judgements import KINDS

    if kind is not None and kind not in KINDS:
        raise UnknownName("kind", kind, KINDS, hint=f"Kinds are: {', '.join(KINDS)}.")
    print_page(_list_judges() if kind is None else _of_kind(KINDS[kind]), json=json)


def _list_judges() -> "Page":
    from ragstone.report.page import Facts, Note, Page, quiet, section

    known = _known()
    names_of = grouped((judge["about"], judge["name"]) for judge in known)
    kinds_of = {judge["about"]: judge["kinds"] for judge in known}
    notes = []
    for about, names in names_of.items():
        title = names[0] if len(names) == 1 else "chat models"
        notes += [Note(title, ", ".join(names))] if len(names) > 1 else []
        notes += [Note(title, about), Note(title, quiet(f"fills {', '.join(kinds_of[about])}"))]
    more = "ragstone judges KIND shows how a kind is judged, such as support."
    return Page("judges", "", (section(Facts(tuple(notes)), more),), record=lambda: known)


def _of_kind(kind: "type[Kind]") -> "Page":
    from ragstone.judgements import instructions_for_people
    from ragstone.report.page import Page, quiet, section

    filled_by = quiet(f"Filled by: {', '.join(_fillers(kind))}")
    body = section(instructions_for_people(kind).rstrip(), filled_by)
    return Page("judges", kind.name, (body,), record=lambda: _record(kind))


def _record(kind: "type[Kind]") -> dict[str, Any]:
    from ragstone.judgements import filled, guideline_of

    guideline = guideline_of(kind)
    return {
        "kind": kind.name,
        "question": guideline.title,
        "definition": filled(guideline.definition, kind),
        "for_models": filled(guideline.for_models, kind),
        "for_people": filled(guideline.for_people, kind),
        "hard_cases": guideline.hard_cases.splitlines(),
        "columns": {
            name: {
                "says": column.doc,
                "values": {str(value): means for value, means in column.values.items()},
                "label": column.label or None,
            }
            for name, column in kind.columns.items()
        },
        "filled_by": _fillers(kind),
    }


def _fillers(kind: "type[Kind]") -> list[str]:
    from ragstone.judges.judge_names import who_fills

    return list(dict.fromkeys(who for ask in kind.asks for who in who_fills(ask.name)))


def _known() -> list[dict[str, Any]]:
    from ragstone.judgements import ASKS, answered_by
    from ragstone.judges.judge_names import JUDGES
    from ragstone.judges.nli_judge import NliJudge
    from ragstone.models.chat.chat_names import FORMS

    every = [(judge.name, judge.about, judge.asks) for judge in JUDGES]
    every.append(("nli:NAME", CROSS_ENCODER, NliJudge.asks))
    every += [(form, CHAT, answered_by("model")) for form in FORMS]
    return [
        {"name": name, "about": about, "kinds": sorted({ASKS[ask].kind for ask in asks})}
        for name, about, asks in every
    ]


def formats(name: str | None = None, *, json: bool = False) -> None:
    """List the formats that can be read, or show an example of one.

    Args:
        name: Format to show an example of.
    """
    from ragstone.data import formats
    from ragstone.report.page import Facts, Note, Page, Paragraphs, Verbatim, quiet, section

    layouts = {layout.name: layout for layout in formats()}
    if name is not None and name not in layouts:
        raise UnknownName("format", name, layouts, hint="`ragstone formats` lists them all.")
    chosen = [layout for layout in layouts.values() if name in (None, layout.name)]
    notes = tuple(
        Note(layout.name, (layout.what, quiet("  " + " ".join(layout.extensions))))
        for layout in chosen
    )
    more = Paragraphs(("ragstone formats NAME shows an example of one, such as ragas.",))
    example = more if name is None else Verbatim(tuple(chosen[0].example))
    records = [asdict(layout) for layout in chosen]
    page = Page(
        "formats", name or "", (section(Facts(notes), example),),
        record=lambda: records if name is None else records[0],
    )  # fmt: skip
    print_page(page, json=json)


def _facts(model: "Stored") -> dict[str, Any]:
    from ragstone.models.model_folder import ModelFolder

    dimensions = limit = None
    with suppress(RagstoneError):
        folder = ModelFolder.read(model.folder)
        dimensions, limit = folder.config.hidden_size, folder.max_tokens
    return {
        **asdict(model.origin),
        "fetched": model.fetched,
        "bytes": model.size,
        "dimensions": dimensions,
        "limit": limit,
        "path": str(model.folder),
    }


Action = Literal["list", "pull", "verify", "clear"]


def models(action: Action = "list", name: str | None = None, *, json: bool = False) -> None:
    """List, download or verify models, or clear cached embeddings.

    pull downloads builtin:minilm unless NAME is given. verify reads every byte and
    compares it with what was stored. clear deletes the cached embeddings and keeps
    the models.

    Exit status: 0 done, 2 a model is damaged or cannot be downloaded.

    Args:
        action: list, pull, verify or clear.
        name: builtin:minilm, org/name on the Hugging Face Hub, or onnx:org/name for its ONNX file.
    """
    if action == "list":
        page = _list_models()
    else:
        page = {"pull": _pull, "verify": _verify, "clear": _clear}[action](name)
    print_page(page, json=json)
    record: Any = page.record()
    if action == "verify" and any(model["faults"] for model in record):
        raise typer.Exit(BAD_INPUT)


def _list_models() -> "Page":
    from ragstone.models import BUILTIN, cache_folder, stored
    from ragstone.report.page import Facts, Note, Page, section, strong

    models = [(model, _facts(model)) for model in stored()]
    sections = [_section(*model) for model in models]
    if all(model.origin.name != BUILTIN for model, _ in models):
        lacking = (strong(BUILTIN), "  not there yet: ragstone models pull")
        sections.append(section(lacking))
    words, embeddings = _embeddings()
    sections.append(section(Facts((Note("embeddings", words),))))
    record = {
        "cache": str(cache_folder()),
        "models": [facts for _, facts in models],
        "embeddings": embeddings,
    }
    return Page("models", "", tuple(sections), record=lambda: record)


def _embeddings() -> tuple[str, dict[str, Any]]:
    from ragstone.models import kept

    try:
        vectors = kept()
    except ModelError as error:
        words = in_shell(error.text)
        return words, {"error": words}
    words = f"{vectors.vectors:,} vectors, {_megabytes(vectors.size)}, {vectors.file}"
    return words, {"path": str(vectors.file), "vectors": vectors.vectors, "bytes": vectors.size}


def _pull(name: str | None) -> "Page":
    from ragstone.models import BUILTIN, pull
    from ragstone.report.page import Page

    model = pull(name or BUILTIN)
    facts = _facts(model)
    return Page("models", model.origin.name, (_section(model, facts),), record=lambda: facts)


def _verify(name: str | None) -> "Page":
    from ragstone.models import damage, stored
    from ragstone.report.page import Outline, OutlineItem, Page, section, strong

    models = stored()
    chosen = [
        model for model in models if name in (None, model.origin.name, model.origin.pulled_as)
    ]
    if not chosen and name is not None:
        raise ModelError(f"{name} is not stored here. To fetch it: ragstone models pull {name}")
    results = [(model, damage(model)) for model in chosen]
    sections = []
    for model, faults in results:
        words = "DAMAGED" if faults else f"whole, {len(model.files)} files"
        again = f"Fetch it again: ragstone models pull {model.origin.pulled_as}"
        lines = [*faults, again] if faults else []
        title = (strong(model.origin.pulled_as), f"  {words}")
        sections.append(section(title, Outline(tuple(map(OutlineItem, lines)))))
    if not results:
        sections.append(section("No model is stored here."))
    record = [{**_facts(model), "faults": faults} for model, faults in results]
    return Page("models", name or "", tuple(sections), record=lambda: record)


def _clear(_: str | None) -> "Page":
    from ragstone.models import clear
    from ragstone.report.page import Page, section

    before = clear()
    cleared = section(f"{before.vectors:,} vectors cleared, {_megabytes(before.size)}")
    record = {"cleared": before.vectors, "bytes": before.size}
    return Page("models", "", (cleared,), record=lambda: record)


def _section(model: "Stored", stated: dict[str, Any]) -> "Section":
    from ragstone.report.page import Facts, Note, Section, strong

    origin = model.origin
    size = f"{stated['dimensions']} dimensions" if stated["dimensions"] else "dimensions not stated"
    limit = f"{stated['limit']} tokens" if stated["limit"] else "limit not stated"
    source = f"{origin.source}{' at ' + origin.commit[:12] if origin.commit else ''}"
    facts = (
        Note("  model", f"{size}, {limit}, {origin.weights}, {_megabytes(model.size)}"),
        Note("  licence", origin.licence or "not stated"),
        Note("  from", f"{source}, {model.fetched[:10]}"),
        Note("  folder", str(model.folder)),
    )
    return Section((Facts(facts),), strong(origin.name))


def _megabytes(size: int) -> str:
    from ragstone.models.download import megabytes

    return megabytes(size)
