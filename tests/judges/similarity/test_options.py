"""How BERTScore is asked for, and what that comes to."""

from pathlib import Path

import numpy as np
import pytest

from ragstone.core.errors import InputError, ModelError
from ragstone.judges.similarity import (
    BertscoreOptions,
    BertscoreSettings,
    bertscore,
    count_documents,
)
from ragstone.models import CachedEncoder
from ragstone.testing import ScriptedEncoder


def test_options_are_read_in_any_order() -> None:
    assert BertscoreOptions.parse("") == BertscoreOptions()
    assert BertscoreOptions.parse(" idf , layer=9") == BertscoreOptions(layer=9, idf=True)
    assert BertscoreOptions.parse("layer=2, model=org/name@v1") == BertscoreOptions(
        layer=2, model="org/name@v1"
    )
    assert BertscoreOptions.parse("rescale") == BertscoreOptions(rescale=True)
    assert BertscoreOptions.parse("rescale=b.tsv,layer=2") == BertscoreOptions(
        layer=2, rescale=True, baseline=Path("b.tsv")
    )


@pytest.mark.parametrize(
    "text",
    [
        "model",
        "model=",
        "layer",
        "layer=",
        "layer=-1",
        "layer=last",
        "idf=1",
        "idf,idf",
        "rescale=",
        "colour=1",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="bertscore="):
        BertscoreOptions.parse(text)


def test_idf_counts_each_distinct_reference_once() -> None:
    encoder = ScriptedEncoder()
    references = ["the bridge", "the mine", "the bridge", "the bridge"]
    settled = BertscoreOptions(idf=True).settle(encoder, iter(references))
    assert settled.idf == count_documents(encoder, ["the bridge", "the mine"])
    assert "idf of 2 references" in settled.about(encoder)


def test_without_idf_the_references_are_not_read() -> None:
    def unread() -> "object":
        raise AssertionError

    settled = BertscoreOptions(layer=1).settle(ScriptedEncoder(), (unread() for _ in "a"))  # type: ignore[misc]
    assert settled.about(ScriptedEncoder()) == "layer 1"


def test_a_baseline_is_of_the_layer_that_is_used(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    file.write_text("LAYER,P,R,F\n1,0.1,0.1,0.1\n2,0.2,0.25,0.225\n", encoding="utf-8")
    encoder = ScriptedEncoder(layers=2)
    settled = BertscoreOptions.parse(f"rescale={file}").settle(encoder, ())
    assert settled.baseline == (0.2, 0.25, 0.225)
    assert settled.about(encoder) == "layer 2, rescaled by 0.2 0.25 0.225"
    found = settled.scores(encoder, ["a b"], ["b c"])
    plain = bertscore(encoder, ["a b"], ["b c"])
    assert found.f1[0] == pytest.approx((plain.f1[0] - 0.225) / 0.775)


def test_bertscore_has_an_encoder_of_its_own() -> None:
    """The encoder of the cosines gives no token vectors, as those of servers."""
    server, own = ScriptedEncoder(name="server", layers=0, longest=0), ScriptedEncoder(name="own")
    settled = BertscoreOptions(model="own").settle(server, (), own)
    assert settled.about(server) == f"model own@{own.fingerprint[:12]}, layer 2"
    found = settled.scores(server, ["a b"], ["b c"])
    assert found.f1[0] == bertscore(own, ["a b"], ["b c"]).f1[0]
    with pytest.raises(ModelError, match="model=builtin:minilm"):
        BertscoreOptions(layer=1).settle(server, ())


def test_two_baselines_are_never_told_alike() -> None:
    encoder = ScriptedEncoder()
    one, other = (
        BertscoreSettings(layer=2, baseline=(0.5, 0.5, f1)).about(encoder)
        for f1 in (0.5150192, 0.5150193)
    )
    assert one == "layer 2, rescaled by 0.5 0.5 0.5150192"
    assert one != other


def test_what_cannot_be_is_refused_before_anything_is_computed() -> None:
    with pytest.raises(ModelError, match="not 7"):
        BertscoreOptions(layer=7).settle(ScriptedEncoder(), ())
    with pytest.raises(InputError, match="rescale=FILE"):
        BertscoreOptions(rescale=True).settle(ScriptedEncoder(), ())


def test_two_countings_have_two_fingerprints() -> None:
    encoder = ScriptedEncoder()
    one, other = (count_documents(encoder, texts) for texts in (["a b"], ["a c"]))
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == count_documents(encoder, ["b a"]).fingerprint


def test_scores_of_a_pair_are_kept_to_the_last_bit(tmp_path: Path) -> None:
    pairs = ["tin was mined", "the bridge", ""], ["tin was found", "a bridge", "copper"]
    first = CachedEncoder(ScriptedEncoder(), tmp_path / "cache.sqlite", note=print)
    computed = BertscoreSettings().scores(first, *pairs)
    deaf = ScriptedEncoder(silent_on=[*pairs[0], *pairs[1]])
    kept = BertscoreSettings().scores(
        CachedEncoder(deaf, tmp_path / "cache.sqlite", note=print), *pairs
    )
    for name in ("precision", "recall", "f1", "cut"):
        assert np.array_equal(getattr(kept, name), getattr(computed, name))
    plain = BertscoreSettings().scores(ScriptedEncoder(), *pairs)
    assert np.array_equal(plain.f1, computed.f1)


def test_pairs_that_read_alike_when_joined_have_scores_of_their_own(tmp_path: Path) -> None:
    cached = CachedEncoder(ScriptedEncoder(), tmp_path / "cache.sqlite", note=print)
    for pair in (("tin \0 ore", "a mine"), ("tin ", " ore\0a mine")):
        texts = ([pair[0]], [pair[1]])
        plain = BertscoreSettings().scores(ScriptedEncoder(), *texts)
        assert np.array_equal(BertscoreSettings().scores(cached, *texts).f1, plain.f1)
