"""Baselines: the BERTScore of unrelated texts, for rescaling."""

import csv
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from ragstone.core.errors import InputError
from ragstone.data.sources import on_disk
from ragstone.models import Encoder

from .layers import model_name

HEADER = ["LAYER", "P", "R", "F"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Mean precision, recall and F1 of unrelated texts, each below 1.

    A score x is rescaled to ``(x - b) / (1 - b)``: 0 is as good as chance, below 0 is
    it worse, and 1 stays 1.
    """

    precision: float
    recall: float
    f1: float


BUILT_IN: dict[tuple[str, int], Baseline] = {
    ("microsoft/deberta-xlarge-mnli", 40): Baseline(0.5169066, 0.5170288, 0.5150192),
}
"""By model and layer; measured by the authors of bert-score on English texts."""


def built_in_baseline(encoder: Encoder, layer: int) -> Baseline:
    """The baseline included in Ragstone for this model and layer.

    Raises:
        InputError: There is none.
    """
    name = model_name(encoder)
    if (name, layer) not in BUILT_IN:
        known = ", ".join(f"layer {number} of {model}" for model, number in BUILT_IN)
        raise InputError(
            f"No baseline for layer {layer} of {name} comes with Ragstone; there is one for "
            f"{known}. Give a file of lines LAYER,P,R,F: rescale=FILE."
        )
    return BUILT_IN[name, layer]


def read_baseline(path: str | Path, layer: int) -> Baseline:
    """A layer's line of a file as bert-score keeps them.

        LAYER,P,R,F
        0,0.3231512,0.32322776,0.31853873
        …

    Raises:
        InputError: No such file, not of this form, or without that layer.
    """
    file = Path(path)
    try:
        lines = [
            line for line in csv.reader(on_disk(file).read_text("utf-8-sig").splitlines()) if line
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"The baseline file {file} cannot be read: {_why(error)}.") from error
    if not lines or [word.strip() for word in lines[0]] != HEADER:
        got = ",".join(lines[0]) if lines else "nothing"
        raise InputError(f"{file}:1  expected {','.join(HEADER)}, got {got}")
    found: dict[int, Baseline] = {}
    for number, line in enumerate(lines[1:], 2):
        at, baseline = _line(line)
        if baseline is None or at in found:
            expected = "a layer of its own, then P, R and F, each below 1"
            raise InputError(f"{file}:{number}  expected {expected}, got {','.join(line)}")
        found[at] = baseline
    if layer not in found:
        there = ", ".join(map(str, sorted(found))) or "none"
        raise InputError(f"{file} has no line for layer {layer}. It has layers {there}.")
    return found[layer]


def _line(words: list[str]) -> tuple[int, Baseline | None]:
    try:
        layer, (precision, recall, f1) = int(words[0]), map(float, words[1:])
    except ValueError:
        return -1, None
    if layer < 0 or not all(isfinite(one) and one < 1 for one in (precision, recall, f1)):
        return -1, None
    return layer, Baseline(precision, recall, f1)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it is no text" if isinstance(error, UnicodeDecodeError) else str(error)
