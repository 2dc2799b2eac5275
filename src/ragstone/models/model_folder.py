"""Model folder: reads the small files beside the weights and reports all faults in one error."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self, TypeGuard, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from ragstone.core.errors import Fault, ModelError

from .tokenizer import PairTokenizer, TextTokenizer, UnusableTokenizer, small_file

Pooling = Literal["mean", "cls", "max"]
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
WITHOUT_EFFECT = {"module_output_name", "unpad_inputs"}
COUNTED_FROM_PADDING = {"roberta", "xlm-roberta", "camembert", "mpnet"}
NO_LENGTH = 1_000_000
SHORTEST = 3
SHORTEST_PAIR = 5
LONGEST_SHOWN = 200
# Supported values of ``problem_type``: one label of several, or one number.
KINDS = (None, "regression", "single_label_classification")


def is_count(value: object) -> TypeGuard[int]:
    """Return True if this is a whole number above 0, as sizes in ``config.json`` must be."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _expecting(words: str) -> WrapValidator:
    def check(value: object, validate: Callable[[object], object]) -> object:
        try:
            return validate(value)
        except ValidationError:
            raise PydanticCustomError("expected", "{words}", {"words": words}) from None

    return WrapValidator(check)


def _is_inside(path: str) -> str:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\\" in path:
        raise ValueError("outside the folder")
    return path


def _is_last_state(modalities: dict[str, Any]) -> dict[str, Any]:
    text, last = modalities.get("text"), "last_hidden_state"
    if not isinstance(text, dict) or text.get("method_output_name", last) != last:
        raise ValueError("another state")
    return modalities


Count = Annotated[int, Field(gt=0), _expecting("a whole number above 0")]


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, protected_namespaces=())


class Config(_Form):
    """The fields of ``config.json`` that every model has."""

    model_type: str | None = None
    vocab_size: Count
    max_position_embeddings: Count
    pad_token_id: Any = None

    @property
    def padding(self) -> int:
        """The padding token's id, or 0."""
        return self.pad_token_id if is_count(self.pad_token_id) else 0


class EncoderConfig(Config):
    """The fields of an encoder's ``config.json``; heads and epsilon are BERT's."""

    layers: Annotated[Count, Field(validation_alias=AliasChoices("num_hidden_layers", "n_layers"))]
    hidden_size: int | None = None
    num_attention_heads: int = 1
    layer_norm_eps: float = 1e-12


class PairConfig(Config):
    """The fields of a cross-encoder's ``config.json``."""

    problem_type: Annotated[
        Literal["regression", "single_label_classification"] | None,
        _expecting("regression or single_label_classification"),
    ] = None
    id2label: Annotated[
        dict[str, Any] | None, _expecting("a name for each output, numbered from 0")
    ] = None


class _Module(_Form):
    type: str
    path: Annotated[str, AfterValidator(_is_inside)]

    @property
    def name(self) -> str:
        package, _, name = self.type.partition(".")
        return name.rpartition(".")[2] if package == PACKAGE else self.type


MODULES: TypeAdapter[list[_Module]] = TypeAdapter(
    Annotated[list[_Module], _expecting("a list of modules with type and path")]
)


class _TransformerSettings(_Form):
    model_config = ConfigDict(extra="allow")

    max_seq_length: Annotated[
        Annotated[int, Field(ge=SHORTEST)] | None,
        _expecting(f"a whole number of at least {SHORTEST}"),
    ] = None
    do_lower_case: Any = False
    transformer_task: Annotated[Literal["feature-extraction"], _expecting("feature-extraction")] = (
        "feature-extraction"
    )
    modality_config: Annotated[
        dict[str, Any], AfterValidator(_is_last_state), _expecting("the last_hidden_state of texts")
    ] = {"text": {}}


OBJECT = TypeAdapter(dict[str, Any])
Form = TypeVar("Form")
Read = TypeVar("Read", bound=TextTokenizer)


