"""Model folder: reads the small files beside the weights and reports all faults in one error."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b, file_digest
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self, TypeGuard

from ragstone.core.errors import Fault, ModelError

from .tokenizer import TextTokenizer, UnusableTokenizer, small_file

Pooling = Literal["mean", "cls", "max"]
FurtherFaults = Callable[[Path, Mapping[str, Any]], Iterable[Fault]]

POOLINGS: tuple[Pooling, ...] = ("mean", "cls", "max")
OLD_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
PACKAGE = "sentence_transformers"
TRANSFORMER_SETTINGS = (
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_xlm-roberta_config.json",
)
UNDERSTOOD_SETTINGS = {
    "max_seq_length",
    "do_lower_case",
    "transformer_task",
    "modality_config",
    "module_output_name",
    "unpad_inputs",
}
COUNTED_FROM_PADDING = {"roberta", "xlm-roberta", "camembert", "mpnet"}
NO_LENGTH = 1_000_000
SHORTEST = 3


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """An embedding model in a folder as sentence-transformers or transformers writes it.

    Attributes:
        path: The folder.
        inside: The folder of the transformer's own files; usually ``path`` itself.
        config: The content of ``config.json``.
        tokenizer: From ``tokenizer.json``.
        pooling: How the token vectors of a text are combined into one.
        normalize: Whether the pooled vector is scaled to length 1.
        lower_case: Whether text is lower-cased, whatever ``tokenizer.json`` says.
        max_tokens: The most tokens of a text that are read, special tokens included.
        longest: The number of positions of the model.
    """

    path: Path
    inside: Path
    config: Mapping[str, Any]
    tokenizer: TextTokenizer
    pooling: Pooling
    normalize: bool
    lower_case: bool
    max_tokens: int
    longest: int

    @classmethod
    def read(cls, path: Path, further: FurtherFaults = lambda _inside, _config: ()) -> Self:
        """Read everything except the weights.

        A folder without ``modules.json`` is a bare transformer: its pooling is the mean, without
        normalisation, as in sentence-transformers. A model with a default prompt, which would be
        put before every text, is refused; optional prompts are ignored.

        ``max_tokens`` is the first of these that is set: ``max_seq_length``, the tokenizer's
        ``model_max_length``, the number of positions; and never more than the last.

        Args:
            path: The folder.
            further: A back end's own checks: takes ``inside`` and the content of ``config.json``,
                returns the faults it finds, with file names relative to ``inside``.

        Raises:
            ModelError: The folder does not exist or cannot be used; lists every fault.
            MissingDependency: ``tokenizers`` is not installed.
        """
        if not path.is_dir():
            raise ModelError(f"{path}: expected the folder of a model, got {_what_is(path)}")
        files = _Files(path)
        inside, pooling, normalize = _modules(files)
        config = files.filled(f"{inside}config.json")
        settings = _transformer_settings(files, inside)
        _no_prompt(files)
        longest = _longest(files, inside, config)
        max_tokens = _max_tokens(files, inside, settings, longest)
        lower_case = bool(settings.get("do_lower_case"))
        tokenizer = _tokenizer(files, inside, config, lower_case=lower_case)
        if config:
            for fault in further(path / inside, config):
                files.faults.append(replace(fault, file=f"{inside}{fault.file}"))
        if files.faults or tokenizer is None or pooling is None:
            raise refused(path, files.faults)
        return cls(
            path=path,
            inside=path / inside,
            config=config,
            tokenizer=tokenizer,
            pooling=pooling,
            normalize=normalize,
            lower_case=lower_case,
            max_tokens=max_tokens,
            longest=longest,
        )

    def fingerprint(self, weights: Iterable[Path], *computed: str) -> str:
        """A hash in 32 hex digits of everything that the vectors depend on.

        Args:
            weights: The further files that the back end reads.
            computed: The back end and its precision.
        """
        facts = (*computed, self.pooling, self.normalize, self.lower_case, self.max_tokens)
        files = (self.inside / "config.json", self.inside / "tokenizer.json", *weights)
        return hash_of(facts, files)


def hash_of(facts: object, files: Iterable[Path]) -> str:
    """A hash in 32 hex digits of facts and of the content of files."""
    digest = blake2b(repr(facts).encode(), digest_size=16)
    for file in files:
        with file.open("rb") as content:
            digest.update(file_digest(content, "blake2b").digest())
    return digest.hexdigest()


def refused(
    path: Path, faults: Sequence[Fault], what: str = "model", by: str = "sentence-transformers"
) -> ModelError:
    """The error that lists the faults of ``what`` and suggests ``by``, the torch back end."""
    noun = "fault" if len(faults) == 1 else "faults"
    return ModelError(
        "\n".join(
            [
                f"{path} cannot be used as a {what} here: {len(faults)} {noun}.",
                *(f"  {fault}" for fault in faults),
                f"If {by} can load it: pip install 'ragstone[torch]', and use the name "
                f"torch:{path}",
            ]
        )
    )


def is_count(value: object) -> TypeGuard[int]:
    """Whether this is a whole number above 0, as sizes in ``config.json`` must be."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class _Files:
    """Reads the folder's JSON files and collects the faults found so far."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.faults: list[Fault] = []

    def fault(self, file: str, field: str, expected: str, got: object) -> None:
        self.faults.append(Fault(file, None, field, expected, str(got)))

    def there(self, file: str) -> bool:
        return (self.root / file).is_file()

    def json(self, file: str) -> Any:
        """The file's content; None, and a fault is recorded, if it cannot be read."""
        try:
            value = json.loads(small_file(self.root / file))
            if value is None:
                self.fault(file, "", "a value", "null")
            return value
        except OSError as error:
            self.fault(file, "", "a JSON file", (error.strerror or "an error").lower())
        except (ValueError, RecursionError) as error:
            self.fault(file, "", "JSON", f"invalid JSON ({error})")
        return None

    def object(self, file: str) -> Mapping[str, Any]:
        """The JSON object in the file; otherwise an empty one, and a fault is recorded."""
        value = self.json(file)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.fault(file, "", "an object", type(value).__name__)
        return {}

    def filled(self, file: str) -> Mapping[str, Any]:
        """As ``object``, but an empty object is a fault too."""
        before = len(self.faults)
        value = self.object(file)
        if not value and len(self.faults) == before:
            self.fault(file, "", "an object with entries", "an empty object")
        return value

    def object_if_there(self, file: str) -> Mapping[str, Any]:
        return self.object(file) if self.there(file) else {}


