"""Counts: facts about an answer's words, counted or split by rule and so the same for every judge.

Stock phrases of uncertainty are a naive sign of an abstention, counted because published reports
count them.
"""

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .views import Answers, References


class Lexical(Kind):
    """One row per answer and reference."""

    name = "lexical"
    asks = (Ask(over=References, requires=("answer", "reference"), by=("counting",)),)

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    exact_match = Column(pl.Float64, "1 if equal after SQuAD normalisation, else 0", role="number")
    token_f1 = Column(
        pl.Float64, "F1 over the tokens, counted as often as they occur", role="number"
    )
    token_f1_set = Column(pl.Float64, "F1 over the distinct tokens", role="number")
    rouge_2 = Column(pl.Float64, "F1 over the token bigrams", role="number")
    rouge_l = Column(pl.Float64, "F1 of the longest common subsequence of tokens", role="number")


class SquadWords(Kind):
    """One row per answer and reference."""

    name = "squad_words"
    asks = (Ask(over=References, requires=("answer", "reference"), by=("counting",)),)

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    squad_f1 = Column(pl.Float64, "F1 over the words after SQuAD normalisation", role="number")


class Ngrams(Kind):
    """One row per answer and reference."""

    name = "ngrams"
    asks = (Ask(over=References, requires=("answer", "reference"), by=("counting",)),)

    reference = Column(pl.UInt32, "which of the references, from 0", role="unit")
    bleu = Column(pl.Float64, "BLEU over runs of up to four words", role="number")
    chrf = Column(pl.Float64, "chrF over runs of up to six letters", role="number")


class Phrases(Kind):
    """One row per answer."""

    name = "phrases"
    asks = (Ask(over=Answers, requires=("answer",), by=("counting",)),)

    phrases_8 = Column(pl.Boolean, "one of the eight phrases occurs", role="verdict",
                       phrase={True: "one of the eight", False: "none of the eight"})  # fmt: skip
    phrases_12 = Column(pl.Boolean, "one of the twelve phrases occurs", role="verdict",
                        phrase={True: "one of the twelve",
                                False: "none of the twelve"})  # fmt: skip


class AnswerSentence(Kind):
    """One row per sentence of an answer."""

    name = "answer_sentences"
    asks = (Ask(requires=("answer", "answer_text"), by=("counting",)),)

    index = Column(pl.UInt32, "position in the answer, from 0", role="unit", phrase="")
    text = Column(pl.String, "the sentence", role="words")


class Citation(Kind):
    """One row per citation marker of the answer.

    A marker such as ``[2]`` names the context of that rank, ``[doc-7]`` the one of that id. A
    marker that no context answers to is fabricated.
    """

    name = "citations"
    asks = (Ask(requires=("answer",), by=("counting",), beside=("contexts",), says="cites"),)
    made = True
    repeats = True

    sentence = Column(
        pl.UInt32, "the answer's sentence it stands in, from 0", role="unit", phrase=""
    )
    marker = Column(pl.String, "as written", role="unit", phrase="{}")
    context = Column(pl.String, "id of the context it names; null where there is none",
                     phrase={None: "no retrieved context"}, tones={None: "bad"})  # fmt: skip
