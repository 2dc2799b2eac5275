"""Metrics: what each number means, and how to define your own.

Metrics are listed in the order in which their modules are imported: ranking first.
"""

# isort: off
from . import ranking, ranking_by_ids, answer_rates, answer_relevance, citations  # noqa: F401
from . import text_checks, composite, correctness, criteria, retrieval, text_overlap  # noqa: F401
from . import answer_facts  # noqa: F401

# isort: on
from .aliases import ALIASES, EVERYDAY, NEAREST
from .composite import Composite
from .correctness import AnswerOutcome, NuggetScore
from .embedding import EmbeddingContextSufficiency, EmbeddingHallucination
from .metric import Metric, Missing, Part, Range, Score, Undefined, share, wanted_topics
from .metric_names import alias_note, metric_types, parse_metric, read_metric
from .rubrics import AspectVerdict, RubricScore, strictness_note
from .score import SCORES, asks_of, needed_asks, needed_fields, score
from .suites import QUICK, QUICK_METRICS, QUICK_SUITE, SUITES, Bands, Limit, Suite, suite_named
from .user_metrics import FunctionMetric, load_metrics, metric, own_metrics, register

__all__ = [
    "ALIASES", "EVERYDAY", "NEAREST", "QUICK", "QUICK_METRICS", "QUICK_SUITE", "SCORES", "SUITES",
    "AnswerOutcome", "AspectVerdict", "Bands", "Composite", "EmbeddingContextSufficiency",
    "EmbeddingHallucination", "FunctionMetric", "Limit", "Metric", "Missing", "NuggetScore", "Part",
    "Range", "RubricScore", "Score", "Suite", "Undefined", "alias_note", "asks_of", "load_metrics",
    "metric", "metric_types", "needed_asks", "needed_fields", "own_metrics", "parse_metric",
    "read_metric", "register", "score", "share", "strictness_note", "suite_named", "wanted_topics",
]  # fmt: skip
