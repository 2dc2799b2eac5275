"""Cross-encoders: probabilities by hand, and the back ends beside each other and beside torch."""

import json
import math
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.core.errors import MissingDependency, ModelError, ModelFailure, UnknownName
from ragstone.models import BUILTIN
from ragstone.models.cross_encoder import Scorer, open_cross_encoder
from ragstone.models.model_folder import CrossEncoderFolder
from ragstone.models.model_store import Origin, keep
from ragstone.models.tokenizer import Pair, TokenizedPair
from ragstone.testing import tiny_bert
from ragstone.testing.fake_models import WORDS
from tests.availability import import_or_skip
from tests.models.closeness import furthest

safetensors = import_or_skip("safetensors.numpy", reason="needs the extra local")
tokenizers = import_or_skip("tokenizers", reason="needs the extra local")

pytestmark = pytest.mark.torch

CLOSE = 1e-5
NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}


def some_pairs() -> list[Pair]:
    draw = np.random.default_rng(0)

    def text(longest: int) -> str:
        return " ".join(draw.choice(WORDS, draw.integers(0, longest)))

    odd = [
        ("", ""),
        ("  ", "red"),
        ("tin", ""),
        ("a \ud800 b", "桥 🙂"),
        ("tin " * 90, "red " * 80),
    ]
    return [*((text(40), text(25)) for _ in range(40)), *odd]


PAIRS = some_pairs()
Floats = NDArray[np.float32]


@pytest.fixture(scope="module", params=[1, 2, 3])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("tiny"), head=request.param, max_tokens=48)


# Scores: from a model's numbers to probabilities.


@dataclass
class Scripted:
    """Says of each pair what it is told to, and keeps what it was asked."""

    numbers: dict[str, Sequence[float]]
    labels: tuple[str, ...] = ("yes", "no")
    asked: list[Pair] = field(default_factory=list)

    def read(self, pairs: Sequence[Pair]) -> list[TokenizedPair]:
        self.asked += pairs
        ids = [np.array([list(self.numbers).index(first)], np.int32) for first, _ in pairs]
        lengths = [len(first) + len(second) for first, second in pairs]
        return [TokenizedPair(one, one, size) for one, size in zip(ids, lengths, strict=True)]

    def logits(self, pairs: Sequence[TokenizedPair]) -> Floats:
        rows = list(self.numbers.values())
        return np.array([rows[int(pair.ids[0])] for pair in pairs], np.float32)

    def scorer(self) -> Scorer:
        return Scorer("scripted", "by hand", "0" * 32, self.labels, 4, self.read, self.logits)


def test_several_labels_are_weighed_by_softmax() -> None:
    model = Scripted({"a": [0, 0], "b": [math.log(3), 0], "c": [-1000, 1000]})
    scores = model.scorer().score([("a", ""), ("b", ""), ("c", "")])
    assert scores.tolist() == [pytest.approx(row) for row in ([0.5, 0.5], [0.75, 0.25], [0, 1])]
    assert scores.dtype == np.float32


def test_one_label_is_read_through_the_sigmoid() -> None:
    numbers: dict[str, Sequence[float]] = {"a": [0], "b": [math.log(3)], "c": [-1000], "d": [1000]}
    scores = Scripted(numbers, ("score",)).scorer().score([(one, "") for one in "abcd"])
    assert scores.tolist() == [[pytest.approx(chance)] for chance in (0.5, 0.75, 0, 1)]


def test_equal_pairs_are_read_once_and_all_keep_their_place() -> None:
    model = Scripted({"a": [0, 0], "b": [math.log(3), 0]})
    pairs = [("b", "x"), ("a", "x"), ("b", "x"), ("b", "y")]
    scores = model.scorer().score(pairs)
    assert scores[:, 0].tolist() == [pytest.approx(chance) for chance in (0.75, 0.5, 0.75, 0.75)]
    assert model.asked == [("b", "x"), ("a", "x"), ("b", "y")]


def test_no_pairs_have_no_scores() -> None:
    assert Scripted({}).scorer().score([]).shape == (0, 2)
    assert Scripted({}).scorer().lengths([]).shape == (0,)


def test_numbers_that_are_none_are_a_failure() -> None:
    model = Scripted({"a": [0, math.nan]})
    with pytest.raises(ModelFailure, match="scripted returned NaN or infinity"):
        model.scorer().score([("a", "")])


