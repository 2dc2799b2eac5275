"""Unit views: everything the kinds say about one unit, side by side.

A view is what a metric sees. Each of its columns knows which asks it comes
from; so the judgements a metric needs follow from the columns it names.
"""

from collections.abc import Collection

import polars as pl

from .agreement import CLAIM_VERDICTS, STATEMENT_VERDICTS
from .preference import PREFERENCES
from .response import RESPONSE_TYPES
from .support import SUPPORT_VERDICTS
from .view import Fact, Said, View


class Contexts(View):
    """One row per retrieved context, in rank order."""

    requires = ("contexts",)

    rank = Fact(pl.UInt32, "1 is the first")
    context = Fact(pl.String, "its id")
    score = Fact(pl.Float64, "the retriever's")
    relevant = Fact(pl.Boolean, "it helps", needs=("relevance",))
    sufficient = Fact(pl.Boolean, "the question can be answered from it", needs=("relevance",))
    misleading = Fact(pl.Boolean, "it leads to a wrong answer", needs=("relevance",))
    grade = Fact(pl.Int32, "0 to 3, or as the graded ids say", needs=("relevance",))
    weight = Fact(
        pl.Int32,
        "2 sufficient, 1 relevant, 0 else; the grade where graded ids are what is known",
        needs=("relevance",),
    )
    listed = Fact(pl.Boolean, "its id is among those whose grade is known")
    sentences = Fact(pl.UInt32, "how many it has", needs=("relevance",))
    relevant_sentences = Fact(pl.List(pl.UInt32), "which of them help", needs=("relevance",))
    used = Fact(pl.Boolean, "a supported claim rests on it", needs=("claims", "support/claim"))
    question_similarity = Fact(
        pl.Float64, "cosine with the question", needs=("similarity/question_context",)
    )
    question_similarity_windows = Fact(
        pl.Float64,
        "the same, of its best window",
        needs=("similarity/question_context_windows",),
    )
    reference_similarity = Fact(
        pl.Float64, "best cosine with a reference", needs=("similarity/reference_context",)
    )
    reference_similarity_windows = Fact(
        pl.Float64,
        "the same, of its best window",
        needs=("similarity/reference_context_windows",),
    )

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:
        frame = (
            _exploded(tables, "contexts")
            .unnest("contexts")
            .select("row", pl.col("rank").cast(pl.UInt32), pl.col("id").alias("context"), "score")
        )
        if cls._any(wanted, "relevance"):
            relevance = tables.of("relevance").select(
                "row", "rank", "relevant", "sufficient", "misleading", "grade",
                "sentences", "relevant_sentences", weight=weight(),
            )  # fmt: skip
            frame = frame.join(relevance, on=["row", "rank"], how="left", maintain_order="left")
        if "listed" in wanted:
            ids = _exploded(tables, "reference_contexts").unnest("reference_contexts")
            listed = ids.select("row", pl.col("id").alias("context"), listed=True)
            frame = frame.join(
                listed, on=["row", "context"], how="left", maintain_order="left"
            ).with_columns(pl.col("listed").fill_null(value=False))
        if "used" in wanted:
            frame = cls._with_used(tables, frame)
        for ask, column in _similarities(cls, wanted).items():
            cosines = tables.of(ask).select("row", pl.col("value").alias(column), rank="index")
            frame = frame.join(cosines, on=["row", "rank"], how="left", maintain_order="left")
        return frame

    @classmethod
    def _with_used(cls, tables: Said, frame: pl.DataFrame) -> pl.DataFrame:
        """Unknown where some supported claim does not say what it rests on."""
        supported = (
            tables.of("support/claim")
            .filter(pl.col("verdict") == "supported")
            .select("row", context="evidence")
        )
        rests_on = supported.explode("context").unique().with_columns(_rests_on=True)
        silent = (
            supported.filter(pl.col("context").is_null())
            .select("row")
            .unique()
            .with_columns(_silent=True)
        )
        used = pl.when("_rests_on").then(True).when(pl.col("_silent").is_null()).then(False)
        return (
            frame.join(rests_on, on=["row", "context"], how="left", maintain_order="left")
            .join(silent, on="row", how="left", maintain_order="left")
            .with_columns(used=used)
            .drop("_rests_on", "_silent")
        )

    @classmethod
    def _any(cls, wanted: Collection[str], ask: str) -> bool:
        return any(ask in cls.columns[column].needs for column in wanted)