class _Files:
    def __init__(self, root: Path, what: str) -> None:
        if not root.is_dir():
            got = "a file" if root.exists() else "nothing there"
            raise ModelError(f"{root}: expected the folder of a {what}, got {got}")
        self.root = root
        self.faults: list[Fault] = []

    def fault(self, file: str, field: str, expected: str, got: object) -> None:
        self.faults.append(Fault(file, None, field, expected, str(got)[:LONGEST_SHOWN]))

    def has(self, file: str) -> bool:
        return (self.root / file).is_file()

    def read(self, file: str, form: TypeAdapter[Form]) -> Form | None:
        try:
            return form.validate_json(small_file(self.root / file))
        except OSError as error:
            self.fault(file, "", "a JSON file", (error.strerror or "an error").lower())
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                self._record(file, fault)
        return None

    def _record(self, file: str, fault: Mapping[str, Any]) -> None:
        kind, value = fault["type"], fault["input"]
        if kind == "json_invalid":
            self.fault(file, "", "JSON", f"invalid JSON ({fault['ctx']['error']})")
        elif kind in ("model_type", "dict_type") and not fault["loc"]:
            self.fault(file, "", "an object", type(value).__name__)
        else:
            field = ".".join(map(str, fault["loc"]))
            expected = "a value" if kind == "missing" else fault["msg"]
            self.fault(file, field, expected, "none" if kind == "missing" else repr(value))

    def object(self, file: str) -> Mapping[str, Any]:
        return (self.read(file, OBJECT) if self.has(file) else None) or {}

    def tokenizer(
        self, file: str, config: Config | None, open_: Callable[[Path], Read]
    ) -> Read | None:
        try:
            tokenizer = open_(self.root / file)
        except UnusableTokenizer as error:
            self.fault(file, "", error.expected, error.got)
            return None
        if config is not None and tokenizer.size > config.vocab_size:
            expected = f"token ids below {config.vocab_size:,}, the model's vocab_size"
            got = f"the id {tokenizer.size - 1:,}: a tokenizer of another model"
            self.fault(file, "", expected, got)
        return tokenizer

    def positions(self, file: str, config: Config | None) -> int:
        if config is None:
            return 0
        positions = config.max_position_embeddings
        if config.model_type in COUNTED_FROM_PADDING:
            padding = 1 if config.pad_token_id is None else config.pad_token_id
            if not (is_count(padding) or (padding == 0 and isinstance(padding, int))):
                self.fault(file, "pad_token_id", "a whole number", repr(padding))
                return 0
            positions -= padding + 1
        if positions < SHORTEST:
            expected = f"at least {SHORTEST} positions"
            self.fault(file, "max_position_embeddings", expected, positions)
        return positions


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """An embedding model in a folder as sentence-transformers or transformers writes it.

    Attributes:
        inside: The folder of the transformer's own files; usually ``path`` itself.
        normalize: True if the pooled vector is scaled to length 1.
        lower_case: True if text is lower-cased, whatever ``tokenizer.json`` says.
        max_tokens: The most tokens of a text that are read, special tokens included.
    """

    path: Path
    inside: Path
    config: EncoderConfig
    tokenizer: TextTokenizer
    pooling: Pooling
    normalize: bool
    lower_case: bool
    max_tokens: int
    longest: int

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read everything except the weights.

        A folder without ``modules.json`` is a bare transformer: its pooling is the mean, without
        normalisation, as in sentence-transformers. A model with a default prompt, which would be
        put before every text, is refused; optional prompts are ignored.

        ``max_tokens`` is the first of these that is set: ``max_seq_length``, the tokenizer's
        ``model_max_length``, the number of positions; and never more than the last.
        """
        files = _Files(path, "model")
        inside, pooling, normalize = _modules(files)
        config = files.read(f"{inside}config.json", TypeAdapter(EncoderConfig))
        settings = _transformer_settings(files, inside)
        _check_prompt(files)
        longest = files.positions(f"{inside}config.json", config)
        tokenizer_settings = files.object(f"{inside}tokenizer_config.json")
        max_tokens = settings.max_seq_length
        if max_tokens is None:
            max_tokens = tokenizer_settings.get("model_max_length")
            if not is_count(max_tokens) or not SHORTEST <= max_tokens <= NO_LENGTH:
                max_tokens = longest
        lower_case = bool(settings.do_lower_case)
        at = f"{inside}tokenizer.json"
        if not files.has(at):
            files.fault(at, "", "a tokenizer of the tokenizers package", "no such file")
            tokenizer = None
        else:
            _check_same_settings(files, inside, files.object(at), tokenizer_settings)
            open_ = partial(TextTokenizer.open, lower_case=lower_case)
            tokenizer = files.tokenizer(at, config, open_)
        if files.faults or config is None or tokenizer is None or pooling is None:
            raise refused(path, files.faults)
        return cls(
            path=path,
            inside=path / inside,
            config=config,
            tokenizer=tokenizer,
            pooling=pooling,
            normalize=normalize,
            lower_case=lower_case,
            max_tokens=min(max_tokens, longest),
            longest=longest,
        )

    def fingerprint(self, weights: Iterable[Path], *computed: str) -> str:
        """Return a hash in 32 hex digits of everything that the vectors depend on."""
        facts = (*computed, self.pooling, self.normalize, self.lower_case, self.max_tokens)
        files = (self.inside / "config.json", self.inside / "tokenizer.json", *weights)
        return _hash_of(facts, files)


@dataclass(frozen=True, slots=True)
class CrossEncoderFolder:
    """A cross-encoder in a folder as sentence-transformers or transformers writes it.

    Attributes:
        labels: The names of the outputs; empty if ``config.json`` gives none.
        max_tokens: The most tokens of a pair that are read, special tokens included.
    """

    path: Path
    config: PairConfig
    tokenizer: PairTokenizer
    labels: tuple[str, ...]
    max_tokens: int

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read everything except the weights.

        ``max_tokens`` is the tokenizer's ``model_max_length`` or, if that is not set, the number
        of positions, and never more than the number of positions.
        """
        files = _Files(path, "cross-encoder")
        config = files.read("config.json", TypeAdapter(PairConfig))
        settings = files.object("tokenizer_config.json")
        modules = files.read("modules.json", MODULES) if files.has("modules.json") else None
        if modules is not None and [(it.name, it.path) for it in modules] != [("Transformer", "")]:
            got = ", ".join(module.name for module in modules) or "nothing"
            files.fault("modules.json", "type", "one Transformer in this folder", got)
        tokenizer = files.tokenizer("tokenizer.json", config, PairTokenizer.open)
        names = (config.id2label if config else None) or {}
        numbers = [str(number) for number in range(len(names))]
        if sorted(names) != sorted(numbers):
            expected = "a name for each output, numbered from 0"
            files.fault("config.json", "id2label", expected, repr(names))
        positions = files.positions("config.json", config)
        limit = settings.get("model_max_length")
        max_tokens = min(limit, positions) if is_count(limit) else positions
        if config is not None and max_tokens < SHORTEST_PAIR:
            expected = f"at least {SHORTEST_PAIR} tokens"
            files.fault("tokenizer_config.json", "model_max_length", expected, max_tokens)
        if files.faults or config is None or tokenizer is None:
            raise _refused_pairs(path, files.faults)
        labels = tuple(str(names[number]) for number in numbers)
        return cls(path, config, tokenizer, labels, max_tokens)

    def named(self, outputs: int) -> tuple[str, ...]:
        """Return the names of the outputs: LABEL_0, LABEL_1, … if ``config.json`` gives none."""
        if self.labels and len(self.labels) != outputs:
            noun = "label" if len(self.labels) == 1 else "labels"
            got = f"{len(self.labels)} {noun}: {', '.join(self.labels)}"
            expected = f"a name for each of the model's {outputs} outputs"
            raise _refused_pairs(self.path, [Fault("config.json", None, "id2label", expected, got)])
        return self.labels or tuple(f"LABEL_{number}" for number in range(outputs))

    def fingerprint(self, weights: Iterable[Path], *computed: str) -> str:
        """Return a hash in 32 hex digits of everything that the probabilities depend on."""
        files = (self.path / "config.json", self.path / "tokenizer.json", *weights)
        return _hash_of((*computed, self.max_tokens), files)