def test_lengths_are_those_before_a_pair_is_cut() -> None:
    model = Scripted({"a": [0, 0]})
    assert model.scorer().lengths([("a", "bcdef"), ("a", "")]).tolist() == [6, 1]


def test_it_says_what_it_is() -> None:
    one = Scripted({}).scorer()
    assert one.about == "scripted: labels yes, no, pairs of up to 4 tokens, by hand"
    two = Scripted({}, ("LABEL_0",)).scorer()
    assert two.about == "scripted: label LABEL_0, pairs of up to 4 tokens, by hand"


# By torch.


@pytest.fixture
def with_torch() -> None:
    import_or_skip("sentence_transformers", reason="needs the extra torch")


def test_it_agrees_with_sentence_transformers(folder: Path) -> None:
    theirs = import_or_skip("sentence_transformers", reason="needs the extra torch")
    torch = import_or_skip("torch", reason="needs the extra torch")
    ours = open_cross_encoder(str(folder), offline=True)
    model = theirs.CrossEncoder(str(folder), device="cpu", local_files_only=True)
    to_chances = torch.nn.Sigmoid() if len(ours.labels) == 1 else torch.nn.Softmax(dim=1)
    sayable = [tuple(text.replace("\ud800", "\ufffd") for text in pair) for pair in PAIRS]
    expected = model.predict(sayable, activation_fn=to_chances, show_progress_bar=False)
    assert furthest(ours.score(PAIRS), expected.reshape(len(PAIRS), -1)) < CLOSE


@pytest.mark.usefixtures("with_torch")
def test_torch_is_the_back_end_where_none_is_named(folder: Path) -> None:
    plain, named = open_cross_encoder(str(folder)), open_cross_encoder(f"torch:{folder}")
    assert plain.about.endswith("torch float32")
    assert (plain.name, plain.max_tokens) == (str(folder), 48)
    assert plain.fingerprint == named.fingerprint


@pytest.mark.usefixtures("with_torch")
def test_the_order_of_the_two_texts_matters(folder: Path) -> None:
    model = open_cross_encoder(str(folder))
    assert furthest(model.score([("red", "tin")]), model.score([("tin", "red")])) > 1e-4


@pytest.mark.usefixtures("with_torch")
def test_scores_do_not_depend_on_what_is_read_beside(folder: Path) -> None:
    model = open_cross_encoder(str(folder))
    chosen = [*range(0, 40, 4), *range(40, len(PAIRS))]
    alone = np.concatenate([model.score([PAIRS[at]]) for at in chosen])
    assert furthest(model.score(PAIRS)[chosen], alone) < CLOSE


@pytest.mark.usefixtures("with_torch")
def test_labels_are_those_of_the_configuration(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path, head=3, id2label=NLI)
    assert open_cross_encoder(str(folder)).labels == ("contradiction", "entailment", "neutral")


def test_outputs_without_names_are_numbered(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path, head=2)
    config = json.loads((folder / "config.json").read_text())
    del config["id2label"]
    (folder / "config.json").write_text(json.dumps(config))
    assert CrossEncoderFolder.read(folder).named(2) == ("LABEL_0", "LABEL_1")


@pytest.mark.usefixtures("with_torch")
def test_the_same_model_has_the_same_fingerprint(folder: Path, tmp_path: Path) -> None:
    ours = open_cross_encoder(str(folder)).fingerprint
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert open_cross_encoder(str(copy)).fingerprint == ours
    (copy / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 20}))
    assert open_cross_encoder(str(copy)).fingerprint != ours


# Files: logits whose sums are known.


