"""Similarity: how close are two texts in a model's eyes?

Cosines of embeddings, the greedy token matching of BERTScore, and the score of a
cross-encoder. They need a model. An empty text resembles nothing: 0.

- `question_context`, `reference_context`: a row is a context, by rank; of several references the
  best counts. A context whose text is unknown is left open; if none is known, the judgement fails.
- `sentence_context`: a sentence of the answer that holds a letter or digit, with its best context;
  -1, the lowest value, if nothing was retrieved.
- `answer_reference`, `answer_reference_cross_encoder`, `bertscore_precision`, `bertscore_recall`,
  `bertscore_f1`: a reference.
- `question_answer`: the answer. `question_probe`: a question generated from the answer.
- `…_windows`: a context that is longer than the model reads, in windows of that length with half
  overlap; the best counts. Otherwise the rest is cut off, and `cut` says so.

Cosines are stored to six decimals. Options of BERTScore: `layer=9` (default: the
layer recommended for the model, else its last), `idf` (rare tokens weigh more; counted over the
distinct references of all the data), `rescale` (by the built-in baseline, of layer 40 of
microsoft/deberta-xlarge-mnli) or `rescale=FILE` (lines `LAYER,P,R,F`, as in bert-score),
`model=NAME` (an encoder of its own). The numbers are those of bert-score 0.3.13 with
`batch_size=1`. In Python, `bertscore` and `bertscore_grid` of `ragstone.judges.similarity` score
pairs and whole grids.
"""

import polars as pl

from .column import Column
from .kind import Ask, Kind
from .probes import Probes
from .view import View
from .views import Answers, AnswerSentences, Contexts, References

# Of similarity: the view, the column there and its doc, and what an example must have.
Measure = tuple[type[View], str, str, tuple[str, ...]]

_QUESTION, _REFERENCE = "cosine with the question", "best cosine with a reference"
_ASKED, _TOLD = ("question", "contexts"), ("reference", "contexts")
_WRITTEN, _ANSWERED = ("answer", "answer_text", "contexts"), ("answer", "reference")
_WINDOW = "the same, of its best window"
# Of embeddings. ``windows``: a context that is longer than the model reads is read in windows,
# of which the best counts.
_COSINES: dict[str, Measure] = {
    "question_context": (Contexts, "question_similarity", _QUESTION, _ASKED),
    "question_context_windows": (Contexts, "question_similarity_windows", _WINDOW, _ASKED),
    "reference_context": (Contexts, "reference_similarity", _REFERENCE, _TOLD),
    "reference_context_windows": (Contexts, "reference_similarity_windows", _WINDOW, _TOLD),
    "sentence_context": (AnswerSentences, "similarity", "best cosine with a context", _WRITTEN),
    "sentence_context_windows": (
        AnswerSentences, "similarity_windows", "best cosine with a window of a context", _WRITTEN,
    ),
    "answer_reference": (References, "similarity", "cosine with the answer", _ANSWERED),
    "question_answer": (Answers, "question_similarity", _QUESTION, ("question", "answer")),
    "question_probe": (Probes, "similarity", _QUESTION, ("question", "answer")),
}  # fmt: skip

_BERTSCORES: dict[str, Measure] = {
    name: (References, name, "greedy matching of tokens", _ANSWERED)
    for name in ("bertscore_precision", "bertscore_recall", "bertscore_f1")
}
_CROSS_ENCODED: dict[str, Measure] = {
    "answer_reference_cross_encoder": (
        References, "cross_encoder", "a cross-encoder's score", _ANSWERED,
    )
}  # fmt: skip
_MEASURES = {**_COSINES, **_BERTSCORES, **_CROSS_ENCODED}

COSINES, BERTSCORES, MEASURES = tuple(_COSINES), tuple(_BERTSCORES), tuple(_MEASURES)


class Similarity(Kind):
    """One row per measure and unit."""

    name = "similarity"
    asks = tuple(
        Ask(name, None, requires, over.made_by,
            ("cross_encoder",) if name in _CROSS_ENCODED else ("encoder",))
        for name, (over, _, _, requires) in _MEASURES.items()
    )  # fmt: skip

    measure = Column(pl.Enum(MEASURES), "what is compared, and how", role="unit", phrase="{}")
    index = Column(pl.UInt32, "the rank of a context, else the position from 0", role="unit")
    value = Column(pl.Float64, "a cosine from -1 to 1, else 0 to 1", role="number", phrase="{}")
    cut = Column(pl.Boolean, "a text was longer than the model reads; null where it does not say",
                 phrase={True: "cut"})  # fmt: skip


for _name, (_over, _fact, _doc, _) in _MEASURES.items():
    _over.take(f"{Similarity.name}/{_name}", Similarity.columns["value"], _fact, _doc,
               on=dict.fromkeys(_over.keys, "index"))  # fmt: skip
