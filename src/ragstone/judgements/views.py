"""The views: one for each sort of unit that judgements are about, with its computed columns.

Columns that come from kinds are not listed here; they are added automatically, see ``View.take``.
"""

from collections.abc import Collection

import polars as pl

from ragstone.data.write_examples import SCHEMA

from .view import Fact, JudgementRows, View


class ExampleTexts(View):
    """One row per example: its texts, whether or not anything was judged."""

    alone = True

    id = Fact(pl.String, "of the example")
    question_id = Fact(pl.String, "of its question")
    system = Fact(pl.String, "which system answered")
    question = Fact(pl.String, "the question")
    answer = Fact(pl.String, "the answer; null if there is none")
    contexts = Fact(
        pl.List(pl.String), "the texts of the contexts in rank order; null without retrieval"
    )
    reference = Fact(pl.List(pl.String), "the reference answers")
    record = Fact(pl.Struct(SCHEMA), "all of it")

    @classmethod
    def reads(cls, needed: Collection[str]) -> frozenset[str]:
        return frozenset(SCHEMA if "record" in needed else needed)

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        frame = tables.examples.with_row_index("row")
        whole = [pl.struct(*SCHEMA).alias("record")] if "record" in needed else []
        texts = pl.col("contexts").list.eval(pl.element().struct.field("text"))
        columns = [name for name in cls.columns if name not in cls.taken and name != "record"]
        frame = frame.with_columns(*whole, contexts=texts)
        return cls.joined(frame.select("row", *columns, *(["record"] * len(whole))), tables, needed)


class Contexts(View):
    """One row per retrieved context, in rank order."""

    requires = ("contexts",)

    unit = "context"
    keys = ("rank",)

    rank = Fact(pl.UInt32, "1 is the first")
    context = Fact(pl.String, "its id")
    score = Fact(pl.Float64, "the retriever's")
    text = Fact(pl.String, "its text; null if only the id is known")
    weight = Fact(pl.Int32,
                  "2 sufficient, 1 relevant, 0 else; the grade where graded ids are what is known",
                  needs=("relevance",), made_of=("relevant", "sufficient"))  # fmt: skip
    listed = Fact(pl.Boolean, "its id is among those whose grade is known")
    known_grade = Fact(pl.Int32, "the grade known by its id; 0 where it is not listed")
    used = Fact(pl.Boolean, "a supported claim rests on it", needs=("claims", "support/claim"))

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        frame = (
            _exploded(tables, "contexts")
            .unnest("contexts")
            .select("row", pl.col("rank").cast(pl.UInt32), pl.col("id").alias("context"), "score",
                    "text")
        )  # fmt: skip
        weighed = ("relevant", "sufficient", "grade") if "weight" in needed else ()
        frame = cls.joined(frame, tables, {*needed, *weighed})
        if "weight" in needed:
            frame = frame.with_columns(weight=weight())
        if {"listed", "known_grade"} & set(needed):
            ids = _exploded(tables, "reference_contexts").unnest("reference_contexts")
            grade = pl.col("grade").cast(pl.Int32).alias("known_grade")
            listed = ids.select("row", grade, context="id", listed=True)
            frame = frame.join(listed, on=["row", "context"], how="left", maintain_order="left")
            frame = frame.with_columns(
                pl.col("listed").fill_null(value=False), pl.col("known_grade").fill_null(0)
            )
        return cls._with_used(tables, frame) if "used" in needed else frame

    @classmethod
    def _with_used(cls, tables: JudgementRows, frame: pl.DataFrame) -> pl.DataFrame:
        """Null for a context not known to be used if some supported claim names no evidence."""
        supported = tables.of("support/claim").filter(pl.col("verdict") == "supported")
        supported = supported.select("row", context="evidence")
        rests_on = supported.explode("context").unique().with_columns(_rests_on=True)
        silent = supported.filter(pl.col("context").is_null()).select("row").unique()
        silent = silent.with_columns(_silent=True)
        used = pl.when("_rests_on").then(True).when(pl.col("_silent").is_null()).then(False)
        return (
            frame.join(rests_on, on=["row", "context"], how="left", maintain_order="left")
            .join(silent, on="row", how="left", maintain_order="left")
            .with_columns(used=used)
            .drop("_rests_on", "_silent")
        )


def weight(relevant: pl.Expr | None = None, sufficient: pl.Expr | None = None) -> pl.Expr:
    """A context's weight for NDCG: 2 sufficient, 1 relevant, 0 else, null where unknown.

    Where only a grade is known, as from graded ids, the weight is the grade.
    """
    relevant = pl.col("relevant") if relevant is None else relevant
    sufficient = pl.col("sufficient") if sufficient is None else sufficient
    labelled = pl.when(sufficient).then(2).when(sufficient.not_()).then(relevant.cast(pl.Int32))
    return labelled.otherwise(pl.col("grade")).cast(pl.Int32)