def with_file(folder: Path, outputs: int, **changes: object) -> Path:
    """A folder of another architecture whose graph sums a number for each word and text."""
    onnx = import_or_skip("onnx", reason="needs the extra onnx")
    import_or_skip("onnxruntime", reason="needs the extra onnx")
    helper, types = onnx.helper, onnx.TensorProto
    tiny_bert(folder, head=outputs)
    (folder / "model.safetensors").unlink()
    config = json.loads((folder / "config.json").read_text()) | {"model_type": "deberta-v2"}
    (folder / "config.json").write_text(json.dumps(config | changes))
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Add", ["attention_mask", "token_type_ids"], ["weight"]),
        helper.make_node("Mul", ["weight", "attention_mask"], ["inside"]),
        helper.make_node("Cast", ["inside"], ["number"], to=types.FLOAT),
        helper.make_node("Unsqueeze", ["number", "last"], ["weights"]),
        helper.make_node("Mul", ["words", "weights"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "middle"], ["logits"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "sums",
        [helper.make_tensor_value_info(name, types.INT64, ["b", "t"]) for name in inputs],
        [helper.make_tensor_value_info("logits", types.FLOAT, ["b", outputs])],
        [
            onnx.numpy_helper.from_array(table(outputs), "table"),
            onnx.numpy_helper.from_array(np.array([2]), "last"),
            onnx.numpy_helper.from_array(np.array([1]), "middle"),
        ],
    )
    operators = [helper.make_opsetid("", 17)]
    onnx.save(
        helper.make_model(graph, opset_imports=operators, ir_version=8), folder / "model.onnx"
    )
    return folder


def table(outputs: int) -> Floats:
    return np.random.default_rng(0).normal(size=(200, outputs)).astype(np.float32)


def test_a_file_is_computed_whatever_its_architecture(tmp_path: Path) -> None:
    folder = with_file(tmp_path, 3)
    model = open_cross_encoder(f"onnx:{folder}")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    pairs = [("red bridge", "tin"), ("", "old mine"), ("the river", "")]
    for (first, second), scores in zip(pairs, model.score(pairs), strict=True):
        read = tokenizer.encode(first, second)
        weights = np.array(read.type_ids)[:, None] + 1
        powers = np.exp((table(3)[read.ids] * weights).sum(axis=0))
        assert furthest(scores, powers / powers.sum()) < CLOSE
    assert model.about.endswith(
        "labels LABEL_0, LABEL_1, LABEL_2, pairs of up to 32 tokens, ONNX float32"
    )


def test_a_folder_without_a_file_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path, head=2)
    with pytest.raises(ModelError, match=r"optimum-cli .* --task text-classification .*/onnx"):
        open_cross_encoder(f"onnx:{folder}")


def test_a_file_must_have_an_output_for_each_label(tmp_path: Path) -> None:
    folder = with_file(tmp_path, 2, id2label={str(key): name for key, name in NLI.items()})
    with pytest.raises(ModelError, match="each of the model's 2 outputs, got 3 labels: contrad"):
        open_cross_encoder(f"onnx:{folder}")


# What cannot be used.


def without_head(folder: Path) -> None:
    changed_weights(folder, lambda tensors: tensors.pop("classifier.weight"))


def with_nan(folder: Path) -> None:
    changed_weights(folder, lambda tensors: tensors["classifier.bias"].fill(np.nan))


def with_more_modules(folder: Path) -> None:
    kinds = ("Transformer", "Dense")
    modules = [{"type": f"sentence_transformers.models.{one}", "path": ""} for one in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def configured(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))

    return change


def changed_weights(folder: Path, change: Callable[[dict[str, Floats]], object]) -> None:
    tensors = safetensors.load_file(folder / "model.safetensors")
    change(tensors)
    safetensors.save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (with_more_modules, "expected one Transformer in this folder, got Transformer, Dense"),
        (without_tokenizer, r"tokenizer\.json  expected a file, got No such file"),
        (configured(vocab_size=20), "token ids below 20, .*: a tokenizer of another model"),
        (configured(id2label={"1": "yes"}), "id2label  expected a name for each output"),
        (configured(id2label=["yes", "no"]), "id2label  expected a name for each output"),
        (configured(id2label={"0": "yes"}), "each of the model's 3 outputs, got 1 label: yes"),
        (configured(problem_type="multi_label_classification"), "problem_type  expected regr"),
        (configured(max_position_embeddings=None), "max_position_embeddings  expected a whole"),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    folder = tiny_bert(tmp_path, head=3)
    spoil(folder)
    with pytest.raises(ModelError, match=said) as refused:
        CrossEncoderFolder.read(folder).named(3)
    assert f"use the name torch:{folder}" in str(refused.value)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no folder"):
        open_cross_encoder(str(tmp_path / "nothing"))


def test_configuration_that_is_no_json_is_refused(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path, head=1)
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"config\.json  expected JSON"):
        CrossEncoderFolder.read(folder)


