"""Rows that share any of several things belong together."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ragstone.stats.risk_control import linked_clusters


def test_rows_are_linked_by_either_key_and_by_way_of_other_rows() -> None:
    questions = ["a", "b", "a", "c", None]
    contexts = ["x", "y", "y", None, None]
    assert linked_clusters(questions, contexts).tolist() == [0, 0, 0, 1, 2]


def test_none_links_nothing() -> None:
    assert linked_clusters([None, None]).tolist() == [0, 1]


def test_clusters_are_the_connected_components_of_scipy() -> None:
    rng = np.random.default_rng(2)
    keys = rng.integers(0, 40, size=(2, 60))
    same = (keys[:, :, None] == keys[:, None, :]).any(axis=0)
    _, expected = connected_components(csr_array(same), directed=False)
    found = linked_clusters(*keys.tolist())
    assert ((found[:, None] == found) == (expected[:, None] == expected)).all()