def weight(relevant: pl.Expr | None = None, sufficient: pl.Expr | None = None) -> pl.Expr:
    """A context's weight for NDCG: 2 sufficient, 1 relevant, 0 else, null where unknown.

    Where only a grade is known, as from graded ids, the weight is the grade.
    """
    relevant = pl.col("relevant") if relevant is None else relevant
    sufficient = pl.col("sufficient") if sufficient is None else sufficient
    return (
        pl.when(sufficient)
        .then(2)
        .when(sufficient.not_())
        .then(relevant.cast(pl.Int32))
        .otherwise(pl.col("grade"))
        .cast(pl.Int32)
    )


class KnownContexts(View):
    """One row per context whose grade for this question is known, retrieved or not."""

    requires = ("contexts", "known_contexts")

    context = Fact(pl.String, "its id")
    grade = Fact(pl.Int32, "0 is not relevant")
    rank = Fact(pl.UInt32, "where it was retrieved; null where it was not")

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        known = (
            _exploded(tables, "reference_contexts")
            .unnest("reference_contexts")
            .select("row", pl.col("id").alias("context"), pl.col("grade").cast(pl.Int32))
        )
        ranks = Contexts.frame(tables, ()).group_by("row", "context").agg(pl.col("rank").min())
        return known.join(ranks, on=["row", "context"], how="left", maintain_order="left")


class Claims(View):
    """One row per claim of the answer."""

    made_by = ("claims",)
    requires = ("answer", "answer_text")

    index = Fact(pl.UInt32, "position, from 0")
    text = Fact(pl.String, "the assertion")
    sentence = Fact(pl.UInt32, "the answer's sentence it comes from")
    support = Fact(pl.Enum(SUPPORT_VERDICTS), "what the contexts say", needs=("support/claim",))
    probability = Fact(pl.Float64, "that it is supported", needs=("support/claim",))
    evidence = Fact(pl.List(pl.String), "ids of the contexts it rests on", needs=("support/claim",))
    cited = Fact(
        pl.List(pl.String), "ids of the contexts it, or its sentence, names", needs=("citations",)
    )
    markers = Fact(pl.UInt32, "its citation markers, or its sentence's", needs=("citations",))

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:
        frame = tables.of("claims").select("row", "index", "text", "sentence", "citations")
        if {"support", "probability", "evidence"} & set(wanted):
            support = tables.of("support/claim").select(
                "row", "index", "probability", "evidence", support="verdict"
            )
            frame = frame.join(support, on=["row", "index"], how="left")
        if {"cited", "markers"} & set(wanted):
            cited = (
                tables.of("citations")
                .group_by("row", "sentence")
                .agg(pl.col("context").drop_nulls().alias("cited"), markers=pl.len())
            )
            own, placed = pl.col("citations"), pl.when(pl.col("sentence").is_not_null())
            frame = frame.join(cited, on=["row", "sentence"], how="left").with_columns(
                cited=own.list.drop_nulls().fill_null(placed.then(pl.col("cited").fill_null([]))),
                markers=own.list.len().fill_null(placed.then(pl.col("markers").fill_null(0))),
            )
        return frame.drop("citations").sort("row", "index")


class Sentences(View):
    """One row per sentence of the answer that makes a claim."""

    made_by = ("claims",)
    requires = ("answer", "answer_text")

    sentence = Fact(pl.UInt32, "position in the answer")
    supported = Fact(pl.Boolean, "all its claims are", needs=("support/claim",))

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return (
            Claims.frame(tables, ("support",))
            .group_by("row", "sentence")
            .agg(supported=(pl.col("support") == "supported").all(ignore_nulls=False))
            .with_columns(pl.when(pl.col("sentence").is_not_null()).then("supported"))
            .sort("row", "sentence")
        )


class ClaimsAgainstReferences(View):
    """One row per claim of the answer and reference."""

    made_by = ("claims",)
    requires = ("reference",)

    reference = Fact(pl.UInt32, "which reference")
    index = Fact(pl.UInt32, "which claim")
    agreement = Fact(pl.Enum(CLAIM_VERDICTS), "what the reference says", needs=("agreement/claim",))

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        said = tables.of("agreement/claim").select(
            "row", "reference", "index", agreement=pl.col("verdict").cast(pl.String)
        )
        return (
            tables.of("claims")
            .select("row", "index")
            .join(_references(tables), on="row")
            .join(said, on=["row", "reference", "index"], how="left")
            .with_columns(pl.col("agreement").cast(pl.Enum(CLAIM_VERDICTS)))
            .sort("row", "reference", "index")
        )


