"""What is kept out of the collection of garbage is in it again; what cannot be imported."""

import gc
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from ragstone.core.errors import MissingDependency, needing
from ragstone.core.python_runtime import kept_out


@pytest.fixture(autouse=True)
def nothing_frozen() -> Iterator[None]:
    """Unfreeze what was there before the first test, while one of these tests runs."""
    gc.unfreeze()
    yield
    gc.freeze()


def test_what_is_there_is_left_alone_for_a_while() -> None:
    assert gc.get_freeze_count() == 0
    with kept_out():
        assert gc.get_freeze_count() > 1_000
    assert gc.get_freeze_count() == 0


def test_what_somebody_else_froze_stays_frozen() -> None:
    gc.freeze()
    with kept_out():
        pass
    assert gc.get_freeze_count() > 1_000


def test_what_is_not_installed_is_named_with_its_extra() -> None:
    with (
        pytest.raises(MissingDependency, match=re.escape("A pen needs an extra: pip install")),
        needing("A pen", "pens"),
    ):
        import_module("no_such_package_of_anybody")


@pytest.mark.parametrize(
    "fault", ["import ragstone.no_such_room", "from ragstone.core.errors import no_such_name"]
)
def test_what_ragstone_itself_lacks_is_no_matter_of_an_extra(fault: str) -> None:
    with pytest.raises(ImportError, match="no_such"), needing("A pen", "pens"):
        exec(fault)
