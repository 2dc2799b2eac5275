"""What is kept out of the collection of garbage is in it again afterwards."""

import gc

from ragstone.core.python_runtime import kept_out


def test_what_is_there_is_left_alone_for_a_while() -> None:
    assert gc.get_freeze_count() == 0
    with kept_out():
        assert gc.get_freeze_count() > 1_000
    assert gc.get_freeze_count() == 0


def test_what_somebody_else_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        with kept_out():
            pass
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()
