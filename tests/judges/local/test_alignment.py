"""Alignment and likeness: greedy matching of token vectors, by hand."""

from pathlib import Path

import numpy as np
import pytest

from ragstone.judges.local.aligner import Aligner, AlignmentInput, behind, like, likeness
from ragstone.judges.local.claim_support import SMALL_WORD, align, pieces, read
from ragstone.judges.local.claims_and_evidence import Passages
from ragstone.models import CachedEncoder, TokenVectors
from ragstone.testing import ScriptedEncoder

AXES: dict[str, list[float]] = {
    "tin": [1, 0, 0],
    "copper": [0, 1, 0],
    "zinc": [0.6, 0.8, 0],
    "mined": [0, 0, 1],
}


def seen(text: str, vectors: dict[str, list[float]]) -> TokenVectors:
    """Words between two special tokens."""
    words = text.rstrip(".").split()
    starts = [text.index(word) for word in words]
    spans = [(0, 0), *((at, at + len(word)) for at, word in zip(starts, words, strict=True))]
    special = [9.0] * len(next(iter(vectors.values())))
    rows = [special, *(vectors[word.lower()] for word in words), special]
    return TokenVectors(
        np.arange(len(rows), dtype=np.int32),
        np.array([*spans, (0, 0)], np.int32),
        np.array(rows, np.float32),
        None,
        cut=False,
    )


def test_each_word_is_matched_with_the_most_similar_of_the_contexts() -> None:
    passages = Passages(["Tin mined.", "Copper."])
    vectors = [seen("Tin mined.", AXES), seen("Copper.", AXES)]
    reading = read(passages, [[(0, 10)], [(0, 7)]], vectors)
    claim = "Zinc mined."
    (found,) = align([claim], [seen(claim, AXES)], passages, reading)
    assert found is not None
    assert found.aligned == pytest.approx((0.8 + 1) / 2)
    assert found.weakest == pytest.approx(0.8)
    assert found.unheld == pytest.approx((1 - 0.8) / 2)
    assert found.sentence == 0


def test_a_stop_word_weighs_less() -> None:
    axes = AXES | {"the": [1.0, 0, 0], "of": [0.0, 1, 0]}
    passages = Passages(["Tin."])
    reading = read(passages, [[(0, 4)]], [seen("Tin.", axes)])
    (found,) = align(["of tin"], [seen("of tin", axes)], passages, reading)
    assert found is not None
    assert found.aligned == pytest.approx(1 / (1 + SMALL_WORD), abs=1e-4)


def at(text: str, *read: tuple[int, int, str]) -> TokenVectors:
    """Tokens where they are told to stand, each read as one of the words."""
    spans = [(0, 0), *((start, end) for start, end, _ in read), (0, 0)]
    rows = [[9.0, 9, 9], *(AXES[word] for *_, word in read), [9.0, 9, 9]]
    assert all(end <= len(text) for _, end in spans)
    return TokenVectors(
        np.arange(len(rows), dtype=np.int32),
        np.array(spans, np.int32),
        np.array(rows, np.float32),
        None,
        cut=False,
    )


def test_marks_before_between_and_behind_words_are_not_matched() -> None:
    passages = Passages(["Tin."])
    reading = read(passages, [[(0, 4)]], [seen("Tin.", AXES)])
    claim = "“Tin, tin.”"
    marks = ((0, 1, "copper"), (4, 5, "copper"), (9, 10, "copper"), (10, 11, "copper"))
    tokens = sorted([*marks, (1, 4, "tin"), (6, 9, "tin")])
    (found,) = align([claim], [at(claim, *tokens)], passages, reading)
    assert found is not None
    assert (found.aligned, found.weakest) == (1, 1)