class Statements(View):
    """One row per statement of a reference."""

    made_by = ("statements",)

    reference = Fact(pl.UInt32, "which reference")
    index = Fact(pl.UInt32, "position among its statements")
    text = Fact(pl.String, "the requirement")
    support = Fact(pl.Enum(SUPPORT_VERDICTS), "what the contexts say", needs=("support/statement",))
    probability = Fact(pl.Float64, "that it is supported", needs=("support/statement",))
    agreement = Fact(
        pl.Enum(STATEMENT_VERDICTS), "what the answer says", needs=("agreement/statement",)
    )

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:
        keys = ["row", "reference", "index"]
        frame = tables.of("statements").select(*keys, "text")
        if {"support", "probability"} & set(wanted):
            support = tables.of("support/statement").select(*keys, "probability", support="verdict")
            frame = frame.join(support, on=keys, how="left")
        if "agreement" in wanted:
            said = tables.of("agreement/statement").select(
                *keys,
                agreement=pl.col("verdict").cast(pl.String).cast(pl.Enum(STATEMENT_VERDICTS)),
            )
            frame = frame.join(said, on=keys, how="left")
        return frame.sort(keys)


class Evidence(View):
    """One row per piece of gold evidence."""

    requires = ("evidence",)

    index = Fact(pl.UInt32, "position, from 0")
    support = Fact(pl.Enum(SUPPORT_VERDICTS), "what the contexts say", needs=("support/evidence",))

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        support = tables.of("support/evidence").select("row", "index", support="verdict")
        return (
            _exploded(tables, "evidence")
            .select("row", index=pl.int_range(pl.len(), dtype=pl.UInt32).over("row"))
            .join(support, on=["row", "index"], how="left", maintain_order="left")
        )


class References(View):
    """One row per reference answer."""

    requires = ("answer", "reference")

    reference = Fact(pl.UInt32, "which reference")
    exact_match = Fact(pl.Float64, "1 if equal after SQuAD normalisation", needs=("lexical",))
    token_f1 = Fact(pl.Float64, "F1 over the tokens", needs=("lexical",))
    token_f1_set = Fact(pl.Float64, "F1 over the distinct tokens", needs=("lexical",))
    rouge_2 = Fact(pl.Float64, "F1 over the bigrams", needs=("lexical",))
    rouge_l = Fact(pl.Float64, "F1 of the longest common subsequence", needs=("lexical",))
    similarity = Fact(pl.Float64, "cosine with the answer", needs=("similarity/answer_reference",))
    cross_encoder = Fact(
        pl.Float64, "a cross-encoder's score", needs=("similarity/answer_reference_cross_encoder",)
    )
    bertscore_precision = Fact(
        pl.Float64, "greedy matching of tokens", needs=("similarity/bertscore_precision",)
    )
    bertscore_recall = Fact(
        pl.Float64, "greedy matching of tokens", needs=("similarity/bertscore_recall",)
    )
    bertscore_f1 = Fact(pl.Float64, "greedy matching of tokens", needs=("similarity/bertscore_f1",))

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:
        frame = _references(tables)
        keys = ["row", "reference"]
        asks = cls.needs(set(wanted) & set(cls.columns))
        if "lexical" in asks:
            frame = frame.join(
                tables.of("lexical").drop("subject", "judge", "reason", strict=False),
                on=keys, how="left", maintain_order="left",
            )  # fmt: skip
        for ask, column in _similarities(cls, wanted).items():
            said = tables.of(ask).select("row", pl.col("value").alias(column), reference="index")
            frame = frame.join(said, on=keys, how="left", maintain_order="left")
        return frame


class Answers(View):
    """One row per answer."""

    requires = ("answer",)

    response_type = Fact(pl.Enum(RESPONSE_TYPES), "what kind of reply it is", needs=("response",))
    phrases_8 = Fact(pl.Boolean, "one of eight phrases occurs", needs=("phrases",))
    phrases_12 = Fact(pl.Boolean, "one of twelve phrases occurs", needs=("phrases",))
    support_present = Fact(pl.Boolean, "some claim is supported", needs=("grounding/support",))
    unsupported_claim_present = Fact(
        pl.Boolean, "some claim is absent or contradicted", needs=("grounding/support",)
    )
    contradicted_claim_present = Fact(
        pl.Boolean, "some claim is contradicted", needs=("grounding/support",)
    )
    source_cited = Fact(pl.Boolean, "it names a source", needs=("grounding/citation",))
    fabricated_source = Fact(
        pl.Boolean, "it names a source that was not retrieved", needs=("grounding/citation",)
    )
    parts = Fact(pl.UInt32, "parts of the question", needs=("quality",))
    parts_answered = Fact(pl.UInt32, "parts answered", needs=("quality",))
    directness = Fact(pl.Float64, "0 to 1", needs=("quality",))
    focus = Fact(pl.Float64, "0 to 1", needs=("quality",))
    consistency = Fact(pl.Float64, "0 to 1", needs=("quality",))
    proper_action = Fact(pl.Boolean, "as it should", needs=("quality",))
    response_on_topic = Fact(pl.Boolean, "about what was asked", needs=("quality",))
    helpful = Fact(pl.Boolean, "the user is better off", needs=("quality",))
    incomplete = Fact(pl.Boolean, "something is not there", needs=("quality",))
    unsafe_content = Fact(pl.Boolean, "may do harm", needs=("quality",))
    question_similarity = Fact(
        pl.Float64, "cosine with the question", needs=("similarity/question_answer",)
    )

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:
        frame = _rows(tables).filter(pl.col("answer").is_not_null()).select("row")
        similarities = _similarities(cls, wanted)
        for ask in sorted(cls.needs(wanted)):
            if ask in similarities:
                said = tables.of(ask).select("row", pl.col("value").alias(similarities[ask]))
            else:
                own = [name for name, fact in cls.columns.items() if fact.needs == (ask,)]
                said = tables.of(ask).select("row", *own)
            frame = frame.join(said, on="row", how="left", maintain_order="left")
        return frame


