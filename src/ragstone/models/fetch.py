"""Fetching: a model of the hub, by its name, through huggingface_hub and into its cache.

On top of that library stand: the licence is said before anything is fetched, nothing but
configuration, tokenizer and one file of weights is taken, and each file must be what the hub says.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.argument import argument
from ragstone.errors import MissingDependency, ModelError

from . import store
from .store import Note, Origin, Stored

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

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
LICENCE = re.compile(r"license:([\w.+-]{1,80})")


def fetch(
    repository: str,
    *,
    revision: str = "",
    weights: str = "safetensors",
    again: bool = False,
    patience: float = PATIENCE,
    note: Note,
) -> Stored:
    """The model ``org/name`` of the hub, fetched unless it is here.

    Takes the configuration, the tokenizer, and one file of weights. The hub is the one HF_ENDPOINT
    names; a token that huggingface_hub finds (HF_TOKEN) is sent to it, for gated models.

    Args:
        revision: A branch, a tag or a commit; empty: the hub's main branch.
        weights: ``safetensors``, or ``onnx`` for ``onnx/model.onnx``.
        again: Ask the hub although the model is here. Only another commit, or a damaged model,
            is fetched; another commit is stored beside the one that is here.
        patience: Seconds to wait for the hub's first answer.

    Raises:
        ModelError: The hub does not answer, has no such model, or has it in another form.
        MissingDependency: huggingface_hub is not installed.
    """
    there = store.find(repository, weights=weights, revision=revision)
    if there is not None and not again:
        return there
    try:
        found = listing(repository, revision, patience=patience)
        there = store.find(repository, weights=weights, revision=str(found.sha))
        if there is not None and not store.damage(there):
            return there
        return _fetched(repository, found, revision or "main", weights, note)
    except ModelError as error:
        raise ModelError(f"{error.text}\n{instead(repository)}") from error


def endpoint() -> str:
    """The hub's address: HF_ENDPOINT, or huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def hub_is_off() -> bool:
    """Whether HF_HUB_OFFLINE, or its older name, forbids to ask the hub."""
    told = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return told.upper() in ("1", "ON", "YES", "TRUE")


def listing(repository: str, revision: str = "", *, patience: float = PATIENCE) -> "ModelInfo":
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
    return found


def download(repository: str, commit: str, file: "RepoSibling", folder: Path | None = None) -> Path:
    """A file of the size and the SHA-256 that the hub states.

    Args:
        repository: Where it is.
        commit: Of the repository.
        file: What the hub says of it.
        folder: Where to put it; None: into huggingface_hub's cache, if it is not there.

    Raises:
        ModelError: The download broke off, or brought something else.
    """
    where = repository, file.rfilename
    with _hub(f"{file.rfilename} could not be fetched from {endpoint()}"):
        from huggingface_hub import hf_hub_download, try_to_load_from_cache

        cached = try_to_load_from_cache(*where, revision=commit)
        if folder is None and isinstance(cached, str) and _fault(file, Path(cached)):
            _remove(Path(cached))
        got = hf_hub_download(*where, revision=commit, local_dir=folder, endpoint=endpoint())
    if fault := _fault(file, Path(got)):
        _remove(Path(got))
        raise ModelError(
            f"{file.rfilename} from {endpoint()} is not what the hub says it is: {fault}"
        )
    return Path(got)


def instead(name: str) -> str:
    """What to do where a model cannot be fetched."""
    builtin = "builtin:" in name
    copy = (
        f"copy its folder from the cache there into {store.models_folder()}; or name"
        if builtin
        else "copy the folder that `ragstone models` shows there, with what its links lead to, and "
        "name it; or"
    )
    return (
        f"To fetch it: ragstone models pull {name}. Without a network: do that on another machine, "
        f"and {copy} the folder of any model: {argument('embedder', 'FOLDER')}"
    )


def megabytes(size: int) -> str:
    """A size in words: 91 MB, 0.5 MB."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e7 else f"{size / 1e6:,.1f} MB"


def to_stderr(line: str) -> None:
    """Where notes go that nobody else takes."""
    sys.stderr.write(f"{line}\n")


def _fetched(
    repository: str, found: "ModelInfo", revision: str, weights: str, note: Note
) -> Stored:
    """The model, fetched and pinned under the name that it was asked for by."""
    from huggingface_hub.constants import HF_HUB_CACHE

    files, commit = found.siblings or [], str(found.sha)
    _check_form(repository, [file.rfilename for file in files], weights)
    licence = next((told[1] for tag in found.tags or () if (told := LICENCE.fullmatch(tag))), "")
    wanted = [file for file in files if _needed(file.rfilename, weights)]
    sizes = [file.size for file in wanted if file.size is not None]
    size = megabytes(sum(sizes)) if len(sizes) == len(wanted) else "size not stated"
    said = f"{size}, {licence or 'licence not stated'}"
    note(f"Fetching {repository} ({said}) from {endpoint()} to {HF_HUB_CACHE}")
    paths = {file.rfilename: download(repository, commit, file) for file in wanted}
    snapshot = next(path.parents[name.count("/")] for name, path in paths.items())
    origin = Origin(repository, f"{endpoint()}/{repository}", licence, revision, commit, weights)
    place = f"{repository.replace('/', '--')}@{commit}{'+onnx' if weights == 'onnx' else ''}"
    with store.writing():
        return store.keep(place, origin, paths, snapshot)


def _fault(file: "RepoSibling", path: Path) -> str:
    """How a file differs from what the hub states; empty where it does not."""
    got = store.describe(path)
    sha256 = file.lfs.sha256 if file.lfs else None
    if file.size in (None, got.size) and sha256 in (None, got.sha256):
        return ""
    expected = f"expected {file.size} bytes of SHA-256 {sha256 or 'unknown'}"
    return f"{expected}, got {got.size} of {got.sha256}"


def _remove(path: Path) -> None:
    """Take a file out of huggingface_hub's cache, where it is a link to what was fetched."""
    for one in (path.resolve(), path):
        one.unlink(missing_ok=True)


def _needed(path: str, weights: str) -> bool:
    return bool(SMALL.fullmatch(path) or WEIGHTS[weights].fullmatch(path))


def _check_form(repository: str, paths: Sequence[str], weights: str) -> None:
    """Refuse a repository that has no such weights, and say what reads those it has."""
    there = [kind for kind, name in WEIGHTS.items() if any(map(name.fullmatch, paths))]
    if weights in there:
        return
    in_parts = any(path.endswith(".safetensors.index.json") for path in paths)
    others = ", ".join(f"{reader}:{repository}" for reader in (*map(READER.get, there), "torch"))
    raise ModelError(
        f"{repository} has no weights as {weights}{' in one file' if in_parts else ''}. "
        f"Another back end may read it: {others}"
    )


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