class KnownContexts(View):
    """One row per context whose grade for this question is known, retrieved or not."""

    requires = ("contexts", "known_contexts")

    context = Fact(pl.String, "its id")
    grade = Fact(pl.Int32, "0 is not relevant")
    rank = Fact(pl.UInt32, "where it was retrieved; null where it was not")

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        known = _exploded(tables, "reference_contexts").unnest("reference_contexts")
        known = known.select("row", pl.col("id").alias("context"), pl.col("grade").cast(pl.Int32))
        ranks = Contexts.frame(tables, ()).group_by("row", "context").agg(pl.col("rank").min())
        return known.join(ranks, on=["row", "context"], how="left", maintain_order="left")


class Claims(View):
    """One row per claim of the answer."""

    made_by = ("claims",)
    requires = ("answer", "answer_text")
    unit = "claim"
    keys = ("index",)

    index = Fact(pl.UInt32, "position, from 0")
    text = Fact(pl.String, "the assertion")
    sentence = Fact(pl.UInt32, "the answer's sentence it comes from")
    cited = Fact(
        pl.List(pl.String), "ids of the contexts it, or its sentence, names", needs=("citations",)
    )
    markers = Fact(pl.UInt32, "its citation markers, or its sentence's", needs=("citations",))

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        frame = tables.of("claims").select("row", "index", "text", "sentence", "citations")
        frame = cls.joined(frame, tables, needed)
        if {"cited", "markers"} & set(needed):
            by_sentence = tables.of("citations").group_by("row", "sentence")
            cited = by_sentence.agg(cited=pl.col("context").drop_nulls(), markers=pl.len())
            citations, placed = pl.col("citations"), pl.when(pl.col("sentence").is_not_null())
            frame = frame.join(cited, on=["row", "sentence"], how="left").with_columns(
                cited=citations.list.drop_nulls().fill_null(
                    placed.then(pl.col("cited").fill_null([]))
                ),
                markers=citations.list.len().fill_null(placed.then(pl.col("markers").fill_null(0))),
            )
        return frame.drop("citations").sort("row", "index")


class Sentences(View):
    """One row per sentence of the answer that makes a claim."""

    made_by = ("claims",)
    requires = ("answer", "answer_text")

    sentence = Fact(pl.UInt32, "position in the answer")
    supported = Fact(pl.Boolean, "all its claims are", needs=("support/claim",))

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:  # noqa: ARG003
        supported = (pl.col("support") == "supported").all(ignore_nulls=False)
        sentences = Claims.frame(tables, ("support",)).group_by("row", "sentence")
        known = pl.when(pl.col("sentence").is_not_null()).then("supported")
        return sentences.agg(supported=supported).with_columns(known).sort("row", "sentence")


class ClaimsAgainstReferences(View):
    """One row per claim of the answer and reference."""

    made_by = ("claims",)
    requires = ("reference",)
    unit = "claim"
    keys = ("reference", "index")

    reference = Fact(pl.UInt32, "which reference")
    index = Fact(pl.UInt32, "which claim")
    on_relevant = Fact(pl.Boolean, "it is supported, by a relevant context among others",
                       needs=("support/claim", "relevance"))  # fmt: skip
    on_irrelevant = Fact(pl.Boolean, "it is supported, by irrelevant contexts alone",
                         needs=("support/claim", "relevance"))  # fmt: skip

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        references = _references(tables).drop("text")
        pairs = tables.of("claims").select("row", "index").join(references, on="row")
        if {"on_relevant", "on_irrelevant"} & set(needed):
            pairs = pairs.join(cls._sources(tables), on=["row", "index"], how="left")
        return cls.joined(pairs, tables, needed).sort("row", "reference", "index")

    @classmethod
    def _sources(cls, tables: JudgementRows) -> pl.DataFrame:
        """Null for a claim of which it is not known on what it rests, or if that is relevant."""
        claims = Claims.frame(tables, ("support", "evidence"))
        any_relevant = pl.col("relevant").any(ignore_nulls=False)
        contexts = Contexts.frame(tables, ("relevant",)).group_by("row", evidence="context")
        cited = claims.select("row", "index", "evidence").explode("evidence")
        cited = cited.join(contexts.agg(any_relevant), on=["row", "evidence"], how="left")
        rests_on = cited.group_by("row", "index").agg(any_relevant)
        supported, nothing = pl.col("support") == "supported", pl.col("evidence").list.len() == 0
        irrelevant = pl.col("relevant").not_()
        return claims.join(rests_on, on=["row", "index"], how="left").select(
            "row",
            "index",
            on_relevant=supported & pl.when(nothing).then(False).otherwise("relevant"),
            on_irrelevant=supported & pl.when(nothing).then(False).otherwise(irrelevant),
        )


