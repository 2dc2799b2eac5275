"""Metrics: what each number means, and how to define your own."""

from .aliases import ALIASES, EVERYDAY
from .answer_rates import (
    Abstention,
    CitationFabrication,
    CitationPresence,
    Contradiction,
    GroundingPresence,
    Helpfulness,
    Incompleteness,
    OnTopic,
    ProperAction,
    UnsafeContent,
    UnsupportedClaim,
)
from .answer_relevance import AnswerRelevance, AnswerRelevanceRated, ResponseCompleteness
from .by_ids import MAP, Hit, Recall, UnjudgedRate
from .citing import CitationPrecision, CitationRecall, SourceAttribution
from .composite import Composite, OverallSimple, OverallWeighted, RagasHarmonic, RagasScore
from .core import Metric, Part, share, wanted_topics
from .correctness import AnswerCorrectness, AnswerCoverage, AnswerOutcome, FactualAccuracy
from .critique import AspectVerdict, strictness_note
from .embedding import (
    EmbeddingAnswerRelevance,
    EmbeddingContextRelevance,
    EmbeddingContextSufficiency,
    EmbeddingHallucination,
    ReferenceSimilarityMax,
)
from .factual_accuracy_rated import FactualAccuracyRated
from .faithfulness import (
    ExpectedFaithfulness,
    Faithfulness,
    Groundedness,
    Hallucination,
    SteppedFaithfulness,
)
from .grades import GradedRelevance, SentenceRelevance
from .loading import load_metrics, own_metrics, register
from .ndcg import NDCG
from .nearest import NEAREST
from .noise import NoiseSensitivity
from .nuggets import NuggetScore
from .outcome import Missing, Range, Score, Undefined
from .overlap import (
    BertscoreF1,
    BertscorePrecision,
    BertscoreRecall,
    Bleu,
    Chrf,
    ExactMatch,
    Rouge2,
    RougeL,
    SemanticSimilarity,
    SemanticSimilarityCrossEncoder,
    TokenF1,
    TokenF1Set,
)
from .own import FunctionMetric, metric
from .parse import alias_note, metric_types, parse_metric, read_metric
from .ranking import MRR, ContextPrecision, Precision, PrecisionOverRetrieved
from .rating import RubricScore
from .retrieval import (
    ContextEntityRecall,
    ContextRecall,
    ContextUtilization,
    EvidenceRecall,
    ReferenceContradiction,
)
from .score import SCORES, needed_asks, needed_fields, score
from .sufficiency import MisleadingRate, SufficiencyHit, SufficiencyRate
from .suites import (
    QUICK,
    QUICK_METRICS,
    QUICK_SUITE,
    SUITES,
    Bands,
    Limit,
    Setting,
    Suite,
    suite_named,
)
from .win_rate import WinRate

__all__ = [
    "ALIASES",
    "EVERYDAY",
    "MAP",
    "MRR",
    "NDCG",
    "NEAREST",
    "QUICK",
    "QUICK_METRICS",
    "QUICK_SUITE",
    "SCORES",
    "SUITES",
    "Abstention",
    "AnswerCorrectness",
    "AnswerCoverage",
    "AnswerOutcome",
    "AnswerRelevance",
    "AnswerRelevanceRated",
    "AspectVerdict",
    "Bands",
    "BertscoreF1",
    "BertscorePrecision",
    "BertscoreRecall",
    "Bleu",
    "Chrf",
    "CitationFabrication",
    "CitationPrecision",
    "CitationPresence",
    "CitationRecall",
    "Composite",
    "ContextEntityRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextUtilization",
    "Contradiction",
    "EmbeddingAnswerRelevance",
    "EmbeddingContextRelevance",
    "EmbeddingContextSufficiency",
    "EmbeddingHallucination",
    "EvidenceRecall",
    "ExactMatch",
    "ExpectedFaithfulness",
    "FactualAccuracy",
    "FactualAccuracyRated",
    "Faithfulness",
    "FunctionMetric",
    "GradedRelevance",
    "Groundedness",
    "GroundingPresence",
    "Hallucination",
    "Helpfulness",
    "Hit",
    "Incompleteness",
    "Limit",
    "Metric",
    "MisleadingRate",
    "Missing",
    "NoiseSensitivity",
    "NuggetScore",
    "OnTopic",
    "OverallSimple",
    "OverallWeighted",
    "Part",
    "Precision",
    "PrecisionOverRetrieved",
    "ProperAction",
    "RagasHarmonic",
    "RagasScore",
    "Range",
    "Recall",
    "ReferenceContradiction",
    "ReferenceSimilarityMax",
    "ResponseCompleteness",
    "Rouge2",
    "RougeL",
    "RubricScore",
    "Score",
    "SemanticSimilarity",
    "SemanticSimilarityCrossEncoder",
    "SentenceRelevance",
    "Setting",
    "SourceAttribution",
    "SteppedFaithfulness",
    "SufficiencyHit",
    "SufficiencyRate",
    "Suite",
    "TokenF1",
    "TokenF1Set",
    "Undefined",
    "UnjudgedRate",
    "UnsafeContent",
    "UnsupportedClaim",
    "WinRate",
    "alias_note",
    "load_metrics",
    "metric",
    "metric_types",
    "needed_asks",
    "needed_fields",
    "own_metrics",
    "parse_metric",
    "read_metric",
    "register",
    "score",
    "share",
    "strictness_note",
    "suite_named",
    "wanted_topics",
]
