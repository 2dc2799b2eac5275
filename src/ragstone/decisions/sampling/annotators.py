"""Annotators: assigns a sample to annotators, with a common part that all of them label."""

from collections.abc import Sequence

import numpy as np

from ragstone.core.errors import InputError
from ragstone.core.messages import argument


def shared_out(
    units: int, annotators: Sequence[str], overlap: float, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """The annotators of each unit.

    A random share of the units goes to everybody, so that agreement can be
    measured; each of the others goes to one annotator, as evenly as possible.

    Args:
        units: How many.
        annotators: Their names; of nobody named, everything is one annotator's without a name.
        overlap: Share in [0, 1]; above 0 it is one unit at least.
        rng: Seeded by the caller.

    Raises:
        InputError: A share out of its range, a name that is empty or occurs twice, an overlap
            without several annotators.
    """
    faults = []
    if not 0 <= overlap <= 1:
        faults.append(f"the overlap is a share in [0, 1], got {overlap}")
    if overlap > 0 and len(annotators) < 2:
        faults.append(f"an overlap needs several annotators, which {argument('annotators')} names")
    if any(not name.strip() for name in annotators):
        faults.append("an annotator needs a name")
    twice = sorted({name for name in annotators if annotators.count(name) > 1})
    if twice:
        faults.append(f"{', '.join(twice)} occurs twice")
    if faults:
        raise InputError(f"The sample cannot be shared out: {'; '.join(faults)}.")
    if len(annotators) < 2:
        return [tuple(annotators) or ("",)] * units
    everybody = min(units, max(1, round(overlap * units))) if overlap > 0 else 0
    order = rng.permutation(units)
    found = [tuple(annotators)] * units
    first = int(rng.integers(len(annotators)))
    for turn, unit in enumerate(order[everybody:], start=first):
        found[unit] = (annotators[turn % len(annotators)],)
    return found
