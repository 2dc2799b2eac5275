"""A deploy has a before and an after, which reach over no other deploy."""

import pytest

from ragstone.core.errors import UnknownName
from ragstone.monitor.series.baselines import across_deploy
from ragstone.monitor.series.metric_over_time import Facet
from ragstone.monitor.store.store import MonitorStore
from tests.monitor.series.scores import put

DAY = 86_400.0


def deploy(store: MonitorStore, version: str, at: float) -> None:
    with store.database.transaction() as run:
        run("INSERT INTO versions VALUES (?, ?)", version, at)


@pytest.fixture
def deployed(store: MonitorStore) -> MonitorStore:
    """Answers of two days: all good until a deploy after one, then every other one."""
    put(store, [(600.0 * k, 1.0) for k in range(144)], facets={"version": "v1", "model": "a"})
    put(store, [(DAY + 600.0 * k, k % 2.0) for k in range(144)],
        facets={"version": "v2", "model": "a"}, first=144)  # fmt: skip
    deploy(store, "v1", 0.0)
    deploy(store, "v2", DAY)
    return store


def test_before_and_after(deployed: MonitorStore) -> None:
    found = across_deploy(deployed, "faithfulness", "v2", now=2 * DAY, margin=0.05)
    assert (found.at, found.since, found.until) == (DAY, 0, 2 * DAY)
    # The first of each fell into the two minutes of a deploy.
    assert (found.found.before.n, found.found.now.n) == (143, 143)
    assert found.found.before.value == 1
    assert found.found.difference == pytest.approx(72 / 143 - 1)
    assert found.found.verdict == "worse"


def test_neither_reaches_over_another_deploy(deployed: MonitorStore) -> None:
    deploy(deployed, "v1b", DAY / 2)
    deploy(deployed, "v3", 1.5 * DAY)
    found = across_deploy(deployed, "faithfulness", "v2", now=2 * DAY)
    assert (found.since, found.until) == (DAY / 2, 1.5 * DAY)
    assert (found.found.before.n, found.found.now.n) == (71, 71)


def test_it_looks_no_further_than_asked(deployed: MonitorStore) -> None:
    found = across_deploy(deployed, "faithfulness", "v2", now=2 * DAY, span=DAY / 4)
    assert (found.found.before.n, found.found.now.n) == (36, 35)


def test_of_a_slice(deployed: MonitorStore) -> None:
    put(deployed, [(DAY + 700, 0.0)], facets={"model": "b"}, first=500)
    of_a = across_deploy(deployed, "faithfulness", "v2", now=2 * DAY, slice=Facet("model", "a"))
    of_b = across_deploy(deployed, "faithfulness", "v2", now=2 * DAY, slice=Facet("model", "b"))
    assert (of_a.found.before.n, of_a.found.now.n) == (143, 143)
    assert (of_b.found.before.n, of_b.found.now.n) == (0, 1)
    assert of_b.found.verdict == "cannot_tell"


def test_what_came_until_now_counts(store: MonitorStore) -> None:
    deploy(store, "v1", 1_000.0)
    put(store, [(0.0, 1.0), (5_000.0, 1.0), (5_039.0, 0.0), (5_045.0, 0.0)])
    found = across_deploy(store, "faithfulness", "v1", now=5_050.0)
    assert (found.found.before.n, found.found.now.n) == (1, 3)


def test_a_version_that_nobody_saw_is_refused_with_the_nearest(deployed: MonitorStore) -> None:
    with pytest.raises(UnknownName, match="v2"):
        across_deploy(deployed, "faithfulness", "v22", now=2 * DAY)
