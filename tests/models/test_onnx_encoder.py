"""The ONNX back end: files exported by torch beside the NumPy back end, and files made by hand."""

import json
import os
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.models import numpy_bert as bert
from ragstone.models.encoder import FolderEncoder, side_by_side, threads
from ragstone.models.onnx_encoder import even_batches, load
from ragstone.testing import tiny_bert
from tests.availability import import_or_skip
from tests.models.closeness import furthest

onnx = import_or_skip("onnx", reason="needs the extra onnx")
import_or_skip("onnxruntime", reason="needs the extra onnx")
safetensors = import_or_skip("safetensors.numpy", reason="needs the extra local")
tokenizers = import_or_skip("tokenizers", reason="needs the extra local")

pytestmark = pytest.mark.torch

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


# Files as they are exported from torch, which is what optimum does, too.


def exported(folder: Path) -> Path:
    """The folder of a BERT, with the ONNX file that torch makes in place of its weights."""
    torch = import_or_skip("torch", reason="needs the extra torch")
    transformers = import_or_skip("transformers", reason="needs the extra torch")

    class Inner(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = transformers.AutoModel.from_pretrained(
                folder, attn_implementation="eager", local_files_only=True
            )

        def forward(self, ids: Any, mask: Any, types: Any) -> Any:
            return self.model(ids, attention_mask=mask, token_type_ids=types).last_hidden_state

    inputs, output = ["input_ids", "attention_mask", "token_type_ids"], "last_hidden_state"
    example = torch.ones(2, 7, dtype=torch.long)
    (folder / "onnx").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Inner().eval(),
            (example, example, torch.zeros_like(example)),
            folder / "onnx" / "model.onnx",
            input_names=inputs,
            output_names=[output],
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in [*inputs, output]},
            opset_version=17,
            dynamo=False,
        )
    (folder / "model.safetensors").unlink()
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT in safetensors."""
    return tiny_bert(tmp_path_factory.mktemp("plain"), layers=3)


@pytest.fixture(scope="module")
def encoder(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> FolderEncoder:
    """The same, exported."""
    return load(exported(copied(plain, tmp_path_factory.mktemp("onnx") / "tiny")), "tiny")


def copied(folder: Path, place: Path) -> Path:
    return Path(shutil.copytree(folder, place))


@pytest.mark.parametrize("text", TEXTS[:5])
def test_the_last_layer_is_that_of_a_plain_bert(
    plain: Path, encoder: FolderEncoder, plain_bert: Plain, text: str
) -> None:
    (read,) = encoder.tokens([text])
    assert furthest(read.vectors, plain_bert(plain, text)[-1]) < CLOSE
    assert read.vectors.dtype == np.float32
    assert encoder.layers == 3


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("normalize", [True, False])
def test_vectors_are_those_of_the_numpy_back_end(
    tmp_path: Path, pooling: Any, normalize: bool
) -> None:
    plain = tiny_bert(tmp_path / "plain", pooling=pooling, normalize=normalize)
    expected = bert.load(plain, "numpy")
    ours = load(exported(copied(plain, tmp_path / "onnx")), "onnx")
    assert furthest(ours.embed(TEXTS), expected.embed(TEXTS)) < CLOSE
    assert ours.lengths(TEXTS).tolist() == expected.lengths(TEXTS).tolist()
    for limit in (None, 5, expected.longest):
        both = (one.tokens(TEXTS, limit=limit) for one in (ours, expected))
        for got, same in zip(*both, strict=True):
            assert furthest(got.vectors, same.vectors) < CLOSE
            assert got.ids.tolist() == same.ids.tolist()
            assert got.spans.tolist() == same.spans.tolist()
            assert got.cut == same.cut
            assert (got.embedding is None) == (same.embedding is None)


def test_the_builtin_model_is_that_of_sentence_transformers(minilm: Path, tmp_path: Path) -> None:
    theirs = import_or_skip("sentence_transformers", reason="needs the extra torch")
    model = theirs.SentenceTransformer(str(minilm), device="cpu", local_files_only=True).float()
    texts = [text.replace("\ud800", "\ufffd") for text in TEXTS]
    expected = model.encode(texts, show_progress_bar=False)
    ours = load(exported(copied(minilm, tmp_path / "minilm")), "minilm")
    assert furthest(ours.embed(TEXTS), expected) < CLOSE


def test_a_vector_does_not_depend_on_what_is_read_with_it(encoder: FolderEncoder) -> None:
    alone = encoder.embed(["The red bridge opened in 1932."])[0]
    draw = np.random.default_rng(0)
    words = np.array(["the", "red", "tin", "mine", "zoo", "1834"])
    for count in (1, 7, 60, 400):
        others = [" ".join(draw.choice(words, draw.integers(1, 30))) for _ in range(count)]
        together = encoder.embed([*others, "The red bridge opened in 1932."])[-1]
        assert furthest(together, alone) < 1e-6


def test_tokens_give_the_embedding_where_they_are_what_it_is_made_of(
    encoder: FolderEncoder,
) -> None:
    expected = encoder.embed(TEXTS)
    for text, vector in zip(encoder.tokens(TEXTS), expected, strict=True):
        assert text.embedding is not None
        assert furthest(text.embedding, vector) < 1e-6


def test_it_may_be_used_from_several_threads(encoder: FolderEncoder) -> None:
    expected = encoder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(encoder.embed, [TEXTS] * 8):
            assert furthest(vectors, expected) < 1e-6


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
    with pytest.raises(ModelError, match="one vector per text and no token vectors"):
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
    with pytest.raises(ModelError, match="gives only its last layer, 2, not 1"):
        encoder.tokens(["tin"], layer=1)


def test_a_file_goes_before_the_safetensors_beside_it(tmp_path: Path) -> None:
    folder = with_file(tmp_path / "file")
    tiny_bert(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder / "model.safetensors")
    assert load(folder, "file").dimensions == 4


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({"output": "hidden"}, "expected an output named last_hidden_state or .*, got hidden"),
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
    with pytest.raises(ModelFailure, match=r"onnxruntime failed on model\.onnx: .*out of"):
        encoder.embed(["1932 the keeper"])


def test_weights_beside_a_graph_are_read_through_the_links_of_a_cache(tmp_path: Path) -> None:
    """As huggingface_hub keeps files: under their hashes, with links by their names."""
    folder = with_file(tmp_path / "made")
    graph = onnx.load(folder / "model.onnx")
    onnx.save(graph, folder / "model.onnx", save_as_external_data=True, size_threshold=999,
              location="model.onnx_data")  # fmt: skip
    expected = load(folder, "file").embed(TEXTS)
    linked, blobs = tmp_path / "snapshots" / "1" / "onnx", tmp_path / "blobs"
    linked.mkdir(parents=True)
    blobs.mkdir()
    for file in folder.iterdir():
        place = linked if file.name.startswith("model.onnx") else linked.parent
        if file.is_dir():
            shutil.copytree(file, place / file.name)
            continue
        blob = blobs / f"{len(list(blobs.iterdir())):064}"
        file.rename(blob)
        (place / file.name).symlink_to(blob)
    assert (linked / "model.onnx_data").is_symlink()
    assert furthest(load(linked.parent, "linked").embed(TEXTS), expected) == 0


def test_a_model_without_a_graph_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "my model")
    with pytest.raises(ModelError) as caught:
        load(folder, "file")
    assert str(caught.value).splitlines() == [
        f"{folder} holds neither model.onnx nor onnx/model.onnx. To make one: pip install "
        f"optimum-onnx, then optimum-cli export onnx --model '{folder}' "
        f"--task feature-extraction '{folder}/onnx'",
        "Without onnx: in front of its name, sentence-transformers runs the model: "
        "pip install 'ragstone[torch]'",
    ]


def test_no_texts_have_no_vectors(tmp_path: Path) -> None:
    encoder = load(with_file(tmp_path), "file")
    assert encoder.embed([]).shape == (0, 4)
    assert encoder.tokens([]) == []
    assert encoder.lengths([]).shape == (0,)


def test_a_limit_below_three_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="at least 3 tokens, got 2"):
        load(with_file(tmp_path), "file").tokens(["tin"], limit=2)


def test_it_says_what_it_is(tmp_path: Path) -> None:
    encoder = load(with_file(tmp_path), "file")
    assert encoder.name == "file"
    assert encoder.about == "file: 4 dimensions, mean of up to 32 tokens, ONNX float32"
    assert (encoder.dimensions, encoder.max_tokens, encoder.longest) == (4, 32, 64)


def test_the_fingerprint_is_of_the_graph_and_of_the_weights_beside_it(tmp_path: Path) -> None:
    folder = with_file(tmp_path / "one", "onnx/model.onnx")
    ours = load(folder, "file").fingerprint
    assert load(copied(folder, tmp_path / "copy"), "copy").fingerprint == ours
    (folder / "onnx" / "model.onnx_data").write_bytes(b"weights")
    assert load(folder, "file").fingerprint != ours
    other = with_file(tmp_path / "other", "onnx/model.onnx", values=table() + 1)
    assert load(other, "file").fingerprint != ours


def test_batches_are_small_and_of_much_the_same_length() -> None:
    lengths = np.array([20, 217, 19, 217, 30, 217], np.int32)
    found = [batch.tolist() for batch in even_batches(lengths)]
    assert found == [[1, 3], [5], [4, 0, 2]]


def test_a_batch_has_as_many_texts_as_fit_512_tokens() -> None:
    for length, size in ((100, 5), (128, 4), (129, 3), (600, 1)):
        lengths = np.full(3 * size, length, np.int32)
        assert [batch.size for batch in even_batches(lengths)] == [size] * 3


def test_a_text_of_three_fifths_of_the_longest_is_in_its_batch() -> None:
    assert [batch.tolist() for batch in even_batches(np.array([50, 30, 29], np.int32))] == [
        [0, 1], [2],
    ]  # fmt: skip


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
    assert threads() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert threads() == os.cpu_count(), "some systems do not tell those of a process"
