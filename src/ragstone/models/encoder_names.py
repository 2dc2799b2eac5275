"""Encoder names: how a user names an encoder, and how it is opened.

    builtin:minilm               all-MiniLM-L6-v2, by which name it is known too, run by NumPy
    [torch:|onnx:]WHERE          WHERE is a folder, or org/name[@revision] on the hub
    torch:builtin:minilm         the same model, run by sentence-transformers
    openai:MODEL                 the server in OPENAI_BASE_URL, or api.openai.com
    http(s)://HOST[/v1]#MODEL    any server with an OpenAI-compatible embeddings API

Names are looked up in that order. Without a back end before it, sentence-transformers runs WHERE. A
name that cannot be opened is an error; no other model is used in its place.
"""

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ragstone.core.errors import MissingDependency, ModelError, UnknownName
from ragstone.core.messages import argument

from . import embedding_api, model_store, numpy_bert, onnx_encoder, torch_encoder
from .download import (
    BUILTIN,
    REPOSITORY,
    endpoint,
    fetch,
    fetch_builtin,
    hub_is_off,
    instead,
    to_stderr,
)
from .embedding_cache import CachedEncoder, embeddings_file
from .encoder import Encoder
from .model_store import Note, Stored
from .onnx_encoder import PLACES

BackEnd = Literal["numpy", "onnx", "torch"]
NEEDS: dict[BackEnd, tuple[str, tuple[str, ...]]] = {
    "numpy": ("local", ("safetensors", "threadpoolctl", "tokenizers")),
    "onnx": ("onnx", ("onnxruntime", "tokenizers")),
    "torch": ("torch", ("sentence_transformers", "torch")),
}
# The builtin model's name, as sentence-transformers takes it.
THE_BUILTIN = REPOSITORY.rpartition("/")[2]

HUB_NAME = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?")
FORMS = (BUILTIN, "FOLDER", "org/name", "openai:MODEL", "http://HOST/v1#MODEL")
SHOWN = 80

