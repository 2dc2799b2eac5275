"""Lookup commands: list and explain metrics, judges and formats; list and download models."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import typer

from ragstone.core.messages import in_shell

from .options import load_user_metrics
from .output import BAD_INPUT, print_json, print_page

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
        name: Metric to explain; with --suite, a suite.
        suite: List suites instead of metrics.
    """
    from ragstone.report.pages.catalogue_page import (
        catalogue_page,
        metric_page,
        named,
        named_suite,
        suite_page,
        suites,
    )

    load_user_metrics(metrics_from or ())
    if suite:
        page = suite_page([named_suite(name)] if name else suites())
    else:
        page = metric_page(named(name)) if name else catalogue_page()
    print_page(page, json=json)


class KnownJudge(NamedTuple):
    """Who can be named as a judge, and the kinds that are filled then."""

    name: str
    about: str
    kinds: list[str]


CROSS_ENCODER = "a cross-encoder of your choice, docs/judges.md"
CHAT = "a chat model of your choice, docs/judge-models.md; commas between several make a panel"


def judges(
    kind: str | None = None,
    *,
    json: bool = False,
) -> None:
    """List the judges and what they judge, or explain one KIND.

    Args:
        kind ([KIND]): Kind of judgement to explain: its guideline and its labels.
    """
    print_page(_list_judges() if kind is None else _of_kind(_kind_named(kind)), json=json)


def _list_judges() -> "Page":
    from ragstone.report.page import Facts, Note, Page, Paragraphs, quiet, section

    known = _known()
    notes = []
    for one in known:
        fills = quiet(f"fills {', '.join(one.kinds)}")
        notes += [Note(one.name, one.about), Note(one.name, fills)]
    more = Paragraphs(("ragstone judges KIND shows how a kind is judged, such as support.",))
    return Page(
        "judges",
        "",
        (section(Facts(tuple(notes)), more),),
        record=lambda: [one._asdict() for one in known],
    )


def _of_kind(kind: "type[Kind]") -> "Page":
    from ragstone.judgements import instructions_for_people
    from ragstone.report.page import Page, Paragraphs, quiet, section

    filled_by = quiet(f"Filled by: {', '.join(_fillers(kind))}")
    blocks = (Paragraphs((instructions_for_people(kind).rstrip(),)), Paragraphs((filled_by,)))
    return Page("judges", kind.name, (section(*blocks),), record=lambda: _record(kind))


def _kind_named(name: str) -> "type[Kind]":
    from ragstone.core.errors import UnknownName
    from ragstone.judgements import KINDS

    if name not in KINDS:
        raise UnknownName("kind", name, KINDS, hint=f"Kinds are: {', '.join(KINDS)}.")
    return KINDS[name]


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


def _known() -> list[KnownJudge]:
    from ragstone.judgements import answered_by
    from ragstone.judges.judge_names import JUDGES
    from ragstone.judges.nli_judge import NliJudge
    from ragstone.models.chat.chat_names import FORMS

    every = [(one.name, one.about, one.asks) for one in JUDGES]
    every.append(("nli:NAME", CROSS_ENCODER, NliJudge.asks))
    every += [(form, CHAT, answered_by("model")) for form in FORMS]
    return [KnownJudge(name, about, _kinds(asks)) for name, about, asks in every]


def _kinds(asks: Iterable[str]) -> list[str]:
    from ragstone.judgements import ASKS

    return sorted({ASKS[ask].kind for ask in asks})