def test_a_sentence_that_the_model_did_not_read_is_passed_over() -> None:
    """Of the first context there is no token, as where a model's window ends before it."""
    passages = Passages(["Rain.", "Tin.", "Copper."])
    vectors = [at("Rain."), seen("Tin.", AXES), seen("Copper.", AXES)]
    reading = read(passages, [[(0, 5)], [(0, 4)], [(0, 7)]], vectors)
    (found,) = align(["tin"], [seen("tin", AXES)], passages, reading)
    assert found is not None
    assert (found.aligned, found.weakest, found.sentence) == (1, 1, 1)


def test_what_is_matched_worse_than_at_random_stays_so() -> None:
    axes = AXES | {"gold": [-0.6, 0, 0.8]}
    passages = Passages(["Tin."])
    reading = read(passages, [[(0, 4)]], [seen("Tin.", axes)])
    (found,) = align(["gold"], [seen("gold", axes)], passages, reading)
    assert found is not None
    assert (found.aligned, found.weakest, found.unheld) == (-0.6, -0.6, 1.6)


def test_a_window_is_three_sentences() -> None:
    texts = ["Tin.", "Mined.", "Mined.", "Copper."]
    passages = Passages(texts)
    vectors = [seen(text, AXES) for text in texts]
    reading = read(passages, [[(0, len(text))] for text in texts], vectors)
    (found,) = align(["tin copper"], [seen("tin copper", AXES)], passages, reading)
    assert found is not None
    assert found.aligned == pytest.approx(1 / 2)
    assert found.weakest == pytest.approx(1)


def test_of_equal_sentences_a_long_claim_rests_on_the_first() -> None:
    """The sums of its 200 cosines differ by where the sentences stand, by up to 7e-5."""
    rng = np.random.default_rng(0)
    ores = [f"ore{number}" for number in range(200)]
    claim = " ".join(ores)
    for between in range(20):
        rocks = [f"Rock{number}." for number in range(between)]
        texts = ["Tin mined.", *rocks, "Tin mined."]
        common = rng.normal(size=384)
        axes = {rock[:-1].lower(): (-common).tolist() for rock in rocks}
        for word in ("tin", "mined", *ores):
            axes[word] = (common + rng.normal(size=384)).tolist()
        passages = Passages(texts)
        vectors = [seen(text, axes) for text in texts]
        reading = read(passages, [[(0, len(text))] for text in texts], vectors)
        (found,) = align([claim], [seen(claim, axes)], passages, reading)
        assert found is not None
        assert found.sentence == 0


def test_what_stands_behind_the_last_sentence_is_read_with_it() -> None:
    text = "Tin. Mined. --"
    passages = Passages([text])
    assert passages.quotes == ["Tin.", "Mined."]
    axes = AXES | {"tin.": AXES["tin"], "mined.": AXES["mined"], "--": AXES["copper"]}
    reading = read(passages, [[(0, len(text))]], [seen(text, axes)])
    (found,) = align(["copper"], [seen("copper", axes)], passages, reading)
    assert found is not None
    assert (found.weakest, found.sentence) == (1, 1)


def test_nothing_to_match_gives_no_alignment() -> None:
    empty = Passages([""])
    reading = read(empty, [[(0, 0)]], [seen("", AXES)])
    assert align(["tin"], [seen("tin", AXES)], empty, reading) == [None]
    passages = Passages(["Tin."])
    reading = read(passages, [[(0, 4)]], [seen("Tin.", AXES)])
    axes = AXES | {"is": [1.0, 0, 0], "it": [1.0, 0, 0]}
    assert align(["it is"], [seen("it is", axes)], passages, reading) == [None]


