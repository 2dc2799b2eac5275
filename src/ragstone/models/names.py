"""Encoder names: what a user calls an encoder, and the encoder it opens.

    [numpy:|onnx:|torch:]WHERE      WHERE is builtin:minilm, a folder, or org/name[@revision]
    openai:MODEL                    the server of OPENAI_BASE_URL, or api.openai.com
    http(s)://HOST[/v1]#MODEL       any server that speaks the OpenAI embeddings format

Looked up in that order, and numpy where no back end is named. A name that cannot be opened is an
error, and never another model.
"""

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ragstone.argument import argument
from ragstone.errors import MissingDependency, ModelError, UnknownName

from . import api, store
from .builtin import BUILTIN, REPOSITORY, fetch_builtin
from .cache import CachedEncoder
from .encoder import Encoder
from .fetch import fetch, hub_is_off, instead, to_stderr
from .kept_vectors import embeddings_file
from .onnx_file import PLACES
from .store import Note, Stored

BackEnd = Literal["numpy", "onnx", "torch"]
NEEDS: dict[BackEnd, tuple[str, tuple[str, ...]]] = {
    "numpy": ("local", ("safetensors", "threadpoolctl", "tokenizers")),
    "onnx": ("onnx", ("onnxruntime", "tokenizers")),
    "torch": ("torch", ("sentence_transformers", "torch")),
}
HUB_NAME = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?")
FORMS = (BUILTIN, "FOLDER", "org/name", "openai:MODEL", "http://HOST/v1#MODEL")
SHOWN = 80

_opened: dict[tuple[object, Path], tuple[object, CachedEncoder]] = {}


@dataclass(frozen=True, slots=True)
class Place:
    """What a name means: who reads the model, and where it is.

    Exactly one of folder and repository is set, or neither for the builtin model.

    Args:
        name: As the user wrote it.
        back_end: Who reads it.
        folder: A folder of the user's.
        repository: ``org/name`` of the hub.
        revision: Of the repository; empty where none is asked for.
    """

    name: str
    back_end: BackEnd
    folder: Path | None = None
    repository: str = ""
    revision: str = ""


def open_encoder(name: str, *, offline: bool = False, note: Note | None = None) -> Encoder:
    """The encoder of this name; its embeddings are kept on disk, and it is loaded once a process.

    Args:
        name: In one of the forms above.
        offline: Fetch nothing, and ask no server but one on this machine.
        note: Takes a line for what is fetched and what the cache has to say; None: standard error.

    Raises:
        UnknownName: The name has none of the forms.
        ModelError: The model is not there and cannot be fetched, or is not one that can be used.
        MissingDependency: The back end is not installed.
    """
    say = note or to_stderr
    if api.is_api(name):
        server = api.server(name)
        if offline and not server.is_local:
            raise ModelError(
                f"{name} would send texts to {server.host}, which {argument('offline', True)} "
                f"forbids. Name a model on this machine, such as {BUILTIN} or a folder"
            )
        return CachedEncoder(api.ApiEncoder(name, server), embeddings_file(), note=say)
    place = place_of(name)
    needed(place)
    if _of_torch_alone(place):
        return _once(place, place.repository, "", offline, say)
    folder = model_folder(place, offline=offline, note=say).resolve()
    _readable(place, folder)
    return _once(place, str(folder), _stamp(folder), offline, say)


def available(name: str) -> bool:
    """Whether ``open_encoder`` has all it needs here: packages, files, a key; nothing to fetch.

    Loads no weights and asks no server, so a server may still be down and a folder unusable.
    False too for what is no name at all.
    """
    try:
        if api.is_api(name):
            api.server(name)
            return True
        place = place_of(name)
        needed(place)
        if _of_torch_alone(place) and _in_hub_cache(place.repository):
            return True
        model_folder(place, offline=True, note=to_stderr)
    except (ModelError, UnknownName, MissingDependency):
        return False
    return True


def pull(name: str = BUILTIN, *, note: Note | None = None) -> Stored:
    """Fetch a model into the store, if it is not there, is damaged, or the hub has a newer one.

    Raises:
        UnknownName: The name has none of the forms.
        ModelError: There is nothing to fetch by that name, or it cannot be fetched.
        MissingDependency: A package that fetching needs is not installed.
    """
    say = note or to_stderr
    place = None if api.is_api(name) else place_of(name)
    if place is None or place.folder is not None:
        raise ModelError(f"{name} is no model of the hub: there is nothing to fetch")
    if not place.repository:
        return fetch_builtin(again=True, note=say)
    weights = _weights(place)
    return fetch(place.repository, revision=place.revision, weights=weights, again=True, note=say)


