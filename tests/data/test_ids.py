"""Ids that occurred before are found, however they come in blocks."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.read_facts import IdBlock, SeenIds

ROWS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "s", "t"])), max_size=9),
    max_size=9,
)


@given(ROWS)
def test_each_id_is_known_by_the_place_where_it_was_first(
    blocks: list[list[tuple[str, str]]],
) -> None:
    seen = SeenIds()
    first: dict[str, tuple[int, str]] = {}
    place = 0
    for rows in blocks:
        ids, systems = [id for id, _ in rows], [system for _, system in rows]
        places = list(range(place + 1, place + 1 + len(rows)))
        places_before, over = seen.look_up(IdBlock.of(ids, systems, places))
        expected, over_systems = [], False
        for id, system, at in zip(ids, systems, places, strict=True):
            expected.append(first[id][0] if id in first else -1)
            before, other = first.setdefault(id, (at, system))
            over_systems |= len({system, other} - {""}) == 2
            first[id] = before, other or system
        assert places_before.tolist() == expected
        assert over == over_systems
        place += len(rows)


def test_many_blocks_are_few_runs() -> None:
    seen = SeenIds()
    for start in range(0, 40_000, 100):
        ids = [str(number) for number in range(start, start + 100)]
        assert (seen.look_up(IdBlock.of(ids, [""] * 100, range(100)))[0] == -1).all()
    assert len(seen._runs) <= 10
    again, _ = seen.look_up(IdBlock.of(["17", "39999", "40000"], [""] * 3, [1, 2, 3]))
    assert again.tolist() == [17, 99, -1]


def test_a_row_that_names_no_system_says_nothing_of_systems() -> None:
    seen = SeenIds()
    assert not seen.look_up(IdBlock.of(["a", "a"], ["s", ""], [1, 2]))[1]
    assert not seen.look_up(IdBlock.of(["a"], [""], [3]))[1]
    assert seen.look_up(IdBlock.of(["a"], ["t"], [4]))[1]


def test_the_first_system_that_is_named_counts() -> None:
    assert SeenIds().look_up(IdBlock.of(list("aaa"), ["", "s", "t"], [1, 2, 3]))[1]
    seen = SeenIds()
    assert not seen.look_up(IdBlock.of(["a", "b"], ["", ""], [1, 2]))[1]
    assert not seen.look_up(IdBlock.of(["a"], ["s"], [3]))[1]
    assert seen.look_up(IdBlock.of(["a"], ["t"], [4]))[1]


def test_all_ids_are_told_with_their_systems() -> None:
    seen, other = SeenIds(), SeenIds()
    seen.look_up(IdBlock.of(["a", "b", "a"], ["", "", "s"], [1, 2, 3]))
    assert sorted(seen.all().places.tolist()) == [1, 2]
    other.look_up(seen.all())
    assert other.look_up(IdBlock.of(["a"], ["t"], [9]))[1]