def _hash_of(facts: object, files: Iterable[Path]) -> str:
    digest = blake2b(repr(facts).encode(), digest_size=16)
    for file in files:
        with file.open("rb") as content:
            digest.update(file_digest(content, "blake2b").digest())
    return digest.hexdigest()


def refused(
    path: Path, faults: Sequence[Fault], what: str = "model", by: str = "sentence-transformers"
) -> ModelError:
    """Return the error that lists the faults of ``what`` and suggests ``by`` instead."""
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


def _refused_pairs(path: Path, faults: Sequence[Fault]) -> ModelError:
    return refused(path, faults, "cross-encoder", "transformers")


def _modules(files: _Files) -> tuple[str, Pooling | None, bool]:
    if not files.has("modules.json"):
        return "", "mean", False
    modules = files.read("modules.json", MODULES)
    if modules is None:
        return "", None, False
    paths = {module.name: module.path for module in modules}
    names = [module.name for module in modules]
    if names not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        expected = "Transformer, Pooling and optionally Normalize"
        files.fault("modules.json", "type", expected, ", ".join(names) or "nothing")
    if "Normalize" in paths:
        at = f"{paths['Normalize']}/config.json"
        source = files.object(at).get("module_input_name", "sentence_embedding")
        if source != "sentence_embedding":
            files.fault(at, "module_input_name", "sentence_embedding", repr(source))
    inside = paths.get("Transformer", "")
    pooling = _pooling(files, paths["Pooling"]) if "Pooling" in paths else None
    return f"{inside}/" if inside else "", pooling, "Normalize" in paths


