"""Suites: named lists of metrics with the conventions of other tools and reports."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ragstone.core.errors import InputError, UnknownName

from .composite import Composite
from .metric import Metric
from .metric_names import parse_metric, split_form
from .rubrics import BETTER


@dataclass(frozen=True, slots=True)
class Bands:
    """Words for the values of a metric of a suite.

    ``words`` are the lowest value for each word, from the highest down; values are compared with
    four decimals. ``note`` says what the words do not tell.
    """

    metric: str
    words: tuple[tuple[float, str], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """A value of a metric beyond which a suite gives advice.

    Below ``bound``, or above it if lower values are better. ``name`` is what the tool that the
    suite is named after calls the metric.
    """

    name: str
    metric: str
    bound: float
    advice: str

    @property
    def side(self) -> str:
        return "above" if parse_metric(self.metric).range.better == "-" else "below"

    def exceeded(self, value: float) -> bool:
        """True if the value, with four decimals, is on the wrong side."""
        rounded = round(value, 4)
        return rounded > self.bound if self.side == "above" else rounded < self.bound


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter of a suite, such as ``k`` of ``taxonomy(k=5)``.

    ``sets`` are metrics of the suite, with the parameter that takes the value; with ``each``, the
    value is a tuple, with a value for each of them.
    """

    name: str
    sets: tuple[tuple[str, str], ...]
    each: bool = False

    def applied(self, value: object) -> dict[str, str]:
        """Map the text form of each metric it sets to the text form with the value."""
        values = [value] * len(self.sets)
        if self.each:
            if not isinstance(value, tuple) or len(value) != len(self.sets):
                names = ", ".join(name for name, _ in self.sets)
                raise InputError(f"{self.name} must be {len(self.sets)} values, for {names}.")
            values = list(value)
        return {name: str(replace(parse_metric(name), **{parameter: each}))
                for (name, parameter), each in zip(self.sets, values, strict=True)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Suite:
    """A named list of metrics.

    ``bands`` give words for values, ``limits`` advice beyond a value; ``percent`` shows values
    times 100; ``by`` are the fields to slice by; ``settings`` are its parameters;
    ``if_cross_encoder`` are metrics that it has too where a cross-encoder is given.
    """

    name: str
    about: str
    names: tuple[str, ...]
    bands: tuple[Bands, ...] = ()
    limits: tuple[Limit, ...] = ()
    percent: bool = False
    by: tuple[str, ...] = ()
    conventions: str = ""
    settings: tuple[Setting, ...] = ()
    if_cross_encoder: tuple[str, ...] = ()

    def metrics(self, *, cross_encoder: bool = False) -> list[Metric]:
        """The metrics, in the suite's order; with a cross-encoder those that need one behind."""
        further = self.if_cross_encoder if cross_encoder else ()
        return [parse_metric(name) for name in (*self.names, *further)]

    def with_settings(self, values: Mapping[str, object]) -> "Suite":
        """The same suite with values for its settings.

        Raises:
            InputError: It has no such setting, or a value is invalid.
        """
        settings = {setting.name: setting for setting in self.settings}
        renamed: dict[str, str] = {}
        for name, value in values.items():
            if name not in settings:
                takes = ", ".join(settings) or "none"
                raise InputError(
                    f"The suite {self.name} has no parameter {name}. It takes: {takes}."
                )
            renamed |= settings[name].applied(value)
        for metric in map(parse_metric, self.names):
            if isinstance(metric, Composite):
                renamed[str(metric)] = str(metric.with_components(renamed))
        return replace(
            self,
            names=tuple(renamed.get(name, name) for name in self.names),
            bands=tuple(replace(entry, metric=renamed.get(entry.metric, entry.metric))
                        for entry in self.bands),
            limits=tuple(replace(entry, metric=renamed.get(entry.metric, entry.metric))
                         for entry in self.limits),
        )  # fmt: skip


_CRITERIA = ("faithfulness", "answer_relevance", "context_precision", "context_recall",
             "answer_correctness", "response_completeness", "source_attribution")  # fmt: skip

_ASPECTS = tuple(f'critique(aspect="{aspect}")' for aspect in BETTER)

_RETRIEVAL = ("precision", "sufficiency_hit", "sufficiency_rate", "misleading_rate", "mrr",
              "list_ndcg")  # fmt: skip

_SUITES = (
    Suite(
        "graphrag",
        "GraphRAG reports: four RAG metrics, their composite, factual accuracy and outcomes",
        (
            "faithfulness(no_claims=1.0)", "precision", "context_recall", "answer_relevance",
            "ragas_score", "factual_accuracy(abstention=0.0)",
            'semantic_similarity(scale="clamped")', "bertscore_f1", "answer_outcome",
        ),
        bands=(
            Bands(
                'semantic_similarity(scale="clamped")',
                (
                    (1.0, "identical"), (0.9, "equivalent"), (0.8, "core meaning kept"),
                    (-1.0, "differs"),
                ),
            ),
            Bands(
                "bertscore_f1",
                (
                    (0.99, "near identical"), (0.7, "very similar"), (0.3, "other words"),
                    (-1.0, "very different"),
                ),
                "low for creative answers, though they may be right",
            ),
        ),
        percent=True, by=("question_type",),
        conventions="percent; an answer without claims is faithful; context precision is the "
        "share of relevant contexts; ragas_score is over the weight present; an abstention has "
        "factual accuracy 0, an E; a cosine below 0 is 0; the report counts partial as wrong",
    ),
    Suite(
        "embedding",
        "embedding evaluators: cosines with the question, the contexts and the reference",
        (
            "embedding_context_relevance", "embedding_context_sufficiency",
            "embedding_answer_relevance", "semantic_similarity", "embedding_hallucination",
        ),
        limits=(
            Limit(
                "context_relevance", "embedding_context_relevance", 0.5,
                "contexts may be off topic; look at the queries that are put to the index",
            ),
            Limit(
                "context_sufficiency", "embedding_context_sufficiency", 0.5,
                "too little evidence; retrieve more passages, or smaller ones",
            ),
            Limit(
                "answer_relevance", "semantic_similarity", 0.6,
                "the question is not answered; compare the answers with their questions",
            ),
            Limit(
                "answer_correctness", "semantic_similarity", 0.6,
                "factual faults are likely; check the answers against their references",
            ),
            Limit(
                "answer_hallucination", "embedding_hallucination", 0.3,
                "many unsupported claims; tell the model to say only what its contexts say",
            ),
        ),
        conventions="the old answer relevance and correctness are both the cosine of answer "
        "and reference, beside which that of question and answer stands; thresholds .5 for "
        "sufficiency and .4 for hallucination, set for all-MiniLM-L6-v2, which is "
        "builtin:minilm",
        settings=(
            Setting(
                "thresholds",
                (
                    ("embedding_context_sufficiency", "threshold"),
                    ("embedding_hallucination", "threshold"),
                ),
                each=True,
            ),
        ),
    ),
    Suite(
        "taxonomy", "the label taxonomy: six retrieval, five grounding and five generation metrics",
        (
            *_RETRIEVAL, "grounding_presence", "unsupported_claim", "contradiction",
            "citation_presence", "citation_fabrication", "proper_action", "on_topic", "helpfulness",
            "incompleteness", "unsafe_content",
        ),
        conventions="people's labels or a judge; citation_fabrication is a ratio of sums",
        settings=(Setting("k", tuple((name, "k") for name in _RETRIEVAL)),),
    ),
    Suite(
        "triad", "the TruLens triad: context relevance, groundedness, answer relevance",
        ("graded_relevance", "groundedness", "answer_relevance_rated"),
        conventions="ragstone show RUN gives the reasons behind each score",
    ),
    Suite(
        "ragas", "early and current Ragas metrics, with the harmonic score over means",
        (
            "faithfulness", "answer_relevance", "context_precision", "sentence_relevance",
            "context_recall", "semantic_similarity", "answer_correctness", *_ASPECTS,
            "ragas_harmonic",
        ),
        conventions="ragas_harmonic is made of data-set means; critiques stand in no "
        "composite; with a cross-encoder also semantic_similarity_cross_encoder",
        if_cross_encoder=("semantic_similarity_cross_encoder",),
        settings=(
            Setting("strictness", tuple((aspect, "strictness") for aspect in _ASPECTS)),
            Setting("n", (("answer_relevance", "n"),)),
        ),
    ),
    Suite(
        "rubric", "the rubric judge: seven ratings, reasoning first, and two overall scores",
        (
            *(f'rating(criterion="{criterion}")' for criterion in _CRITERIA), "overall_weighted",
            "overall_simple", "graded_relevance(max_grade=2)", "context_recall",
        ),
        conventions="reasoning before the score; extra correct facts cost nothing, wrong ones "
        "a lot; context precision and recall also counted: the mean grade of the contexts (1 "
        "sufficient, .5 relevant, 0 neither) and the share of the reference's facts in them; "
        "without a reference or contexts no overall score, unless "
        'overall_weighted(missing="renormalise") is named',
    ),
)  # fmt: skip
SUITES: dict[str, Suite] = {suite.name: suite for suite in _SUITES}


def suite_named(text: str) -> Suite:
    """The suite with this text form: ``graphrag``, ``taxonomy(k=5)``.

    Raises:
        UnknownName: There is no such suite.
        InputError: The text cannot be parsed, or a parameter is unknown or invalid.
    """
    name = text.split("(")[0].strip()
    if name not in SUITES:
        known = [QUICK, *SUITES]
        raise UnknownName("suite", name, known, hint=f"There are {', '.join(known)}.")
    if name == text:
        return SUITES[name]
    return SUITES[name].with_settings(split_form(text, "suite", "taxonomy(k=5)")[1])


# The default suite. ``run`` decides which of its metrics the data and judges allow.
QUICK = "quick"

# The metrics that the quick suite chooses from, in the order of the report.
QUICK_METRICS: tuple[str, ...] = (
    "context_precision", "precision", "mrr", "list_ndcg", "graded_relevance", "sufficiency_hit",
    "sufficiency_rate", "misleading_rate", "recall(k=10)", "map", "ndcg(k=10)", "unjudged_rate",
    "context_recall", "evidence_recall", "context_utilization", "faithfulness",
    "expected_faithfulness", "grounding_presence", "unsupported_claim", "contradiction",
    "citation_presence", "citation_fabrication", "citation_precision", "citation_recall",
    "abstention", "proper_action", "on_topic", "helpfulness", "incompleteness", "unsafe_content",
    "criteria", "answer_outcome", "answer_coverage", "factual_accuracy", "exact_match", "token_f1",
    "rouge_l",
)  # fmt: skip

QUICK_SUITE = Suite(
    QUICK,
    "the default: what the data and the judges allow of these",
    QUICK_METRICS,
    conventions="a metric without a value, or of which over a tenth would be missing for want of "
    "a judge, is left out; one that was asked for by name is not",
)
