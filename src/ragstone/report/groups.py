"""Groups: which estimates are shown together in a report."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isclose

from ragstone.run.estimates.estimate import Estimate

FAMILIES = {
    "retrieval": "Retrieval",
    "grounding": "Grounding",
    "answer": "Answer",
    "reference": "Against the reference",
    "composite": "Composite",
    "own": "Your own",
}
"""The sections of a report, in order; user-defined families follow after them."""

SYSTEM = "system"


@dataclass(frozen=True)
class Groups:
    """The estimates of a run, for whole systems or for slices of them."""

    estimates: Sequence[Estimate]

    @property
    def systems(self) -> list[str]:
        """The systems, in the order of the data."""
        return _distinct(one.group[SYSTEM] for one in self.estimates if SYSTEM in one.group)

    @property
    def whole(self) -> list[Estimate]:
        """One estimate for each metric and system, or over all rows if no system has a name."""
        group = {SYSTEM} if self.systems else set()
        return [one for one in self.estimates if set(one.group) == group]

    @property
    def whole_and_all(self) -> list[Estimate]:
        """As ``whole``; with several systems, also the estimates over the rows of all of them."""
        several = len(self.systems) > 1
        together = [one for one in self.estimates if not one.group] if several else []
        return [*self.whole, *together]

    @property
    def fields(self) -> list[str]:
        """The fields by which the data was sliced, other than the system."""
        return _distinct(field for one in self.estimates for field in one.group if field != SYSTEM)

    def sliced(self, field: str) -> list[Estimate]:
        """One estimate for each metric, system and value of the field.

        A single system has no slices of its own: those of all rows are its.
        """
        of_systems = [one for one in self.estimates if set(one.group) == {SYSTEM, field}]
        return of_systems or [one for one in self.estimates if set(one.group) == {field}]


def by_family(estimates: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """The estimates by title of their section."""
    found: dict[str, list[Estimate]] = {family: [] for family in FAMILIES}
    for one in estimates:
        found.setdefault(one.family, []).append(one)
    return {FAMILIES.get(name, name.capitalize()): ones for name, ones in found.items() if ones}


def by_metric(estimates: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """The estimates by text form of their metric, in their order."""
    found: dict[str, list[Estimate]] = {}
    for one in estimates:
        found.setdefault(one.metric, []).append(one)
    return found


def same_mean(first: Estimate, one: Estimate) -> bool:
    """Whether two means are over as many rows and equal but for the order of adding."""
    known = first.value is not None and one.value is not None and first.n == one.n
    return known and isclose(first.value or 0, one.value or 0, abs_tol=1e-9)


def as_one(ones: Sequence[Estimate]) -> Estimate | None:
    """All systems in one where none has a value, for the same reasons; otherwise None."""
    if len(ones) < 2 or any(one.value is not None for one in ones):
        return None
    if len({tuple(sorted(one.reasons)) for one in ones}) > 1:
        return None
    systems = [one for one in ones if SYSTEM in one.group] or ones
    reasons = Counter[str]()
    for one in systems:
        reasons.update(one.reasons)
    return replace(
        ones[0],
        reasons=dict(reasons),
        n_undefined=sum(one.n_undefined for one in systems),
        n_missing=sum(one.n_missing for one in systems),
    )


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
