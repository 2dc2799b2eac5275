"""Similarity: how similar texts are, by cosines, BERTScore or a cross-encoder."""

from .bertscore import BertscoreOptions, BertScores, BertscoreSettings, bertscore, bertscore_grid
from .bertscore_tables import Baseline, Idf, built_in_baseline, count_documents, read_baseline
from .similarity_judge import CrossEncoderJudge, SimilarityJudge

__all__ = [
    "Baseline", "BertScores", "BertscoreOptions", "BertscoreSettings", "CrossEncoderJudge",
    "Idf", "SimilarityJudge", "bertscore", "bertscore_grid", "built_in_baseline",
    "count_documents", "read_baseline",
]  # fmt: skip