class Statements(View):
    """One row per statement of a reference."""

    made_by = ("statements",)
    unit = "statement"
    keys = ("reference", "index")

    reference = Fact(pl.UInt32, "which reference")
    index = Fact(pl.UInt32, "position among its statements")
    text = Fact(pl.String, "the requirement")

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        frame = tables.of("statements").select("row", "reference", "index", "text")
        return cls.joined(frame, tables, needed).sort("row", "reference", "index")


class Evidence(View):
    """One row per piece of gold evidence."""

    requires = ("evidence",)
    unit = "evidence"
    keys = ("index",)

    index = Fact(pl.UInt32, "position, from 0")

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        return cls.joined(_positions(tables, "evidence"), tables, needed)


class Criteria(View):
    """One row per criterion of the example."""

    requires = ("criteria",)
    unit = "criterion"
    keys = ("index",)

    index = Fact(pl.UInt32, "position, from 0")

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        return cls.joined(_positions(tables, "criteria"), tables, needed)


class References(View):
    """One row per reference answer."""

    requires = ("answer", "reference")

    unit = "reference"
    keys = ("reference",)

    reference = Fact(pl.UInt32, "which reference")
    text = Fact(pl.String, "the reference answer")
    answer = Fact(pl.String, "the answer")

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        frame = _references(tables)
        if "answer" in needed:
            answers = tables.examples.with_row_index("row").select("row", "answer")
            frame = frame.join(answers, on="row", how="left", maintain_order="left")
        return cls.joined(frame if "text" in needed else frame.drop("text"), tables, needed)


class Answers(View):
    """One row per answer."""

    requires = ("answer",)
    alone = True

    text = Fact(pl.String, "the answer")

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        examples = tables.examples.with_row_index("row")
        frame = examples.filter(pl.col("answer").is_not_null()).select("row", text="answer")
        return cls.joined(frame, tables, needed)


class AnswerFacts(View):
    """One row per example: how its answer was made. What is not recorded is null."""

    alone = True

    latency = Fact(pl.Float64, "seconds until the answer was complete")
    first_token = Fact(pl.Float64, "seconds until its first token")
    input_tokens = Fact(pl.Float64, "tokens that the model read")
    output_tokens = Fact(pl.Float64, "tokens that it wrote")
    cost = Fact(pl.Float64, "US dollars")

    @classmethod
    def reads(cls, needed: Collection[str]) -> frozenset[str]:  # noqa: ARG003
        return frozenset({"meta", "slices"})

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        facts: dict[str, pl.Expr] = {}
        for name in sorted(needed):
            recorded = pl.coalesce(pl.col("meta", "slices").str.json_path_match(f"$.{name}"))
            number = recorded.cast(pl.Float64, strict=False)
            facts[name] = pl.when(number.is_finite() & (number >= 0)).then(number)
        return tables.examples.with_row_index("row").select("row", **facts)


class AnswerSentences(View):
    """One row per sentence of the answer, claims or not."""

    requires = ("answer", "answer_text")

    keys = ("index",)

    index = Fact(pl.UInt32, "position, from 0")
    text = Fact(pl.String, "the sentence", needs=("answer_sentences",))

    @classmethod
    def frame(cls, tables: JudgementRows, needed: Collection[str]) -> pl.DataFrame:
        empty = pl.DataFrame(schema={"row": pl.UInt32, "index": pl.UInt32})
        units_of_asks = [tables.of(ask).select("row", "index") for ask in sorted(cls.needs(needed))]
        units = pl.concat([empty, *units_of_asks]).unique().sort("row", "index")
        if "text" in needed:
            texts = tables.of("answer_sentences").select("row", "index", "text")
            units = units.join(texts, on=["row", "index"], how="left", maintain_order="left")
        return cls.joined(units, tables, needed)


def _exploded(tables: JudgementRows, column: str) -> pl.DataFrame:
    frame = tables.examples.with_row_index("row").select("row", column)
    return frame.explode(column, empty_as_null=False, keep_nulls=False)


def _positions(tables: JudgementRows, column: str) -> pl.DataFrame:
    position = pl.int_range(pl.len(), dtype=pl.UInt32).over("row")
    return _exploded(tables, column).select("row", index=position)


def _references(tables: JudgementRows) -> pl.DataFrame:
    return _exploded(tables, "reference").select(
        "row", reference=pl.int_range(pl.len(), dtype=pl.UInt32).over("row"), text="reference"
    )
