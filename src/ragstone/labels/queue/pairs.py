"""Pairs: two answers to one question, of which people say which is better.

They are shown as A and B in random order, so that nobody knows which system is which. What is kept
names the rival: ``preference.RIVAL`` is win, loss or tie for the example's own answer.
"""

from collections.abc import Mapping
from typing import Any

from ragstone.judgements import Preference

A, B, TIE = "A", "B", "tie"
LABEL = Preference.columns["verdict"].label
"""What is asked of a pair."""


def preferred(said: Mapping[str, str | None], pair: Mapping[str, Any]) -> dict[str, str | None]:
    """What was said of a pair, as labels of the example.

    Args:
        said: By label; None where nothing was said.
        pair: ``rival``, and ``first``: whether the example's own answer was shown first.

    >>> preferred({"preference": "B"}, {"rival": "gpt", "first": True})
    {'preference.gpt': 'loss'}
    """
    rest = {label: value for label, value in said.items() if label != LABEL}
    verdicts = {shown: verdict for verdict, shown in _shown(pair).items()}
    return rest | {f"{Preference.name}.{pair['rival']}": verdicts.get(said.get(LABEL) or "")}


def shown_as(verdict: str, pair: Mapping[str, Any]) -> str:
    """A verdict for the example's own answer, as it is said on screen."""
    return _shown(pair).get(verdict, verdict)


def _shown(pair: Mapping[str, Any]) -> dict[str, str]:
    own, other = (A, B) if pair["first"] else (B, A)
    return {"win": own, "loss": other, "tie": TIE}