def formats(
    *,
    json: bool = False,
) -> None:
    """List the formats that can be read, each with an example."""
    from ragstone import data
    from ragstone.report.page import Page, Section, Verbatim, quiet, strong

    sections = []
    for one in data.formats():
        endings = f"  {' '.join(one.extensions)}" if one.extensions else ""
        title = (strong(one.name), f"  {one.what}", quiet(endings))
        sections.append(Section((Verbatim(tuple(one.example)),), title))
    page = Page(
        "formats", "", tuple(sections), record=lambda: [asdict(one) for one in data.formats()]
    )
    print_page(page, json=json)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A stored model; dimensions and limit are None where its folder says none."""

    model: "Stored"
    dimensions: int | None
    limit: int | None

    @classmethod
    def of(cls, model: "Stored") -> Self:
        """The model with what its folder says."""
        from ragstone.core.errors import RagstoneError
        from ragstone.models.model_folder import ModelFolder

        try:
            folder = ModelFolder.read(model.folder)
        except RagstoneError:
            return cls(model, None, None)
        return cls(model, folder.config.hidden_size, folder.max_tokens)

    def to_dict(self) -> dict[str, Any]:
        """As ``--json`` has it."""
        return {
            **asdict(self.model.origin),
            "fetched": self.model.fetched,
            "bytes": self.model.size,
            "dimensions": self.dimensions,
            "limit": self.limit,
            "path": str(self.model.folder),
        }


Action = Literal["list", "pull", "verify", "clear"]


def models(
    action: Action = "list",
    name: str | None = None,
    *,
    json: bool = False,
) -> None:
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
        _list_models(json)
    elif action == "pull":
        _pull(name, json)
    elif action == "verify":
        _verify(name, json)
    else:
        _clear(json)


def _list_models(json: bool) -> None:
    from ragstone.models import BUILTIN, cache_folder, stored
    from ragstone.report.page import Facts, Note, Page, Paragraphs, section, strong

    found = stored()
    models = [ModelFacts.of(one) for one in found]
    sections = [_section(one) for one in models]
    if all(one.origin.name != BUILTIN for one in found):
        lacking = (strong(BUILTIN), "  not there yet: ragstone models pull")
        sections.append(section(Paragraphs((lacking,))))
    words, embeddings = _embeddings()
    sections.append(section(Facts((Note("embeddings", words),))))
    record = {
        "cache": str(cache_folder()),
        "models": [one.to_dict() for one in models],
        "embeddings": embeddings,
    }
    print_page(Page("models", "", tuple(sections), record=lambda: record), json=json)


def _embeddings() -> tuple[str, dict[str, Any]]:
    """What is kept of texts, in words and as JSON has it."""
    from ragstone.core.errors import ModelError
    from ragstone.models import kept

    try:
        found = kept()
    except ModelError as error:
        words = in_shell(error.text)
        return words, {"error": words}
    words = f"{found.vectors:,} vectors, {_megabytes(found.size)}, {found.file}"
    return words, {"path": str(found.file), "vectors": found.vectors, "bytes": found.size}


def _pull(name: str | None, json: bool) -> None:
    from ragstone.models import BUILTIN, pull
    from ragstone.report.page import Page

    found = ModelFacts.of(pull(name or BUILTIN))
    name = found.model.origin.name
    print_page(Page("models", name, (_section(found),), record=found.to_dict), json=json)


def _verify(name: str | None, json: bool) -> None:
    from ragstone.core.errors import ModelError
    from ragstone.models import damage, stored
    from ragstone.report.page import Outline, OutlineItem, Page, Paragraphs, section, strong

    there = stored()
    found = [one for one in there if name in (None, one.origin.name, one.origin.pulled_as)]
    if not found and name is not None:
        raise ModelError(f"{name} is not stored here. To fetch it: ragstone models pull {name}")
    results = [(one, damage(one)) for one in found]
    sections = []
    for one, faults in results:
        words = "DAMAGED" if faults else f"whole, {len(one.files)} files"
        again = f"Fetch it again: ragstone models pull {one.origin.pulled_as}"
        lines = [*faults, again] if faults else []
        title = Paragraphs(((strong(one.origin.pulled_as), f"  {words}"),))
        sections.append(section(title, Outline(tuple(map(OutlineItem, lines)))))
    if not results:
        sections.append(section(Paragraphs(("No model is stored here.",))))
    page = Page(
        "models", name or "", tuple(sections),
        record=lambda: [
            {**ModelFacts.of(one).to_dict(), "faults": faults} for one, faults in results
        ],
    )  # fmt: skip
    print_page(page, json=json)
    if any(faults for _, faults in results):
        raise typer.Exit(BAD_INPUT)


def _clear(json: bool) -> None:
    from ragstone.models import clear

    before = clear()
    if json:
        print_json({"cleared": before.vectors, "bytes": before.size})
    else:
        typer.echo(f"{before.vectors:,} vectors cleared, {_megabytes(before.size)}")


def _section(found: ModelFacts) -> "Section":
    from ragstone.report.page import Facts, Note, Section, strong

    model, origin = found.model, found.model.origin
    size = f"{found.dimensions} dimensions" if found.dimensions else "dimensions not stated"
    limit = f"{found.limit} tokens" if found.limit else "limit not stated"
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
