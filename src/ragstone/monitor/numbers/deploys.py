"""Deploys: what a metric was before and after a version was first seen."""

from dataclasses import dataclass

from ragstone.core.database import Sql
from ragstone.core.errors import UnknownName
from ragstone.monitor.store.deployed import deployed, first_seen
from ragstone.monitor.store.slots import WIDTH
from ragstone.monitor.store.store import MonitorStore

from .against import side_by_side
from .metric_over_time import Facet
from .page_facts import SideBySide
from .stretch import read_stretch

DAY = 86_400.0
EVER = 1e12


@dataclass(frozen=True, slots=True)
class AcrossDeploy:
    """A metric before and after a deploy.

    Attributes:
        version: That was deployed.
        at: When answers of it were first seen, in seconds since the epoch.
        since: Where the stretch before begins.
        until: Where the stretch after ends.
        found: Both, with their difference.
    """

    version: str
    at: float
    since: float
    until: float
    found: SideBySide


def across_deploy(
    store: MonitorStore,
    metric: str,
    version: str,
    *,
    now: float,
    span: float = DAY,
    slice: Facet | None = None,
    margin: float | None = None,
) -> AcrossDeploy:
    """A metric in the time before a version was first seen, and in the time after.

    Neither reaches over another deploy. The two minutes in which it happened count for neither. The
    answers are those of the time, whichever version gave them; for those of a version alone, take
    its slice.

    Args:
        store: What is monitored.
        metric: Its text form.
        version: Of answers that were seen.
        now: In seconds since the epoch.
        span: How far it looks before and after, in seconds.
        slice: Of which traffic; None: of all.
        margin: Up to which a difference does not matter; None: not asked.

    Raises:
        UnknownName: No answer of this version was seen.
    """
    with store.database.reading() as run:
        return across_deploy_in(
            run, metric, version, now=now, span=span, slice=slice, margin=margin
        )


def across_deploy_in(
    run: Sql,
    metric: str,
    version: str,
    *,
    now: float,
    span: float,
    slice: Facet | None,
    margin: float | None,
) -> AcrossDeploy:
    """As ``across_deploy``, within a reading of the store."""
    at = first_seen(run, version)
    if at is None:
        there = [name for name, _ in deployed(run, 0, EVER)]
        raise UnknownName("version of these answers", version, there)
    others = [seen for name, seen in deployed(run, at - span, at + span) if name != version]
    earlier = [seen for seen in others if seen <= at]
    since = max(earlier, default=at - span)
    until = min([at + span, now, *(seen for seen in others if seen > at)])
    slot = at // WIDTH * WIDTH
    # What an earlier deploy happened in counts for neither.
    begin = since + WIDTH if earlier else since
    before = read_stretch(run, metric, begin, slot, slice)
    end = until + WIDTH if until == now else until
    after = read_stretch(run, metric, slot + WIDTH, end, slice)
    found = side_by_side(after, before, of=None, margin=margin)
    return AcrossDeploy(version, at, since, until, found)
