"""Names as whole numbers."""

import subprocess
import sys
from collections.abc import Hashable

import numpy as np

from ragstone.stats.weights_and_groups import codes_of, in_order, sums_by

MIXED = """
from ragstone.stats.weights_and_groups import in_order
print(in_order([True, "True", None, "None", 2, "2"]))
"""


def test_equal_names_have_one_code() -> None:
    names: list[Hashable] = ["b", None, "b", "a"]
    assert codes_of(names).tolist() == [0, 1, 0, 2]
    assert codes_of(np.array([7, 3, 7])).tolist() == [1, 0, 1]


def test_sums_by_hand() -> None:
    assert sums_by(np.array([0, 2, 0]), np.array([1.0, 4, 2])).tolist() == [3, 0, 4]


def test_labels_are_sorted_where_they_can_be() -> None:
    assert in_order([3, 1.5, 3, 2]) == (1.5, 2, 3)
    assert in_order(["b", "a"]) == ("a", "b")


def test_mixed_labels_have_one_order_whatever_the_hash_seed() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", MIXED],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert said == {"(None, True, 2, '2', 'None', 'True')\n"}
