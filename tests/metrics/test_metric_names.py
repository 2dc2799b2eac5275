"""Names of metrics are read whole, and by several threads at once."""

import gc
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragstone.core.errors import InputError
from ragstone.metrics import metric_types, parse_metric
from ragstone.metrics.metric_names import split_form
from ragstone.metrics.suites import suite_named


class Slow:
    """Lets another thread go on where the garbage collector takes it away."""

    def __init__(self) -> None:
        self.cycle = self

    def __del__(self) -> None:
        time.sleep(0)


def read(depth: int) -> set[str]:
    if depth:
        return read(depth - 1)
    found = set()
    for _ in range(200):
        Slow()
        found.add(str(split_form("tuned(a=0.5, b=0.25)")))
    return found


@pytest.fixture
def often_collected() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(5)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("often_collected")
def test_threads_of_different_depth_read_names_at_once() -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(read, [0, 10, 20, 30]))
    assert found == [{"('tuned', {'a': 0.5, 'b': 0.25})"}] * 4


@pytest.mark.parametrize(
    ("read", "text", "twice"),
    [
        (parse_metric, "precision(k=3, k=5)", "k"),
        (parse_metric, "precision(k=5, k=5)", "k"),
        (parse_metric, "answer_correctness(beta=1.0, threshold=0.5, beta=2.0)", "beta"),
        (suite_named, "taxonomy(k=3, k=5)", "k"),
    ],
)
def test_a_parameter_that_is_given_twice_is_refused(
    read: Callable[[str], object], text: str, twice: str
) -> None:
    with pytest.raises(InputError, match=rf"gives {twice} more than once"):
        read(text)


@pytest.mark.parametrize(
    ("name", "parameter", "value", "expected"),
    [
        ("precision", "k", True, "k must be a whole number or None, not True"),
        ("precision", "gaps", "none", "gaps must be strict, zero or condense, not 'none'"),
        ("answer_outcome", "classes", 3.0, "classes must be 3 or 4, not 3.0"),
        ("answer_correctness", "beta", float("inf"), "beta must be a number, not inf"),
        ("factual_accuracy", "letters", (0.9, 0.8), r"letters must be \(a number, a number, "),
        ("stepped_faithfulness", "steps", (0.5, "1"), r"steps must be \(a number, …\), not"),
    ],
)
def test_a_value_of_another_type_is_refused_however_a_metric_is_made(
    name: str, parameter: str, value: object, expected: str
) -> None:
    values: dict[str, object] = {parameter: value}
    with pytest.raises(InputError, match=f"{name}: {expected}"):
        metric_types()[name](**values)