def test_a_long_text_is_cut_between_sentences() -> None:
    encoder = ScriptedEncoder(max_tokens=8)
    text = "One two three four. Five six seven. Eight nine ten eleven twelve."
    assert [text[start:end] for start, end in pieces(text, encoder)] == [
        "One two three four.",
        "Five six seven.",
        "Eight nine ten eleven twelve.",
    ]
    assert pieces("Short.", encoder) == [(0, 6)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One two three.", ["One two three."]),
        ("- - - - - - - - - -", ["- - - - - - - - - -"]),
        ("One two. Three four. Five six seven eight.",
         ["One two. Three four.", "Five six seven eight."]),
        ("One two. Three four. Five six. Seven.", ["One two. Three four. Five six.", "Seven."]),
        ("One two three four five six seven eight. Nine.",
         ["One two three four five six seven eight.", "Nine."]),
    ],
)  # fmt: skip
def test_a_piece_holds_as_many_sentences_as_the_model_reads(text: str, parts: list[str]) -> None:
    """Eight tokens with the two special ones: six words. Only a sentence can be longer."""
    encoder = ScriptedEncoder(max_tokens=8)
    assert [text[start:end] for start, end in pieces(text, encoder)] == parts


def test_an_alignment_does_not_depend_on_what_is_asked_with_it() -> None:
    encoder = ScriptedEncoder()
    contexts = ("Tin was mined at Geevor. Copper too.", "The bridge opened in 1859.")
    asked = AlignmentInput(contexts, Passages(contexts), ("Tin was mined.", "The bridge is old."))
    alone = [AlignmentInput(contexts, asked.passages, (text,)) for text in asked.propositions]
    (together,) = Aligner(encoder).align([asked])
    assert [one for (one,) in Aligner(encoder).align(alone)] == together


def test_alignments_are_kept_and_the_encoder_is_not_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "embeddings.sqlite"
    contexts = ("Tin was mined at Geevor.",)
    asked = [AlignmentInput(contexts, Passages(contexts), ("Tin was mined.", "It is."))]
    first = Aligner(CachedEncoder(ScriptedEncoder(), file, note=print)).align(asked)
    deaf = ScriptedEncoder(silent_on=[*contexts, *asked[0].propositions])
    assert Aligner(CachedEncoder(deaf, file, note=print)).align(asked) == first
    assert first[0][1] is None


def test_a_new_claim_is_aligned_beside_one_that_was_kept(tmp_path: Path) -> None:
    file = tmp_path / "embeddings.sqlite"
    contexts = ("Tin was mined at Geevor. Rain fell.",)
    both = AlignmentInput(contexts, Passages(contexts), ("Tin was mined.", "Rain fell."))
    first = AlignmentInput(contexts, both.passages, both.propositions[:1])
    Aligner(CachedEncoder(ScriptedEncoder(), file, note=print)).align([first])
    again = Aligner(CachedEncoder(ScriptedEncoder(), file, note=print)).align([both])
    assert again == Aligner(ScriptedEncoder()).align([both])


def test_likenesses_are_kept_each_by_its_question_statement_and_answer(tmp_path: Path) -> None:
    file = tmp_path / "embeddings.sqlite"
    asked = [
        ("Which?", "tin lead", "tin"),
        ("Where?", "tin lead", "tin"),
        ("Which?", "tin zinc", "tin"),
        ("Which?", "tin lead", "lead"),
        (None, "tin lead", "tin"),
        ("Which?", "tin", "lead tin"),
    ]
    found = like(CachedEncoder(ScriptedEncoder(), file, note=print), asked)
    assert found == like(ScriptedEncoder(), asked)
    assert len(set(found.values())) == len(asked)
    deaf = ScriptedEncoder(silent_on=[behind(question, text) for question, *two in asked
                                      for text in two])  # fmt: skip
    assert like(CachedEncoder(deaf, file, note=print), asked) == found


def test_likeness_looks_at_the_words_behind_the_question() -> None:
    question, statement, answer = "which metal", "tin", "zinc mined"
    axes = AXES | {"which": [0.0, 0, 1], "metal": [0.0, 0, 1]}
    said = seen(behind(question, answer), axes)
    wanted = seen(behind(question, statement), axes)
    found = likeness(question, statement, answer, said, wanted)
    assert found is not None
    assert found.aligned == found.weakest == pytest.approx(0.6)
    assert found.returned == pytest.approx((0.6 + 0) / 2)


def test_likeness_of_a_text_without_words_is_none() -> None:
    assert like(ScriptedEncoder(), [("Which?", "tin", "")]) == {}
