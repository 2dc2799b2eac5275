"""Fetching: a model of the hub, by its name, into the store."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from logging import ERROR, getLogger
from pathlib import Path

from ragstone.errors import MissingDependency, ModelError

from . import store
from .store import Note, Origin, Stored

HUB = "https://huggingface.co"
PATIENCE = 5.0
MODULE = r"(\d+_[A-Za-z]+/)?"
SMALL = re.compile(
    rf"{MODULE}(config|modules|sentence_[a-z-]+_config|config_sentence_transformers"
    r"|tokenizer|tokenizer_config|special_tokens_map)\.json"
)
WEIGHTS = {
    "safetensors": re.compile(rf"{MODULE}model\.safetensors"),
    "onnx": re.compile(r"onnx/model\.onnx(_data)?"),
}
READER = {"safetensors": "numpy", "onnx": "onnx"}
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository; its size and its SHA-256 where the hub says them."""

    path: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a repository of the hub holds at one commit."""

    repository: str
    commit: str
    licence: str
    files: tuple[HubFile, ...]


def fetch(
    repository: str,
    *,
    revision: str = "",
    weights: Sequence[str] = ("safetensors",),
    again: bool = False,
    patience: float = PATIENCE,
    note: Note,
) -> Stored:
    """The model ``org/name`` of the hub, put into the store unless it is there.

    Takes the configuration, the tokenizer, and one file of weights. The hub is the one HF_ENDPOINT
    names; a token that huggingface_hub finds (HF_TOKEN) is sent to it, for gated models.

    Args:
        revision: A branch, a tag or a commit; empty: the hub's main branch.
        weights: ``safetensors``, ``onnx`` for ``onnx/model.onnx``, or both: the first of them
            that is stored, or else that the repository has.
        again: Ask the hub although the model is there. Only another commit, or a damaged model,
            is fetched; another commit is stored beside the one that is there.
        patience: Seconds to wait for the hub's first answer.

    Raises:
        ModelError: The hub does not answer, has no such model, or has it in another form.
        MissingDependency: huggingface_hub is not installed.
    """
    there = store.find_first(repository, weights=weights, revision=revision)
    if there is not None and not again:
        return there
    try:
        found = listing(repository, revision, patience=patience)
        return _installed(found, revision or "main", weights, note)
    except ModelError as error:
        raise ModelError(f"{error}\n{instead(repository)}") from error


def endpoint() -> str:
    """The hub's address: HF_ENDPOINT, or huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def listing(repository: str, revision: str = "", *, patience: float = PATIENCE) -> Listing:
    """What the hub says of a repository, in one request.

    Raises:
        ModelError: No answer in time, no such repository or revision, or a reply that is none.
    """
    with _hub(f"{repository} could not be looked up at {endpoint()}"):
        from huggingface_hub import HfApi

        found = HfApi(endpoint=endpoint()).model_info(
            repository, revision=revision or None, files_metadata=True, timeout=patience
        )
    if not COMMIT.fullmatch(found.sha or ""):
        raise ModelError(f"{endpoint()} names no commit of {repository}")
    licence = next((tag[8:] for tag in found.tags or () if tag.startswith("license:")), "")
    files = tuple(
        HubFile(one.rfilename, one.size, one.lfs.sha256 if one.lfs else None)
        for one in found.siblings or ()
    )
    return Listing(repository, str(found.sha), licence, files)


def download(found: Listing, wanted: Iterable[HubFile], folder: Path) -> None:
    """These files into the folder, each of the size and the SHA-256 the hub states.

    Raises:
        ModelError: A download broke off, or brought something else.
    """
    for file in wanted:
        with _hub(f"{file.path} could not be fetched from {endpoint()}"):
            from huggingface_hub import hf_hub_download

            hf_hub_download(
                found.repository,
                file.path,
                revision=found.commit,
                local_dir=folder.parent / "download",
                endpoint=endpoint(),
            )
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        (folder.parent / "download" / file.path).rename(target)
        got = store.describe(target)
        if file.size not in (None, got.size) or file.sha256 not in (None, got.sha256):
            raise ModelError(
                f"{file.path} from {endpoint()} is not what the hub says it is: expected "
                f"{file.size} bytes of SHA-256 {file.sha256 or 'unknown'}, "
                f"got {got.size} of {got.sha256}"
            )


