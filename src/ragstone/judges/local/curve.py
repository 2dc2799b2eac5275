"""Curve: turns features into a probability by a logistic curve fitted to people's labels."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

FILE = "curves.json"


@dataclass(frozen=True, slots=True)
class Curve:
    """``1 / (1 + exp(-(intercept + sum of weight x feature)))``."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """A probability from 0 to 1. Features without a weight are ignored."""
        score = self.intercept
        for name, weight in self.weights.items():
            score += weight * features[name]
        if score < 0:
            odds = math.exp(score)
            return odds / (1 + odds)
        return 1 / (1 + math.exp(-score))


@lru_cache(maxsize=1)
def curves() -> dict[str, Curve]:
    """The fitted curves by name, such as ``support/strings``."""
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return {name: Curve(**fitted) for name, fitted in json.loads(text)["curves"].items()}


def curve(name: str) -> Curve:
    """The curve with this name."""
    return curves()[name]
