"""Whatever is sent is answered, and never as a fault of the server's."""

from tests.scripts import script

FUZZ = script("fuzz_intake")


def test_random_and_mutated_requests_are_answered_and_memory_is_flat() -> None:
    statuses, faults, grown = FUZZ.fuzzed(1_000, seed=2)
    assert faults == []
    assert sum(statuses.values()) == 1_000
    assert {200, 400, 404, 405, 413, 415} >= set(statuses) > {200, 400, 415}
    assert grown < FUZZ.GROWN
