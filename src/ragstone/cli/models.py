"""``ragstone models``: the models and embeddings in the user's cache."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from ragstone.core.messages import in_shell

from . import options
from .failures import BAD_INPUT
from .output import print_json, print_page

if TYPE_CHECKING:
    from ragstone.models import Stored
    from ragstone.report.page import Section


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
        return cls(model, folder.config.get("hidden_size"), folder.max_tokens)

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


class Action(StrEnum):
    """What to do."""

    list = "list"
    pull = "pull"
    verify = "verify"
    clear = "clear"


def models(
    action: Annotated[Action, typer.Argument(help="list, pull, verify or clear.")] = Action.list,
    name: Annotated[
        str | None,
        typer.Argument(help="builtin:minilm, org/name on the Hugging Face Hub, or onnx:org/name "
                       "for its ONNX file."),
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """List, download or verify the models in your cache, or clear cached embeddings.

    pull downloads builtin:minilm unless NAME is given. verify reads every byte and
    compares it with what was stored. clear deletes the cached embeddings and keeps
    the models.

    Exit status: 0 done, 2 a model is damaged or cannot be downloaded.
    """
    if action is Action.list:
        _list(json)
    elif action is Action.pull:
        _pull(name, json)
    elif action is Action.verify:
        _verify(name, json)
    else:
        _clear(json)


def _list(json: bool) -> None:
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
