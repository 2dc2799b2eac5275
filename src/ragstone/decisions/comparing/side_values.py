"""Side values: what both sides of each pair of systems scored on each question."""

from collections.abc import Iterator, Sequence

import numpy as np

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.decisions.scored import Scored
from ragstone.metrics import Composite

from .common_components import component_scores, components_of, has_gaps, over_common
from .sides import Match, Values


def values_of(
    matches: Sequence[Match], metric: str, notes: list[str]
) -> Iterator[tuple[Match, tuple[Values, Values]]]:
    """The values of a metric for each pair of systems; none for pairs that are not compared.

    Of a composite that leaves out components without a value, over those that both sides have.

    Args:
        matches: The pairs.
        metric: Its text form.
        notes: Takes what was left out, and why.
    """
    runs = runs_of(matches)
    composite = runs[0].metric(metric)
    scores = {id(run): run.outcomes(metric) for run in runs}
    sides = {id(side): side for match in matches for side in match}
    values = {key: side.values(scores[id(side.scored)]) for key, side in sides.items()}
    if isinstance(composite, Composite) and composite.over_means:
        notes.append(reason("no_score_a_question", metric=metric))
        return
    whole = [(match, (values[id(match[0])], values[id(match[1])])) for match in matches]
    if (
        not isinstance(composite, Composite)
        or composite.missing == "propagate"
        or not any(has_gaps(frame) for frame in scores.values())
    ):
        yield from whole
        return
    try:
        parts = {id(run): component_scores(run, composite) for run in runs}
    except InputError as error:
        notes.append(reason("components_not_there", metric=metric, said=error.text))
        return
    components = {key: components_of(side, parts[id(side.scored)]) for key, side in sides.items()}
    uneven, total = 0, 0
    for (a, b), before in whole:
        one, other, left_out = over_common(composite, components[id(a)], components[id(b)], before)
        uneven += int(np.count_nonzero(left_out & a.there & b.there))
        total += int(np.count_nonzero(one.valued & a.there & b.there))
        yield (a, b), (one, other)
    if uneven:
        notes.append(reason("over_common_components", metric=metric, n=uneven, pairs=total))


def runs_of(matches: Sequence[Match]) -> list[Scored]:
    """The runs that are compared, each once."""
    return list({id(side.scored): side.scored for match in matches for side in match}.values())