def place_of(name: str) -> Place:
    """What a name means, a server's model excepted; nothing is fetched.

    Raises:
        UnknownName: The name has none of the forms.
        ModelError: It looks like a folder, and there is none, or none that can be looked for; or it
            is the builtin model as an ONNX file, which it does not have.
    """
    back_end, where = _split(name)
    if where == BUILTIN and back_end == "onnx":
        raise ModelError(
            f"{BUILTIN} has no ONNX file. Name it without onnx:, or take the file of the same "
            f"model from the hub: onnx:{REPOSITORY}"
        )
    if where == BUILTIN:
        return Place(name, back_end)
    try:
        path = Path(where).expanduser()
        there, is_folder = path.exists(), path.is_dir()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"No folder {where[:SHOWN]!r} can be looked for: {reason}") from error
    if where and is_folder:
        return Place(name, back_end, folder=path)
    if where and there:
        raise ModelError(f"{where} is a file. Name the folder that it is in, with its tokenizer")
    if match := HUB_NAME.fullmatch(where):
        return Place(name, back_end, repository=match[1], revision=match[2] or "")
    if "/" in where or "\\" in where or where.startswith(("~", ".")):
        raise ModelError(f"There is no folder {where}, and it is no name of the hub (org/name)")
    raise UnknownName("encoder", name, (BUILTIN,), hint=f"There are: {', '.join(FORMS)}.")


def model_folder(place: Place, *, offline: bool, note: Note) -> Path:
    """The folder of the model, fetched where it is not there.

    Raises:
        ModelError: It is not there and cannot be fetched, or what is there is damaged.
        MissingDependency: A package that fetching needs is not installed.
    """
    if place.folder is not None:
        return place.folder
    there = in_store(place)
    if there is None and (offline or hub_is_off()):
        rule = argument("offline", True) if offline else "HF_HUB_OFFLINE"
        raise ModelError(
            f"{place.name} was never pulled to this machine, and {rule} fetches nothing.\n"
            f"{instead(place.name)}"
        )
    if there is None and place.repository:
        weights = _weights(place)
        there = fetch(place.repository, revision=place.revision, weights=weights, note=note)
    elif there is None:
        there = fetch_builtin(note=note)
    return store.checked(there).folder


def in_store(place: Place) -> Stored | None:
    """The stored model of the builtin name or of one of the hub; None where it is not there."""
    if place.repository:
        return store.find(place.repository, weights=_weights(place), revision=place.revision)
    return store.find(BUILTIN)


def needed(place: Place, role: str = "encoder") -> None:
    """Look whether the packages of the back end are there; nothing is imported.

    Args:
        place: Of the model.
        role: What the model is, for the message.

    Raises:
        MissingDependency: One is not installed.
    """
    extra, packages = NEEDS[place.back_end]
    if any(find_spec(package) is None for package in packages):
        raise MissingDependency(f"The {role} {place.name}", extra)


def _split(name: str) -> tuple[BackEnd, str]:
    for back_end in NEEDS:
        if name.startswith(f"{back_end}:"):
            return back_end, name.removeprefix(f"{back_end}:")
    return "numpy", name


def _weights(place: Place) -> str:
    """What the back end reads."""
    return "onnx" if place.back_end == "onnx" else "safetensors"


def _of_torch_alone(place: Place) -> bool:
    """A model of the hub that sentence-transformers fetches itself, for it reads more files."""
    whole = place.back_end == "torch" and bool(place.repository) and not place.revision
    return whole and in_store(place) is None


def _in_hub_cache(repository: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(repository, "config.json"), str)


def _readable(place: Place, folder: Path) -> None:
    graph = any((folder / path).is_file() for path in PLACES)
    weights = any(file.suffix == ".safetensors" for file in _files(folder))
    if place.back_end == "numpy" and graph and not weights:
        raise ModelError(f"{folder} holds an ONNX graph and no safetensors: name it onnx:{folder}")


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes when a file of the model does, so that a model saved anew is loaded anew."""
    files = [(file, file.stat()) for file in _files(folder)]
    return tuple((str(file), facts.st_size, facts.st_mtime_ns) for file, facts in files)


def _files(folder: Path) -> list[Path]:
    """The files of a model lie in its folder and in the folders of that, no deeper."""
    return sorted(
        file for pattern in ("*", "*/*") for file in folder.glob(pattern) if file.is_file()
    )


def _once(place: Place, where: str, stamp: object, offline: bool, note: Note) -> CachedEncoder:
    """The encoder loaded before, or a new one where its files are not the same as then."""
    key = (place, embeddings_file())
    loaded = _opened.get(key)
    if loaded is None or loaded[0] != stamp:
        encoder = CachedEncoder(_load(place, where, offline, note), key[1], note=note)
        loaded = _opened[key] = (stamp, encoder)
    return loaded[1]


def _load(place: Place, where: str, offline: bool, note: Note) -> Encoder:
    if place.back_end == "torch":
        from . import torch

        if _of_torch_alone(place) and not offline and not _in_hub_cache(where):
            note(f"Fetching {where} through sentence-transformers, into its own cache")
        return torch.load(where, place.name, offline=offline)
    if place.back_end == "onnx":
        from . import onnx

        return onnx.load(Path(where), place.name)
    from . import bert

    return bert.load(Path(where), place.name)
