"""Similarity: how similar texts are, by cosines, BERTScore or a cross-encoder."""

from .baselines import Baseline, built_in_baseline, read_baseline
from .bertscore import BertScores, bertscore, bertscore_grid
from .cross_encoder import CrossEncoderJudge
from .idf import Idf, count_documents
from .judge import SimilarityJudge
from .options import BertscoreOptions, BertscoreSettings

__all__ = [
    "Baseline",
    "BertScores",
    "BertscoreOptions",
    "BertscoreSettings",
    "CrossEncoderJudge",
    "Idf",
    "SimilarityJudge",
    "bertscore",
    "bertscore_grid",
    "built_in_baseline",
    "count_documents",
    "read_baseline",
]