class AnswerSentences(View):
    """One row per sentence of the answer, claims or not."""

    requires = ("answer", "answer_text")

    index = Fact(pl.UInt32, "position, from 0")
    similarity = Fact(
        pl.Float64, "best cosine with a context", needs=("similarity/sentence_context",)
    )
    similarity_windows = Fact(
        pl.Float64,
        "best cosine with a window of a context",
        needs=("similarity/sentence_context_windows",),
    )

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:
        said = {
            column: tables.of(ask).select("row", "index", pl.col("value").alias(column))
            for ask, column in _similarities(cls, wanted).items()
        }
        keys = [one.select("row", "index") for one in said.values()]
        empty = pl.DataFrame(schema={"row": pl.UInt32, "index": pl.UInt32})
        frame = pl.concat([empty, *keys]).unique().sort("row", "index")
        for one in said.values():
            frame = frame.join(one, on=["row", "index"], how="left", maintain_order="left")
        return frame


class Probes(View):
    """One row per question generated from the answer."""

    made_by = ("probes",)

    index = Fact(pl.UInt32, "position, from 0")
    text = Fact(pl.String, "the generated question")
    similarity = Fact(pl.Float64, "cosine with the question", needs=("similarity/question_probe",))
    noncommittal = Fact(pl.Boolean, "the answer evades")

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:
        frame = tables.of("probes").select("row", "index", "text", "noncommittal")
        for ask, column in _similarities(cls, wanted).items():
            said = tables.of(ask).select("row", "index", pl.col("value").alias(column))
            frame = frame.join(said, on=["row", "index"], how="left", maintain_order="left")
        return frame


class Ratings(View):
    """One row per criterion an answer was rated on."""

    made_by = ("rating",)

    criterion = Fact(pl.String, "what is rated")
    score = Fact(pl.Float64, "0 to 1")

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return tables.of("rating").select("row", "criterion", "score")


class Votes(View):
    """One row per aspect and vote."""

    made_by = ("critique",)

    aspect = Fact(pl.String, "what is asked")
    index = Fact(pl.UInt32, "which vote, from 0")
    verdict = Fact(pl.Boolean, "yes or no; null where it could not be read")

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return tables.of("critique").select("row", "aspect", "index", "verdict")


class Preferences(View):
    """One row per rival."""

    made_by = ("preference",)

    rival = Fact(pl.String, "the system compared with")
    first = Fact(pl.Enum(PREFERENCES), "for this answer, shown first")
    second = Fact(pl.Enum(PREFERENCES), "for this answer, shown second")

    @classmethod
    def frame(cls, tables: Said, wanted: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        return (
            tables.of("preference")
            .group_by("row", "rival", maintain_order=True)
            .agg(
                first=pl.col("verdict").filter(pl.col("order") == 0).first(),
                second=pl.col("verdict").filter(pl.col("order") == 1).first(),
            )
        )


def _similarities(view: type[View], wanted: Collection[str]) -> dict[str, str]:
    """The wanted columns that are a similarity each, by the ask they come from."""
    return {
        ask: column
        for column, fact in view.columns.items()
        for ask in fact.needs
        if column in wanted and ask.startswith("similarity/")
    }


def _rows(tables: Said) -> pl.DataFrame:
    return tables.examples.with_row_index("row")


def _exploded(tables: Said, column: str) -> pl.DataFrame:
    frame = _rows(tables).select("row", column)
    return frame.explode(column, empty_as_null=False, keep_nulls=False)


def _references(tables: Said) -> pl.DataFrame:
    return _exploded(tables, "reference").select(
        "row", reference=pl.int_range(pl.len(), dtype=pl.UInt32).over("row")
    )
