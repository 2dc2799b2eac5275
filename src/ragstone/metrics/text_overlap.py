"""Overlap: how similar are answer and reference, as strings or to a model?

The best of several references counts.
"""

from dataclasses import dataclass

import polars as pl

from ragstone.judgements import References

from .embedding import ScaledCosine, scaled
from .metric import Metric, Range, Undefined


class Overlap(Metric):
    """The best value of one column over the references."""

    family = "reference"
    over = References
    empty = Undefined("no_reference")
    by_reference = True

    column = ""
    """The column of the view; empty: that of the metric's name."""

    def rule(self) -> pl.Expr:
        return pl.col(self.column or self.name).first()


class ExactMatch(Overlap):
    """1 if answer and reference are equal after SQuAD normalisation, else 0.

    Normalisation: lower case, no punctuation, no articles, single spaces. So 314 equals 3.14, and
    -5 equals 5. Text that is not ASCII is read in the forms of ``token_f1`` and loses the
    punctuation of all scripts.

    Source: Rajpurkar et al. (2016), "SQuAD".
    """

    name = "exact_match"
    range = Range(0, 1, "+", rate=True)


class SquadF1(Overlap):
    """F1 over the words of answer and reference after SQuAD normalisation, with their counts.

    Normalised as ``exact_match``, so that what matches exactly has an F1 of 1. In scripts without
    spaces between words each character is one. Where one text has no word left, 1 if both have
    none, else 0.

    Source: Rajpurkar et al. (2016), "SQuAD".
    """

    name = "squad_f1"


class TokenF1(Overlap):
    """F1 over the tokens of answer and reference, with their counts; ROUGE-1.

    Tokens are runs of letters and numbers with their marks, in lower case; ASCII text has those of
    rouge-score without stemming. In scripts without spaces between words, such as Chinese,
    Japanese and Thai, each character is one. NFKC forms are the same, as are digits of all
    scripts and typographic apostrophes; superscripts, subscripts and fractions stay: 10² is not
    102, nor is CO₂ CO2.

    SQuAD's own F1 is ``squad_f1``.

    Source: Lin (2004), "ROUGE".
    """

    name = "token_f1"


class TokenF1Set(Overlap):
    """F1 over the distinct tokens of answer and reference."""

    name = "token_f1_set"


class Rouge2(Overlap):
    """F1 over the token bigrams. Source: Lin (2004)."""

    name = "rouge_2"


class RougeL(Overlap):
    """F1 of the longest common subsequence of tokens. Source: Lin (2004)."""

    name = "rouge_l"


class Bleu(Overlap):
    """BLEU of answer and reference: runs of one to four words, precision alone.

    sacrebleu's for a sentence, divided by 100: tokens 13a, exponential smoothing, effective order.
    Text that is not ASCII is read in the forms of ``token_f1`` with its case, and each of its signs
    is a token, as is each character of scripts without spaces; Chinese is as sacrebleu's ``zh``.
    The mean over answers is not the BLEU of a corpus, and several references are not pooled.

    Source: Papineni et al. (2002), "BLEU"; Post (2018), "A Call for Clarity in Reporting BLEU
    Scores".
    """

    name = "bleu"
    how = "case:mixed|eff:yes|tok:13a|smooth:exp"


class Chrf(Overlap):
    """F2 of answer and reference over runs of one to six letters.

    sacrebleu's chrF2 for a sentence, divided by 100: white space left out, no runs of words. Text
    that is not ASCII is read in the forms of ``token_f1`` with its case.

    Source: Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation".
    """

    name = "chrf"
    how = "case:mixed|eff:yes|nc:6|nw:0|space:no"


@dataclass(frozen=True)
class SemanticSimilarity(Overlap, ScaledCosine):
    """Cosine of the embeddings of answer and reference; 0 for an empty answer.

    ``scale`` gives the forms used in other reports: ``clamped`` is max(0, cosine); ``shifted`` is
    (cosine + 1) / 2, .5 for unrelated texts.
    """

    name = "semantic_similarity"
    column = "similarity"

    def rule(self) -> pl.Expr:
        return scaled(References.similarity.first(), self.scale)


class SemanticSimilarityCrossEncoder(Overlap):
    """A cross-encoder's score of answer and reference, read together.

    0 for an empty answer. ``evaluate`` takes the cross-encoder's name.
    """

    name = "semantic_similarity_cross_encoder"
    column = "cross_encoder"


class BertscorePrecision(Overlap):
    """Mean best match of each answer token in the reference, by BERTScore.

    Mostly above 0; 0 for an empty answer. Model, layer, idf and rescaling are in the signature;
    ``evaluate`` takes them as ``layer=9,idf,rescale=FILE``.

    Source: Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT".
    """

    name = "bertscore_precision"
    range = Range(-1, 1)


class BertscoreRecall(Overlap):
    """Mean best match of each reference token in the answer, by BERTScore.

    Otherwise as ``bertscore_precision``.

    Source: Zhang et al. (2020).
    """

    name = "bertscore_recall"
    range = Range(-1, 1)


class BertscoreF1(Overlap):
    """Harmonic mean of BERTScore precision and recall.

    0 if either text is empty. With ``rescale``, unrelated texts have 0, and scores may be lower.

    Source: Zhang et al. (2020).
    """

    name = "bertscore_f1"
    range = Range(-1, 1)