def _what_is(path: Path) -> str:
    return "a file" if path.exists() else "nothing there"


def _modules(files: _Files) -> tuple[str, Pooling | None, bool]:
    """The transformer's folder, the pooling, and whether to normalise."""
    if not files.there("modules.json"):
        return "", "mean", False
    modules = files.json("modules.json")
    if modules is None:
        return "", None, False
    if not isinstance(modules, list) or not all(map(_is_module, modules)):
        files.fault("modules.json", "", "a list of modules with type and path", "something else")
        return "", None, False
    names = [_module_name(module["type"]) for module in modules]
    if names not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        files.fault(
            "modules.json",
            "type",
            "Transformer, Pooling and optionally Normalize",
            ", ".join(names) or "nothing",
        )
    places = {name: module["path"] for name, module in zip(names, modules, strict=True)}
    if "Normalize" in places:
        at = f"{places['Normalize']}/config.json"
        source = files.object_if_there(at).get("module_input_name", "sentence_embedding")
        if source != "sentence_embedding":
            files.fault(at, "module_input_name", "sentence_embedding", repr(source))
    inside = places.get("Transformer", "")
    pooling = _pooling(files, places["Pooling"]) if "Pooling" in places else None
    return f"{inside}/" if inside else "", pooling, "Normalize" in places


def _is_module(module: object) -> bool:
    """Whether it has a type, and a path inside the folder."""
    if not isinstance(module, dict):
        return False
    kind, path = module.get("type"), module.get("path")
    if not isinstance(kind, str) or not isinstance(path, str):
        return False
    inside = PurePosixPath(path)
    return not inside.is_absolute() and ".." not in inside.parts and "\\" not in path


def _module_name(kind: str) -> str:
    """``Pooling`` for ``sentence_transformers.models.Pooling``; other packages: the full name."""
    package, _, name = kind.partition(".")
    return name.rpartition(".")[2] if package == PACKAGE else kind


def _pooling(files: _Files, place: str) -> Pooling | None:
    at = f"{place}/config.json"
    config = files.filled(at)
    if not config:
        return None
    modes = config.get("pooling_mode")
    if modes is None:
        modes = [mode for key, mode in OLD_POOLINGS.items() if config.get(key)] or ["mean"]
    modes = [modes] if isinstance(modes, str) else modes
    for known in POOLINGS:
        if modes == [known]:
            return known
    got = " + ".join(map(str, modes)) if isinstance(modes, list) else repr(modes)
    files.fault(at, "pooling_mode", "mean, cls or max, one of them", got)
    return None


