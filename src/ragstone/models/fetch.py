"""Fetching: download a model from the hub through huggingface_hub, into that library's cache.

Added here: the licence is shown before the download, only configuration, tokenizer and one file
of weights are downloaded, and each file is checked against the size and hash that the hub states.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.core.messages import argument

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
    """Download the model ``org/name`` from the hub unless it is already stored.

    Downloads the configuration, the tokenizer and one file of weights. HF_ENDPOINT may name
    another hub; a token that huggingface_hub finds (HF_TOKEN) is sent to it, for gated models.

    Args:
        revision: A branch, a tag or a commit; empty: the main branch.
        weights: ``safetensors``, or ``onnx`` for ``onnx/model.onnx``.
        again: Query the hub even if the model is stored. It is downloaded only if the hub has
            another commit, which is stored beside the old one, or if the stored model is damaged.
        patience: Timeout in seconds for the hub's first reply.

    Raises:
        ModelError: The hub does not reply, has no such model, or not in this weights format.
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
    """The hub's URL: HF_ENDPOINT, or huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def hub_is_off() -> bool:
    """Whether HF_HUB_OFFLINE, or the older TRANSFORMERS_OFFLINE, forbids access to the hub."""
    setting = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return setting.upper() in ("1", "ON", "YES", "TRUE")


def listing(repository: str, revision: str = "", *, patience: float = PATIENCE) -> "ModelInfo":
    """The hub's metadata of a repository, in one request.

    Raises:
        ModelError: Timeout, no such repository or revision, or an invalid reply.
    """
    with _hub(f"{repository} could not be looked up at {endpoint()}"):
        from huggingface_hub import HfApi

        found = HfApi(endpoint=endpoint()).model_info(
            repository, revision=revision or None, files_metadata=True, timeout=patience
        )
    if not COMMIT.fullmatch(found.sha or ""):
        raise ModelError(f"{endpoint()} states no commit of {repository}")
    return found


def download(repository: str, commit: str, file: "RepoSibling", folder: Path | None = None) -> Path:
    """Download a file and check it against the size and the SHA-256 that the hub states.

    Args:
        repository: Where it is.
        commit: Of the repository.
        file: The hub's metadata of the file.
        folder: Where to put it; None: into huggingface_hub's cache, unless it is already there.

    Raises:
        ModelError: The download broke off, or the file has another size or hash.
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
            f"{file.rfilename} from {endpoint()} is not the file that the hub describes: {fault}"
        )
    return Path(got)


def instead(name: str) -> str:
    """Advice for the case that a model cannot be downloaded."""
    builtin = "builtin:" in name
    copy = (
        f"copy its folder from the cache there into {store.models_folder()}"
        if builtin
        else "copy the folder that `ragstone models` shows there, with its symbolic links resolved"
    )
    return (
        f"To download it: ragstone models pull {name}. Without a network: do that on another "
        f"machine and {copy}. Or use a model in any folder: {argument('embedder', 'FOLDER')}"
    )


def megabytes(size: int) -> str:
    """A size in megabytes: 91 MB, 0.5 MB."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e7 else f"{size / 1e6:,.1f} MB"


def to_stderr(line: str) -> None:
    """The default receiver of notes: writes to standard error."""
    sys.stderr.write(f"{line}\n")


def _fetched(
    repository: str, found: "ModelInfo", revision: str, weights: str, note: Note
) -> Stored:
    """Download the model and record it in the store."""
    from huggingface_hub.constants import HF_HUB_CACHE

    files, commit = found.siblings or [], str(found.sha)
    _check_form(repository, [file.rfilename for file in files], weights)
    licence = next((match[1] for tag in found.tags or () if (match := LICENCE.fullmatch(tag))), "")
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
    """How a file differs from the hub's metadata; empty if it matches."""
    got = store.describe(path)
    sha256 = file.lfs.sha256 if file.lfs else None
    if file.size in (None, got.size) and sha256 in (None, got.sha256):
        return ""
    expected = f"expected {file.size} bytes with SHA-256 {sha256 or 'unknown'}"
    return f"{expected}, got {got.size} with {got.sha256}"


def _remove(path: Path) -> None:
    """Delete a file from huggingface_hub's cache: the symbolic link and the file it points to."""
    for one in (path.resolve(), path):
        one.unlink(missing_ok=True)


def _needed(path: str, weights: str) -> bool:
    return bool(SMALL.fullmatch(path) or WEIGHTS[weights].fullmatch(path))


def _check_form(repository: str, paths: Sequence[str], weights: str) -> None:
    """Raise if a repository has no weights in this format; the error names a suitable back end."""
    there = [kind for kind, name in WEIGHTS.items() if any(map(name.fullmatch, paths))]
    if weights in there:
        return
    in_parts = any(path.endswith(".safetensors.index.json") for path in paths)
    others = ", ".join(f"{reader}:{repository}" for reader in (*map(READER.get, there), "torch"))
    raise ModelError(
        f"{repository} has no {weights} weights{' in a single file' if in_parts else ''}. "
        f"Try another back end: {others}"
    )


@contextmanager
def _hub(trouble: str) -> Iterator[None]:
    """Turn huggingface_hub's errors into ``ModelError``; telemetry and progress bars are off."""
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
    # The base classes of its errors come from the HTTP library, which differs between versions.
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
    """The hub's known errors in plain words; otherwise the first line of the root cause."""
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if isinstance(error, GatedRepoError):
        return "it is gated. Accept its terms there, and set HF_TOKEN to your token"
    if isinstance(error, RepositoryNotFoundError):
        return "there is no such model, or it is private and needs HF_TOKEN"
    if isinstance(error, RevisionNotFoundError):
        return "it has no such revision"
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    first = lines[0] if lines else ""
    return f"{first} ({type(cause).__name__})" if first else type(cause).__name__
