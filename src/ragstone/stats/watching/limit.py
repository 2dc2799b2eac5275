"""Limit: how much evidence an alarm wants."""

from ragstone.core.errors import InputError


def promised_limit(alpha: float, looks: int, *, detectors: int = 1) -> float:
    """The evidence at which ``detectors`` together keep a promise on false alarms.

        limit = looks · detectors / α

    Each has a share α / detectors of the promise. The probability that any of them raises a false
    alarm, while each looks at ``looks`` healthy answers of its own, is at most α: each alone at
    most α / detectors (see ``Detector``), and the sum bounds all together, however they depend on
    each other. The promise renews itself: of k times as many looks, at most k · α false alarms
    are expected, so evidence need not be thrown away after ``looks``.

    Args:
        alpha: In (0, 1).
        looks: Judged answers, at least 1.
        detectors: Rules times slices, at least 1.

    Raises:
        InputError: An argument is out of its range.
    """
    if not 0 < alpha < 1:
        raise InputError(f"A promise on false alarms is a share inside (0, 1), got {alpha}.")
    if looks < 1 or detectors < 1:
        raise InputError(
            f"A promise is for one look and one detector at least, got {looks} looks "
            f"and {detectors} detectors."
        )
    return looks * detectors / alpha


def limit_of_gap(looks: float, *, detectors: int = 1) -> float:
    """The evidence at which false alarms of all detectors lie ``looks`` apart on average, or more.

        limit = looks · detectors

    Args:
        looks: Judged answers of one detector, at least 1, where all have as many.
        detectors: Rules times slices, at least 1.

    Raises:
        InputError: An argument is out of its range.
    """
    if not looks >= 1 or detectors < 1:
        raise InputError(
            f"A mean distance of false alarms is one look at least, for one detector "
            f"at least, got {looks} looks and {detectors} detectors."
        )
    return looks * detectors