def _transformer_settings(files: _Files, inside: str) -> Mapping[str, Any]:
    """The settings that sentence-transformers stores for the transformer; empty if there are none.

    Settings that would change the vectors in an unsupported way are recorded as faults.
    """
    at = next((inside + name for name in TRANSFORMER_SETTINGS if files.there(inside + name)), None)
    if at is None:
        return {}
    settings = files.object(at)
    for key in sorted(set(settings) - UNDERSTOOD_SETTINGS):
        if settings[key]:
            files.fault(at, key, "no such setting", repr(settings[key]))
    task = settings.get("transformer_task", "feature-extraction")
    if task != "feature-extraction":
        files.fault(at, "transformer_task", "feature-extraction", repr(task))
    modalities = settings.get("modality_config", {"text": {}})
    text = modalities.get("text") if isinstance(modalities, dict) else None
    output = text.get("method_output_name", "last_hidden_state") if isinstance(text, dict) else None
    if output != "last_hidden_state":
        files.fault(at, "modality_config", "the last_hidden_state of texts", repr(modalities))
    return settings


def _no_prompt(files: _Files) -> None:
    at = "config_sentence_transformers.json"
    settings = files.object_if_there(at)
    kind = settings.get("model_type", "SentenceTransformer")
    if kind != "SentenceTransformer":
        files.fault(at, "model_type", "SentenceTransformer", repr(kind))
    default = settings.get("default_prompt_name")
    prompts = settings.get("prompts")
    known = isinstance(prompts, dict) and prompts.get(str(default)) == ""
    if default is not None and not known:
        files.fault(at, "default_prompt_name", "no default prompt", repr(default))


def _longest(files: _Files, inside: str, config: Mapping[str, Any]) -> int:
    if not config:
        return 0
    at = f"{inside}config.json"
    positions = config.get("max_position_embeddings")
    if not is_count(positions):
        files.fault(at, "max_position_embeddings", "a whole number above 0", repr(positions))
        return 0
    if str(config.get("model_type")) in COUNTED_FROM_PADDING:
        padding = config.get("pad_token_id", 1)
        if not isinstance(padding, int) or padding < 0:
            files.fault(at, "pad_token_id", "a whole number", repr(padding))
            return 0
        positions -= padding + 1
    if positions < SHORTEST:
        files.fault(at, "max_position_embeddings", f"at least {SHORTEST} positions", positions)
    return positions


def _max_tokens(files: _Files, inside: str, settings: Mapping[str, Any], longest: int) -> int:
    given = settings.get("max_seq_length")
    if given is not None and not (is_count(given) and given >= SHORTEST):
        at = f"{inside}{TRANSFORMER_SETTINGS[0]}"
        files.fault(at, "max_seq_length", f"a whole number of at least {SHORTEST}", repr(given))
        return 0
    if given is None:
        at = f"{inside}tokenizer_config.json"
        given = files.object_if_there(at).get("model_max_length")
        if not is_count(given) or not SHORTEST <= given <= NO_LENGTH:
            given = longest
    return min(given, longest)


def _tokenizer(
    files: _Files, inside: str, config: Mapping[str, Any], *, lower_case: bool
) -> TextTokenizer | None:
    at = f"{inside}tokenizer.json"
    if not files.there(at):
        files.fault(at, "", "a tokenizer of the tokenizers package", "no such file")
        return None
    content = files.filled(at)
    if not content:
        return None
    _same_settings(files, inside, content)
    try:
        tokenizer = TextTokenizer.open(files.root / at, lower_case=lower_case)
    except UnusableTokenizer as error:
        files.fault(at, "", error.expected, error.got)
        return None
    rows = config.get("vocab_size")
    if config and not is_count(rows):
        files.fault(f"{inside}config.json", "vocab_size", "a whole number above 0", repr(rows))
    elif is_count(rows) and tokenizer.size > rows:
        files.fault(
            at,
            "",
            f"token ids below {rows:,}, the model's vocab_size",
            f"the id {tokenizer.size - 1:,}: a tokenizer of another model",
        )
    return tokenizer


def _same_settings(files: _Files, inside: str, content: Mapping[str, Any]) -> None:
    """Check that tokenizer_config.json, which overrides tokenizer.json in transformers, agrees."""
    at = f"{inside}tokenizer_config.json"
    settings = files.object_if_there(at)
    if settings.get("truncation_side", "right") != "right":
        files.fault(at, "truncation_side", "right", repr(settings["truncation_side"]))
    pairs = (
        ("normalizer", "BertNormalizer", "lowercase", "do_lower_case"),
        ("normalizer", "BertNormalizer", "strip_accents", "strip_accents"),
        ("normalizer", "BertNormalizer", "handle_chinese_chars", "tokenize_chinese_chars"),
        ("pre_tokenizer", "ByteLevel", "add_prefix_space", "add_prefix_space"),
    )
    for part, kind, key, name in pairs:
        step = content.get(part)
        if not isinstance(step, dict) or step.get("type") != kind or name not in settings:
            continue
        if step.get(key) != settings[name]:
            expected = f"{step.get(key)!r}, as in tokenizer.json"
            files.fault(at, name, expected, repr(settings[name]))