_opened: dict[tuple[object, Path], tuple[object, CachedEncoder]] = {}


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed name: the back end, and where the model is.

    Either the folder or the repository is set; for the builtin model, neither.

    Args:
        repository: ``org/name`` on the hub.
        revision: Of the repository; empty if none is given.
    """

    name: str
    back_end: BackEnd
    folder: Path | None = None
    repository: str = ""
    revision: str = ""


def open_encoder(name: str, *, offline: bool = False, note: Note | None = None) -> Encoder:
    """Open an encoder by name. Embeddings are cached on disk; a model is loaded once per process.

    Args:
        offline: Download nothing, and use no server except on this machine.
        note: Called with one-line messages about downloads and the cache; None: standard error.

    Raises:
        UnknownName: The name has none of the forms.
        ModelError: The model is not here and cannot be downloaded, or is not usable.
        MissingDependency: The back end is not installed.
    """
    say = note or to_stderr
    if embedding_api.is_api(name):
        server = embedding_api.openai_server(name, "encoder")
        if offline and not server.is_local:
            raise ModelError(
                f"{name} would send texts to {server.host}, which {argument('offline', True)} "
                f"forbids. Name a model on this machine, such as {BUILTIN} or a folder"
            )
        return CachedEncoder(embedding_api.ApiEncoder(name, server), embeddings_file(), note=say)
    parsed = place_of(name)
    needed(parsed)
    source = location(parsed, offline=offline, note=say)
    if source == parsed.repository:
        return _once(parsed, source, "", offline, say)
    folder = Path(source).resolve()
    graph = any((folder / path).is_file() for path in PLACES)
    weights = any(file.suffix in (".safetensors", ".bin") for file in _files(folder))
    if parsed.back_end == "torch" and graph and not weights:
        raise ModelError(f"{folder} holds an ONNX graph and no weights: use the name onnx:{folder}")
    return _once(parsed, str(folder), _stamp(folder), offline, say)


def available(name: str) -> bool:
    """Return True if everything ``open_encoder`` needs is here: packages, files and key.

    Downloads nothing, loads no weights and contacts no server, so a server may still be down and a
    folder unusable. False for an invalid name too.
    """
    try:
        if embedding_api.is_api(name):
            embedding_api.openai_server(name, "encoder")
            return True
        parsed = place_of(name)
        needed(parsed)
        location(parsed, offline=True, note=to_stderr)
    except (ModelError, UnknownName, MissingDependency):
        return False
    return True


def pull(name: str = BUILTIN, *, note: Note | None = None) -> Stored:
    """Download a model into the store if it is not there, is damaged, or the hub has a newer one.

    Raises:
        UnknownName: The name has none of the forms.
        ModelError: The name is not of a model to download, or the download failed.
        MissingDependency: A package that the download needs is not installed.
    """
    say = note or to_stderr
    parsed = None if embedding_api.is_api(name) else place_of(name)
    if parsed is None or parsed.folder is not None:
        raise ModelError(f"{name} is not a model on the hub: there is nothing to download")
    if not parsed.repository:
        return fetch_builtin(again=True, note=say)
    weights = _weights(parsed)
    return fetch(parsed.repository, revision=parsed.revision, weights=weights, again=True, note=say)


def place_of(name: str) -> Place:
    """Parse the name of a model that is not behind a server; nothing is downloaded."""
    prefix, _, where = name.partition(":")
    if prefix not in NEEDS:
        prefix, where = "", name
    if name == THE_BUILTIN and not Path(name).exists():
        return Place(BUILTIN, "numpy")
    if where == BUILTIN and prefix == "onnx":
        raise ModelError(
            f"{BUILTIN} has no ONNX file. Omit onnx:, or use the same model from the hub: "
            f"onnx:{REPOSITORY}"
        )
    if where == BUILTIN:
        return Place(name, "torch" if prefix == "torch" else "numpy")
    if prefix == "numpy" and where:
        raise ModelError(
            f"NumPy runs only {BUILTIN}. To run {where} with sentence-transformers, leave out "
            "the prefix numpy: (pip install 'ragstone[torch]'); with onnxruntime, name it "
            f"onnx:{where} (pip install 'ragstone[onnx]')"
        )
    back_end: BackEnd = "onnx" if prefix == "onnx" else "torch"
    try:
        path = Path(where).expanduser()
        exists, is_folder = path.exists(), path.is_dir()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"Cannot look up the folder {where[:SHOWN]!r}: {reason}") from error
    if where and is_folder:
        return Place(name, back_end, folder=path)
    if where and exists:
        raise ModelError(f"{where} is a file. Name its folder, which must hold the tokenizer too")
    if match := HUB_NAME.fullmatch(where):
        return Place(name, back_end, repository=match[1], revision=match[2] or "")
    if "/" in where or "\\" in where or where.startswith(("~", ".")):
        raise ModelError(f"There is no folder {where}, and this is not a hub name (org/name)")
    raise UnknownName("encoder", name, (BUILTIN,), hint=f"Valid forms: {', '.join(FORMS)}.")


def location(parsed: Place, *, offline: bool, note: Note) -> str:
    """Return the folder of the model, which is downloaded if necessary.

    The name on the hub, if sentence-transformers or transformers finds or downloads the model
    itself: they read more kinds of files than are stored here.
    """
    if parsed.folder is not None:
        return str(parsed.folder)
    model = in_store(parsed)
    if model is not None:
        return str(model_store.checked(model).folder)
    by_library = parsed.back_end == "torch" and parsed.repository
    if by_library and _in_hub_cache(parsed):
        return parsed.repository
    if offline or hub_is_off():
        rule = argument("offline", True) if offline else "HF_HUB_OFFLINE"
        raise ModelError(
            f"{parsed.name} is not on this machine, and {rule} forbids downloads.\n"
            f"{instead(parsed.name)}"
        )
    if by_library:
        note(f"Downloading {parsed.repository} from {endpoint()} into huggingface_hub's cache")
        return parsed.repository
    if parsed.repository:
        model = fetch(parsed.repository, revision=parsed.revision, weights="onnx", note=note)
    else:
        model = fetch_builtin(note=note)
    return str(model_store.checked(model).folder)


def in_store(parsed: Place) -> Stored | None:
    """Return the stored model, builtin or from the hub; None if it is not stored."""
    if parsed.repository:
        return model_store.find(
            parsed.repository, weights=_weights(parsed), revision=parsed.revision
        )
    return model_store.find(BUILTIN)


def needed(parsed: Place, role: str = "encoder") -> None:
    """Check that the packages of the back end are installed, without importing them."""
    extra, packages = NEEDS[parsed.back_end]
    if any(find_spec(package) is None for package in packages):
        raise MissingDependency(f"The {role} {parsed.name}", extra)


def _weights(parsed: Place) -> str:
    return "onnx" if parsed.back_end == "onnx" else "safetensors"


def _in_hub_cache(parsed: Place) -> bool:
    from huggingface_hub import try_to_load_from_cache

    revision = parsed.revision or None
    return isinstance(
        try_to_load_from_cache(parsed.repository, "config.json", revision=revision), str
    )


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Sizes and times of the model's files, so that a model that was saved again is reloaded."""
    files = [(file, file.stat()) for file in _files(folder)]
    return tuple((str(file), facts.st_size, facts.st_mtime_ns) for file, facts in files)


def _files(folder: Path) -> list[Path]:
    return sorted(
        file for pattern in ("*", "*/*") for file in folder.glob(pattern) if file.is_file()
    )


def _once(parsed: Place, where: str, stamp: object, offline: bool, note: Note) -> CachedEncoder:
    """The encoder loaded earlier, or a new one if its files have changed since."""
    key = (parsed, embeddings_file())
    loaded = _opened.get(key)
    if loaded is None or loaded[0] != stamp:
        encoder: Encoder
        if parsed.back_end == "torch":
            encoder = torch_encoder.load(
                where, parsed.name, revision=parsed.revision, offline=offline
            )
        else:
            load = onnx_encoder.load if parsed.back_end == "onnx" else numpy_bert.load
            encoder = load(Path(where), parsed.name)
        loaded = _opened[key] = (stamp, CachedEncoder(encoder, key[1], note=note))
    return loaded[1]
