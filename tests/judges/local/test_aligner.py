"""Aligner: what is asked of the encoder, how often, and that nothing else changes the result."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragstone.judges.local import aligner as room
from ragstone.judges.local.aligner import Aligner, AlignmentInput, like
from ragstone.judges.local.claims_and_evidence import Passages
from ragstone.models import TokenVectors
from ragstone.testing import ScriptedEncoder


class Counting(ScriptedEncoder):
    """Notes the texts of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        self.calls.append(list(texts))
        return super().tokens(texts, layer=layer, limit=limit)


def asked(contexts: Sequence[str], *propositions: str) -> AlignmentInput:
    return AlignmentInput(tuple(contexts), Passages(contexts), propositions)


TIN, LEAD = ("Tin was mined at Geevor.",), ("Lead was mined at Bath.",)


def test_a_text_is_read_once_however_many_ask_for_it() -> None:
    encoder = Counting()
    Aligner(encoder).align([asked(TIN, "Tin sank."), asked(TIN, "Tin sank.", *TIN)])
    (texts,) = encoder.calls
    assert sorted(texts) == sorted({*TIN, "Tin sank."})


@pytest.mark.parametrize(
    ("contexts", "propositions", "read"),
    [
        (("锡矿在吉沃。",), ("锡沉了。", "Tin sank."), []),
        (("Олово добывали в Гиворе.",), ("Олово утонуло.",), []),
        (("डिब्बा यहाँ था।", "Tin."), ("डिब्बा डूबा।",), []),
        (TIN, ("锡沉了。", "Tin sank."), ["Tin sank.", *TIN]),
    ],
)
def test_the_encoder_reads_latin_letters_alone(
    contexts: tuple[str, ...], propositions: tuple[str, ...], read: list[str]
) -> None:
    encoder = Counting()
    (aligned,) = Aligner(encoder).align([asked(contexts, *propositions)])
    assert sorted(text for texts in encoder.calls for text in texts) == sorted(read)
    assert [one is not None for one in aligned] == [text in read for text in propositions]
    asked_of_it = [(None, text, contexts[0]) for text in propositions]
    assert len(like(encoder, asked_of_it)) == bool(read)


def test_contexts_that_were_read_are_kept_for_the_next_claims() -> None:
    encoder = Counting()
    aligner = Aligner(encoder)
    aligner.align([asked(TIN, "Tin sank.")])
    aligner.align([asked(TIN, "Tin rose.")])
    assert encoder.calls[1] == ["Tin rose."]


def test_the_contexts_of_eight_examples_are_kept() -> None:
    encoder = Counting()
    aligner = Aligner(encoder)
    many = [(f"Tin was mined in mine {at}.",) for at in range(9)]
    for contexts in many:
        aligner.align([asked(contexts, "Tin sank.")])
    aligner.align([asked(many[8], "Tin rose.")])
    aligner.align([asked(many[1], "Tin rose.")])
    aligner.align([asked(many[0], "Tin rose.")])
    assert [set(texts) for texts in encoder.calls[9:]] == [
        {"Tin rose."}, {"Tin rose."}, {"Tin rose.", *many[0]},
    ]  # fmt: skip


@pytest.mark.parametrize(("most", "calls"), [(1_000, 1), (47, 1), (46, 2), (1, 2)])
def test_contexts_are_read_together_up_to_a_number_of_characters(
    monkeypatch: pytest.MonkeyPatch, most: int, calls: int
) -> None:
    """24 characters and 23."""
    monkeypatch.setattr(room, "CHARACTERS", most)
    encoder = Counting()
    found = Aligner(encoder).align([asked(TIN, "Tin sank."), asked(LEAD, "Lead sank.")])
    assert len(encoder.calls) == calls
    assert [len(one) for one in found] == [1, 1]


CONTEXTS = st.lists(
    st.sampled_from(["Tin was mined.", "Lead sank. Tin rose.", "Ships sail.", ""]), max_size=3
).map(tuple)
CLAIMS = st.lists(
    st.sampled_from(["Tin sank.", "It is.", "Ships took lead.", "Gold."]), max_size=3
).map(tuple)


REPEATED = ("Tin was mined.", "Lead sank. Tin rose.", "Lead sank. Tin rose.")


@settings(max_examples=40)
@example([(REPEATED, ("Gold.",)), (REPEATED, ("Tin sank.", "Gold."))], 1)
@given(st.lists(st.tuples(CONTEXTS, CLAIMS), max_size=4), st.integers(1, 60))
def test_grouping_changes_no_alignment(
    given_pairs: list[tuple[tuple[str, ...], tuple[str, ...]]], most: int
) -> None:
    examples = [asked(contexts, *claims) for contexts, claims in given_pairs]
    together = Aligner(ScriptedEncoder()).align(examples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "CHARACTERS", most)
        assert Aligner(ScriptedEncoder()).align(examples) == together
    for one_alone, found in zip(examples, together, strict=True):
        assert Aligner(ScriptedEncoder()).align([one_alone]) == [found]
        for one in found:
            if one is not None:
                assert -1 <= one.weakest <= 1.0001
                assert -1 <= one.aligned <= 1.0001
                assert 0 <= one.sentence < len(one_alone.passages.quotes)


def test_a_claim_that_stands_in_the_contexts_is_aligned_in_full() -> None:
    ((found,),) = Aligner(ScriptedEncoder()).align([asked(["Rain fell.", *TIN], *TIN)])
    assert found is not None
    assert (found.aligned, found.weakest, found.unheld) == pytest.approx((1, 1, 0))
    assert found.sentence == 1


def test_likeness_is_asked_for_once_of_each_pair() -> None:
    encoder = Counting()
    pairs = [("Which?", "tin", "lead"), ("Which?", "tin", "lead"), ("Which?", "tin", "tin")]
    found = like(encoder, pairs)
    assert set(found) == set(pairs)
    assert len(encoder.calls) == 1
    assert found["Which?", "tin", "tin"].aligned == pytest.approx(1)
    assert len(encoder.calls[0]) == len(set(encoder.calls[0]))
