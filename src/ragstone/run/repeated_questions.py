"""Repeated questions: one question under several ids, whose rows are not independent.

Ids that a tool generated for every row hide that rows ask the same. Intervals and tests that treat
such rows as independent are too narrow: 200 rows of 20 questions hold the information of 20.
"""

from dataclasses import dataclass

import polars as pl

from ragstone.core.messages import reason

from .distinct import first_of_each

QUESTION = "question_id"
"""What is clustered by, unless the user says otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedQuestions:
    """Ids whose question another id asked first, and a note; None if ids and texts agree.

    Args:
        later: ``id``, sorted, and ``first``, the first id with its text.
        note: What is remarked.
    """

    later: pl.DataFrame
    note: str | None

    def clusters(self, ids: pl.Series) -> pl.Series:
        """The cluster of each row, by the id of its question."""
        if self.later.is_empty():
            return ids
        place = self.later["id"].search_sorted(ids).clip(upper_bound=self.later.height - 1)
        found = self.later[place].with_columns(own=ids)
        first = pl.when(pl.col("id") == pl.col("own")).then("first").otherwise("own")
        return found.select(first.alias(ids.name)).to_series()


def repeated_questions(ids: pl.Series, texts: pl.Series) -> RepeatedQuestions:
    """Put rows with the same question text in one cluster, whatever their ids.

    The cluster of an id is the first id whose question has its text. Where all questions read
    the same, the text is an instruction, such as to summarise, and ids stay what they are.

    Args:
        ids: Of each row's question, in any type; of rows with one id the first that has a text
            will do.
        texts: Of each row what is asked, earlier turns included, as ``question_hash`` has it;
            null where it is not known, and then the id alone counts.
    """
    frame = pl.DataFrame({"id": ids, "text": texts})
    known = first_of_each(frame.drop_nulls("text"), "id")
    count, of = known.height, known["text"].n_unique()
    if count == of or of == 1:
        said = reason("ids_ask_the_same", n=count) if count > of else None
        return RepeatedQuestions(known.select("id", first="id").clear(), said)
    first = known.select("id", first=pl.col("id").first().over("text"))
    later = first.filter(pl.col("id") != pl.col("first")).sort("id")
    return RepeatedQuestions(later, reason("ids_share_questions", n=count, questions=of))


def question_hash() -> pl.Expr:
    """A hash of a row's ``question`` and ``history``, ignoring case and white space."""
    question = pl.col("question").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    both = pl.struct(question, "history").struct.json_encode().hash(seed=0)
    return pl.when(question != "").then(both).alias("asked")