def instead(name: str) -> str:
    """What to do where a model cannot be fetched."""
    return (
        f"To fetch it: ragstone models pull {name}. Without a network: do that on another machine, "
        f"and copy its folder from the cache there into {store.models_folder()}; or name the "
        "folder of any model: --embedder FOLDER"
    )


def megabytes(size: int) -> str:
    """A size in words: 91 MB, 0.5 MB."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e7 else f"{size / 1e6:,.1f} MB"


def to_stderr(line: str) -> None:
    """Where notes go that nobody else takes."""
    sys.stderr.write(f"{line}\n")


def _installed(found: Listing, revision: str, kinds: Sequence[str], note: Note) -> Stored:
    weights = _kind(found, kinds)
    wanted = [one for one in found.files if _needed(one.path, weights)]
    place = found.repository.replace("/", "--")

    def there() -> Stored | None:
        known = store.find(found.repository, weights=weights, revision=found.commit)
        return known if known is not None and not store.damage(known) else None

    def fill(folder: Path) -> tuple[str, Origin]:
        sizes = [file.size for file in wanted if file.size is not None]
        size = megabytes(sum(sizes)) if len(sizes) == len(wanted) else "size not stated"
        note(
            f"Fetching {found.repository} ({size}, {found.licence or 'licence not stated'}) "
            f"from {endpoint()} to {store.models_folder()}"
        )
        download(found, wanted, folder)
        origin = Origin(
            name=found.repository,
            source=f"{endpoint()}/{found.repository}",
            licence=found.licence,
            revision=revision,
            commit=found.commit,
            weights=weights,
        )
        return f"{place}@{found.commit}{'+onnx' if weights == 'onnx' else ''}", origin

    return store.install(place, fill, there=there, note=note)


def _needed(path: str, weights: str) -> bool:
    return bool(SMALL.fullmatch(path) or WEIGHTS[weights].fullmatch(path))


def _kind(found: Listing, kinds: Sequence[str]) -> str:
    """The first of these kinds of weights that a repository has."""
    paths = [file.path for file in found.files]
    there = [kind for kind, name in WEIGHTS.items() if any(map(name.fullmatch, paths))]
    for kind in kinds:
        if kind in there:
            return kind
    words = f"{found.repository} has no weights as {' or '.join(kinds)}"
    if any(path.endswith(".safetensors.index.json") for path in paths):
        words += " in one file"
    others = [f"{READER[kind]}:{found.repository}" for kind in there]
    others.append(f"torch:{found.repository}")
    raise ModelError(f"{words}. Another back end may read it: {', '.join(others)}")


@contextmanager
def _hub(trouble: str) -> Iterator[None]:
    """What huggingface_hub raises, as one line of ours; its telemetry and its bars are off."""
    try:
        from huggingface_hub import constants
        from huggingface_hub.errors import HfHubHTTPError
        from huggingface_hub.utils.tqdm import (
            are_progress_bars_disabled,
            disable_progress_bars,
            enable_progress_bars,
        )
    except ModuleNotFoundError as error:
        raise MissingDependency("Fetching a model from the hub", "local") from error
    # Its errors stand on those of whichever HTTP library its version uses.
    expected: tuple[type[BaseException], ...] = (
        *HfHubHTTPError.__bases__,
        *(OSError, ValueError, TypeError, KeyError),
    )
    logger = getLogger("huggingface_hub")
    before = constants.HF_HUB_DISABLE_TELEMETRY, logger.level, are_progress_bars_disabled()
    constants.HF_HUB_DISABLE_TELEMETRY = True
    logger.setLevel(ERROR)
    disable_progress_bars()
    try:
        yield
    except expected as error:
        raise ModelError(f"{trouble}: {_reason(error)}") from error
    finally:
        constants.HF_HUB_DISABLE_TELEMETRY, level, no_bars = before
        logger.setLevel(level)
        if not no_bars:
            enable_progress_bars()


def _reason(error: BaseException) -> str:
    """What the hub means, or else the first line of the error at the bottom of it."""
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if isinstance(error, GatedRepoError):
        return "it is gated. Accept its terms there, and set HF_TOKEN to a token of yours"
    if isinstance(error, RepositoryNotFoundError):
        return "there is no such model, or it is private and wants HF_TOKEN"
    if isinstance(error, RevisionNotFoundError):
        return "it has no such revision"
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    first = lines[0] if lines else ""
    return f"{first} ({type(cause).__name__})" if first else type(cause).__name__