@pytest.mark.parametrize("spoil", [without_head, with_nan])
def test_torch_refuses_what_has_no_head_or_no_numbers(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    import_or_skip("transformers", reason="needs the extra torch")
    folder = tiny_bert(tmp_path, head=3)
    spoil(folder)
    with pytest.raises(ModelError, match=r"expected the weights of a classification head|finite"):
        open_cross_encoder(f"torch:{folder}", offline=True)


def test_three_tensors_that_are_no_numbers_are_named() -> None:
    torch = import_or_skip("torch", reason="needs the extra torch")
    from ragstone.models.cross_encoder import _check_weights

    tensors = {name: torch.tensor([1.0, math.nan]) for name in "abcd"} | {"e": torch.tensor([1.0])}
    with pytest.raises(ModelError, match=r"NaN or infinity in a, b, c$"):
        _check_weights("m", SimpleNamespace(state_dict=lambda: tensors))


def test_a_model_that_is_not_here_is_looked_for_unless_that_is_forbidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    import_or_skip("onnxruntime", reason="needs the extra onnx")
    with pytest.raises(ModelError, match="org/none could not be looked up"):
        open_cross_encoder("onnx:org/none")
    with pytest.raises(ModelError, match="offline=True forbids downloads"):
        open_cross_encoder("onnx:org/none", offline=True)


def test_torch_reads_the_folder_that_is_named_whatever_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_or_skip("transformers", reason="needs the extra torch")
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    other = tiny_bert(tmp_path / "other", head=1)
    files = [file.relative_to(other).as_posix() for file in other.rglob("*") if file.is_file()]
    keep("minilm", Origin(BUILTIN, "", "MIT", "", "", "safetensors"), files, other)
    folder = tiny_bert(tmp_path / "mine", head=3)
    assert len(open_cross_encoder(f"torch:{folder}", offline=True).labels) == 3


def test_torch_says_why_it_cannot_load_a_folder(tmp_path: Path) -> None:
    import_or_skip("transformers", reason="needs the extra torch")
    with pytest.raises(ModelError, match="transformers cannot load it"):
        open_cross_encoder(f"torch:{tmp_path}", offline=True)


def test_torch_refuses_labels_of_which_several_may_hold(tmp_path: Path) -> None:
    import_or_skip("transformers", reason="needs the extra torch")
    folder = tiny_bert(tmp_path, head=3)
    configured(problem_type="multi_label_classification")(folder)
    with pytest.raises(ModelError, match="problem_type: expected regression or single_label"):
        open_cross_encoder(f"torch:{folder}", offline=True)


def test_what_torch_gives_up_on_is_a_failure(tmp_path: Path) -> None:
    transformers = import_or_skip("transformers", reason="needs the extra torch")
    from ragstone.models.cross_encoder import load, torch_scorer

    folder = tiny_bert(tmp_path, head=3)
    model = load(str(folder), "tiny", revision="", offline=True)
    unknown = np.array([1_000_000], np.int32)
    with pytest.raises(ModelFailure, match=r"tiny failed: .*IndexError"):
        model.logits([TokenizedPair(unknown, np.zeros(1, np.int32), 1)])
    assert model.logits(model.read([("a", "b")])).shape == (1, 3), "and the next is asked"

    class Broken(SimpleNamespace):
        def __call__(self, *_: object, **__: object) -> None:
            raise RuntimeError("Already borrowed")

    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with pytest.raises(ModelFailure, match=r"tiny failed: Already borrowed \(RuntimeError\)"):
        torch_scorer("tiny", Broken(get_vocab=dict), network, 48).read([("a", "b")])


@pytest.mark.parametrize(("back_end", "extra"), [("", "torch"), ("onnx:", "onnx")])
def test_a_missing_package_is_told_before_anything_is_fetched(
    back_end: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    said = rf"cross-encoder {back_end}nobody/nothing needs an extra: .*\[{extra}\]"
    with pytest.raises(MissingDependency, match=said):
        open_cross_encoder(f"{back_end}nobody/nothing")


def test_an_encoder_is_no_cross_encoder() -> None:
    with pytest.raises(ModelError, match="is an encoder for single texts"):
        open_cross_encoder("builtin:minilm")


@pytest.mark.usefixtures("with_torch")
def test_a_model_of_the_hub_is_not_fetched_offline() -> None:
    with pytest.raises(ModelError, match="offline=True forbids downloads"):
        open_cross_encoder("nobody/nothing", offline=True)


def test_a_name_of_no_form_is_unknown() -> None:
    with pytest.raises(UnknownName):
        open_cross_encoder("minilm")
