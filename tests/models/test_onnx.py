"""The ONNX back end: graphs made from weights beside the NumPy back end, and files made by hand."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.errors import ModelError, ModelFailure
from ragstone.models import bert
from ragstone.models.onnx import load
from ragstone.models.onnx_session import even_batches
from ragstone.models.reading import FolderEncoder
from ragstone.models.side_by_side import side_by_side, threads
from ragstone.testing import tiny_bert

onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
pytest.importorskip("onnxruntime", reason="needs the extra onnx")
safetensors = pytest.importorskip("safetensors.numpy", reason="needs the extra local")
tokenizers = pytest.importorskip("tokenizers", reason="needs the extra local")

CLOSE = 1e-5
TEXTS = [
    "",
    "   ",
    "bridge",
    "The red bridge opened in 1932.",
    "Who built the old tower, and when was it closed?",
    "tin " * 30,
    "tin " * 31,
    "the keeper of the harbour " * 40,
    "🙂 not a word",
    "red \ud800 tin",
    "The red bridge opened in 1932.",
]

Plain = Callable[[Path, str], list[Any]]
Floats = NDArray[np.float32]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("tiny"), layers=3)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> FolderEncoder:
    return load(folder, "tiny")


def furthest(got: Any, expected: Any) -> float:
    assert got.shape == expected.shape
    return float(np.abs(got - expected).max(initial=0))


def as_numpy_has_it(folder: Path) -> FolderEncoder:
    """The encoder of the folder, after all that it gives was held against the NumPy back end."""
    ours, expected = load(folder, "onnx"), bert.load(folder, "numpy")
    assert furthest(ours.embed(TEXTS), expected.embed(TEXTS)) < CLOSE
    assert ours.lengths(TEXTS).tolist() == expected.lengths(TEXTS).tolist()
    for layer in range(expected.layers + 1):
        for limit in (None, 5, expected.longest):
            one = ours.tokens(TEXTS, layer=layer, limit=limit)
            other = expected.tokens(TEXTS, layer=layer, limit=limit)
            for got, same in zip(one, other, strict=True):
                assert furthest(got.vectors, same.vectors) < CLOSE
                assert got.ids.tolist() == same.ids.tolist()
                assert got.spans.tolist() == same.spans.tolist()
                assert got.cut == same.cut
                assert (got.embedding is None) == (same.embedding is None)
    return ours


@pytest.mark.parametrize("text", TEXTS[:5])
def test_every_layer_is_that_of_a_plain_bert(
    folder: Path, encoder: FolderEncoder, plain_bert: Plain, text: str
) -> None:
    expected = plain_bert(folder, text)
    assert encoder.layers == len(expected) - 1 == 3
    for layer, states in enumerate(expected):
        (read,) = encoder.tokens([text], layer=layer)
        assert furthest(read.vectors, states) < CLOSE
        assert read.vectors.dtype == np.float32


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("normalize", [True, False])
def test_vectors_are_those_of_the_numpy_back_end(
    tmp_path: Path, pooling: Any, normalize: bool
) -> None:
    as_numpy_has_it(tiny_bert(tmp_path, pooling=pooling, normalize=normalize))


@pytest.mark.parametrize("activation", ["gelu_new", "gelu_pytorch_tanh", "relu"])
def test_other_activations_are_those_of_the_numpy_back_end(tmp_path: Path, activation: str) -> None:
    folder = tiny_bert(tmp_path)
    changed(folder / "config.json", hidden_act=activation)
    as_numpy_has_it(folder)


def test_positions_of_roberta_are_counted_from_the_padding_token(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path, normalize=False)
    plain = load(folder, "bert").embed(["red tin"])
    changed(folder / "config.json", model_type="roberta", pad_token_id=1)
    roberta = as_numpy_has_it(folder)
    assert furthest(roberta.embed(["red tin"]), plain) > 0.01


def test_weights_of_half_precision_are_read(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path)
    tensors = safetensors.load_file(folder / "model.safetensors")
    halves = {name: tensor.astype(np.float16) for name, tensor in tensors.items()}
    safetensors.save_file(halves, folder / "model.safetensors")
    as_numpy_has_it(folder)


def test_the_builtin_model_is_that_of_the_numpy_back_end(minilm: Path) -> None:
    ours, expected = load(minilm, "onnx"), bert.load(minilm, "numpy")
    assert furthest(ours.embed(TEXTS), expected.embed(TEXTS)) < CLOSE
    for layer in (2, 6):
        one, other = (encoder.tokens(TEXTS[2:5], layer=layer) for encoder in (ours, expected))
        for got, same in zip(one, other, strict=True):
            assert furthest(got.vectors, same.vectors) < CLOSE


def test_the_builtin_model_is_that_of_sentence_transformers(minilm: Path) -> None:
    theirs = pytest.importorskip("sentence_transformers", reason="needs the extra torch")
    model = theirs.SentenceTransformer(str(minilm), device="cpu", local_files_only=True).float()
    texts = [text.replace("\ud800", "\ufffd") for text in TEXTS]
    expected = model.encode(texts, show_progress_bar=False)
    assert furthest(load(minilm, "minilm").embed(TEXTS), expected) < CLOSE


def test_a_vector_does_not_depend_on_what_is_read_with_it(encoder: FolderEncoder) -> None:
    alone = encoder.embed(["The red bridge opened in 1932."])[0]
    draw = np.random.default_rng(0)
    words = np.array(["the", "red", "tin", "mine", "zoo", "1834"])
    for count in (1, 7, 60, 400):
        others = [" ".join(draw.choice(words, draw.integers(1, 30))) for _ in range(count)]
        together = encoder.embed([*others, "The red bridge opened in 1932."])[-1]
        assert furthest(together, alone) < 1e-6


def test_no_texts_have_no_vectors(encoder: FolderEncoder) -> None:
    assert encoder.embed([]).shape == (0, 32)
    assert encoder.tokens([]) == []
    assert encoder.lengths([]).shape == (0,)


def test_tokens_give_the_embedding_where_they_are_what_it_is_made_of(
    encoder: FolderEncoder,
) -> None:
    expected = encoder.embed(TEXTS)
    for text, vector in zip(encoder.tokens(TEXTS), expected, strict=True):
        assert text.embedding is not None
        assert furthest(text.embedding, vector) < 1e-6


@pytest.mark.parametrize("layer", [-1, 4])
def test_a_layer_that_is_not_there_is_refused(encoder: FolderEncoder, layer: int) -> None:
    with pytest.raises(ModelError, match=f"tiny has layers 0 to 3, none is {layer}"):
        encoder.tokens(["tin"], layer=layer)


def test_a_limit_below_three_is_refused(encoder: FolderEncoder) -> None:
    with pytest.raises(ModelError, match="at least 3 tokens, got 2"):
        encoder.tokens(["tin"], limit=2)


def test_it_may_be_used_from_several_threads(encoder: FolderEncoder) -> None:
    expected = encoder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(encoder.embed, [TEXTS] * 8):
            assert furthest(vectors, expected) < 1e-6


def test_it_says_what_it_is(encoder: FolderEncoder) -> None:
    assert encoder.name == "tiny"
    assert encoder.about == "tiny: 32 dimensions, mean of up to 32 tokens, ONNX float32"
    assert (encoder.dimensions, encoder.max_tokens, encoder.longest) == (32, 32, 64)


def test_the_fingerprint_is_of_model_and_back_end(folder: Path, tmp_path: Path) -> None:
    ours = load(folder, "tiny").fingerprint
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert load(copy, "copy").fingerprint == ours
    assert bert.load(folder, "tiny").fingerprint != ours
    other = tiny_bert(tmp_path / "other", layers=3, seed=1)
    assert load(other, "tiny").fingerprint != ours


def test_weights_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path)
    tensors = safetensors.load_file(folder / "model.safetensors")
    tensors["encoder.layer.1.output.dense.bias"][3] = np.nan
    safetensors.save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"layer\.1\.output\.dense\.bias.*1 of 32 that are NaN"):
        load(folder, "tiny")


# Files: a table of word vectors is the whole model, so what it must give is known.


def with_file(folder: Path, place: str = "model.onnx", **graph: Any) -> Path:
    """A folder of another architecture, without safetensors, its graph in an ONNX file."""
    tiny_bert(folder, normalize=False)
    (folder / "model.safetensors").unlink()
    changed(folder / "config.json", model_type="deberta-v2")
    (folder / place).parent.mkdir(exist_ok=True)
    onnx.save(word_vectors(**graph), folder / place)
    return folder


def table(dimensions: int = 4) -> Floats:
    return np.random.default_rng(0).normal(size=(200, dimensions)).astype(np.float32)


def word_vectors(
    *,
    values: Floats | None = None,
    output: str = "last_hidden_state",
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    axes: Sequence[int | str] = ("batch", "sequence"),
    kind: int = onnx.TensorProto.INT64,
) -> Any:
    """The vectors of the words, or for ``sentence_embedding`` their masked sum."""
    helper, types = onnx.helper, onnx.TensorProto
    values = table() if values is None else values
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["read"], to=types.FLOAT),
        helper.make_node("Unsqueeze", ["read", "last"], ["weights"]),
        helper.make_node("Mul", ["words", "weights"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "middle"], ["total"], keepdims=0),
    ]
    tokenwise = output != "sentence_embedding"
    nodes.append(helper.make_node("Identity", ["words" if tokenwise else "total"], [output]))
    shape = [*axes, values.shape[1]] if tokenwise else [axes[0], values.shape[1]]
    graph = helper.make_graph(
        nodes,
        "word vectors",
        [helper.make_tensor_value_info(name, kind, axes) for name in inputs],
        [helper.make_tensor_value_info(output, types.FLOAT, shape)],
        [
            onnx.numpy_helper.from_array(values, "table"),
            onnx.numpy_helper.from_array(np.array([2]), "last"),
            onnx.numpy_helper.from_array(np.array([1]), "middle"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def changed(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def numbers(folder: Path, text: str) -> list[int]:
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    found: list[int] = tokenizer.encode(text).ids
    return found


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
@pytest.mark.parametrize("output", ["last_hidden_state", "token_embeddings"])
def test_token_vectors_of_a_file_are_pooled_as_the_folder_says(
    tmp_path: Path, place: str, output: str
) -> None:
    folder = with_file(tmp_path, place, output=output)
    encoder = load(folder, "file")
    texts = ["red tin", "bridge", "", "the old mine of the river"]
    for text, vector in zip(texts, encoder.embed(texts), strict=True):
        assert furthest(vector, table()[numbers(folder, text)].mean(axis=0)) < CLOSE
    for text, read in zip(texts, encoder.tokens(texts), strict=True):
        assert furthest(read.vectors, table()[numbers(folder, text)]) == 0
    assert (encoder.dimensions, encoder.layers, encoder.longest) == (4, 2, 64)


def test_sentence_vectors_of_a_file_are_taken_as_they_are(tmp_path: Path) -> None:
    folder = with_file(tmp_path, output="sentence_embedding")
    encoder = load(folder, "file")
    texts = ["red tin", "the old mine of the river"]
    for text, vector in zip(texts, encoder.embed(texts), strict=True):
        assert furthest(vector, table()[numbers(folder, text)].sum(axis=0)) < CLOSE
    assert (encoder.layers, encoder.longest) == (0, 0)
    with pytest.raises(ModelError, match="one vector a text and none of its tokens"):
        encoder.tokens(texts)


@pytest.mark.parametrize("kind", ["INT32", "INT64"])
def test_a_file_gets_the_inputs_it_takes(tmp_path: Path, kind: str) -> None:
    given = ("input_ids", "attention_mask", "token_type_ids")
    number = getattr(onnx.TensorProto, kind)
    encoder = load(with_file(tmp_path, inputs=given, kind=number), "file")
    assert encoder.embed(["red tin", "bridge"]).shape == (2, 4)


def test_only_the_last_layer_of_a_file_can_be_had(tmp_path: Path) -> None:
    encoder = load(with_file(tmp_path), "file")
    assert encoder.tokens(["tin"], layer=2)[0].vectors.shape == (3, 4)
    with pytest.raises(ModelError, match="gives its last layer, 2, and not 1"):
        encoder.tokens(["tin"], layer=1)


def test_a_file_goes_before_the_safetensors_beside_it(tmp_path: Path) -> None:
    folder = with_file(tmp_path / "file")
    tiny_bert(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder / "model.safetensors")
    assert load(folder, "file").dimensions == 4


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({"output": "hidden"}, "expected an output last_hidden_state or .*, got hidden"),
        (
            {"inputs": ("input_ids", "attention_mask", "pixels")},
            "expected the inputs .* got input_ids, attention_mask, pixels",
        ),
        ({"axes": (1, 128)}, r"of any length \(dynamic axes\), got the shape \[1, 128\]"),
        ({"values": np.full((200, 4), np.nan, np.float32)}, "expected finite numbers, got NaN"),
    ],
)
def test_a_graph_that_is_not_understood_is_refused(
    tmp_path: Path, graph: Mapping[str, Any], said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        load(with_file(tmp_path, **graph), "file")


def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    folder = with_file(tmp_path)
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"onnxruntime cannot read model\.onnx"):
        load(folder, "file")


def test_a_graph_that_gives_up_is_a_failure(tmp_path: Path) -> None:
    encoder = load(with_file(tmp_path, values=table()[:100]), "file")
    with pytest.raises(ModelFailure, match=r"onnxruntime gave up on model\.onnx: .*out of"):
        encoder.embed(["1932 the keeper"])


def test_a_model_without_a_graph_must_be_of_the_bert_family(tmp_path: Path) -> None:
    folder = with_file(tmp_path)
    (folder / "model.onnx").unlink()
    with pytest.raises(ModelError, match=r"expected bert, roberta, .*, got 'deberta-v2'"):
        load(folder, "file")


def test_batches_are_small_and_of_much_the_same_length() -> None:
    lengths = np.array([20, 217, 19, 217, 30, 217], np.int32)
    found = [batch.tolist() for batch in even_batches(lengths)]
    assert found == [[1, 3], [5], [4, 0, 2]]


def test_what_is_done_side_by_side_keeps_its_order() -> None:
    assert list(side_by_side(lambda number: number * 2, range(50))) == list(range(0, 100, 2))


@pytest.mark.parametrize(("asked", "given"), [("1", 1), ("3", 3), ("5,2", 5)])
def test_threads_are_as_many_as_openmp_is_told(
    monkeypatch: pytest.MonkeyPatch, asked: str, given: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert threads() == given


@pytest.mark.parametrize("asked", ["", "0", "many"])
def test_threads_are_as_many_as_processors_where_it_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert threads() >= 1
