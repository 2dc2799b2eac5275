"""The metric room: what each number means, and how to make your own."""

from .composite import Composite
from .core import Metric, Part, share
from .names import ALIASES, alias_note, load_metrics, metric_types, own_metrics, parse_metric
from .outcome import Missing, Range, Score, Undefined
from .own import FunctionMetric, metric
from .score import SCORES, needed_asks, score
from .suites import QUICK, QUICK_METRICS, SUITES, Suite

__all__ = [
    "ALIASES",
    "QUICK",
    "QUICK_METRICS",
    "SCORES",
    "SUITES",
    "Composite",
    "FunctionMetric",
    "Metric",
    "Missing",
    "Part",
    "Range",
    "Score",
    "Suite",
    "Undefined",
    "alias_note",
    "load_metrics",
    "metric",
    "metric_types",
    "needed_asks",
    "own_metrics",
    "parse_metric",
    "score",
    "share",
]
