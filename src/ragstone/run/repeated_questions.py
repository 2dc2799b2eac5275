"""Repeated questions: one question under several ids, whose rows are not independent.

Ids that a tool generated for every row hide that rows ask the same. Intervals and tests that treat
such rows as independent are too narrow: 200 rows of 20 questions hold the information of 20.
"""

from dataclasses import dataclass

import polars as pl

from ragstone.reason import reason

QUESTION = "question_id"
"""What is clustered by, unless the user says otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedQuestions:
    """The cluster of each row, and a note; None if ids and texts agree."""

    clusters: pl.Series
    note: str | None


def repeated_questions(ids: pl.Series, texts: pl.Series) -> RepeatedQuestions:
    """Put rows with the same question text in one cluster, whatever their ids.

    The cluster of an id is the first id whose question has its text. Where all questions read
    the same, the text is an instruction, such as to summarise, and ids stay what they are.

    Args:
        ids: Of each row's question, in any type.
        texts: Of each row what is asked, earlier turns included, as ``question_hashes`` has it;
            null where it is not known, and then the id alone counts.
    """
    frame = pl.DataFrame({"id": ids, "text": texts})
    known = frame.drop_nulls("text").unique("id", keep="first", maintain_order=True)
    count, of = known["id"].n_unique(), known["text"].n_unique()
    if count == of:
        return RepeatedQuestions(ids, None)
    if of == 1:
        return RepeatedQuestions(
            ids,
            reason("ids_ask_the_same", n=count),
        )
    first = known.select("id", first=pl.col("id").first().over("text"))
    joined = frame.join(first, on="id", how="left", maintain_order="left")
    clusters = joined.select(pl.coalesce("first", "id").alias(ids.name)).to_series()
    return RepeatedQuestions(
        clusters,
        reason("ids_share_questions", n=count, questions=of),
    )


def question_hashes(examples: pl.DataFrame) -> pl.Series:
    """A hash of each row's question, ignoring case and white space.

    Args:
        examples: With ``question`` and ``history``.
    """
    question = pl.col("question").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    both = pl.struct(question, "history").struct.json_encode().hash(seed=0)
    return examples.select(pl.when(question != "").then(both).alias("asked")).to_series()