def _pooling(files: _Files, folder: str) -> Pooling | None:
    at = f"{folder}/config.json"
    content = files.read(at, OBJECT)
    if content is None:
        return None
    if not content:
        files.fault(at, "", "an object with entries", "an empty object")
        return None
    modes = content.get("pooling_mode")
    if modes is None:
        modes = [mode for key, mode in OLD_POOLINGS.items() if content.get(key)] or ["mean"]
    modes = [modes] if isinstance(modes, str) else modes
    for known in POOLINGS:
        if modes == [known]:
            return known
    got = " + ".join(map(str, modes)) if isinstance(modes, list) else repr(modes)
    files.fault(at, "pooling_mode", "mean, cls or max, one of them", got)
    return None


def _transformer_settings(files: _Files, inside: str) -> _TransformerSettings:
    at = next((inside + name for name in TRANSFORMER_SETTINGS if files.has(inside + name)), None)
    settings = files.read(at, TypeAdapter(_TransformerSettings)) if at else None
    for key, value in sorted((settings.model_extra or {}).items()) if settings else ():
        if value and key not in WITHOUT_EFFECT:
            files.fault(str(at), key, "no such setting", repr(value))
    return settings or _TransformerSettings()


def _check_prompt(files: _Files) -> None:
    at = "config_sentence_transformers.json"
    settings = files.object(at)
    kind = settings.get("model_type", "SentenceTransformer")
    if kind != "SentenceTransformer":
        files.fault(at, "model_type", "SentenceTransformer", repr(kind))
    default, prompts = settings.get("default_prompt_name"), settings.get("prompts")
    is_empty = isinstance(prompts, dict) and prompts.get(str(default)) == ""
    if default is not None and not is_empty:
        files.fault(at, "default_prompt_name", "no default prompt", repr(default))


def _check_same_settings(
    files: _Files, inside: str, content: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Check that tokenizer_config.json, which overrides tokenizer.json in transformers, agrees."""
    at = f"{inside}tokenizer_config.json"
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
