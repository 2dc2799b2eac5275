"""Frames: openings that say that something is said."""

import pytest

from ragstone.judges.local.claims_and_evidence import frame_end


@pytest.mark.parametrize(
    ("text", "assertion"),
    [
        ("Yes, the bridge opened in 1859.", "the bridge opened in 1859."),
        ("I heard that Brunel designed the bridge.", "Brunel designed the bridge."),
        ("Oh yeah! I know that Brunel built bridges.", "Brunel built bridges."),
        ("According to the provided context, Brunel built it.", "Brunel built it."),
        ("The passages state that Brunel built it.", "Brunel built it."),
        ("The bridge opened in 1859.", "The bridge opened in 1859."),
        ("Sure thing.", "Sure thing."),
        ("Yes.", "Yes."),
        ("", ""),
    ],
)
def test_what_is_asserted_begins_behind_the_frames(text: str, assertion: str) -> None:
    assert text[frame_end(text) :] == assertion


def test_an_opening_word_that_only_begins_like_a_frame_stays() -> None:
    assert frame_end("Nobel prizes are given in Stockholm.") == 0
    assert frame_end("Wellington won the battle there.") == 0
