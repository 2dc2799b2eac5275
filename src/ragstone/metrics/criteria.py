"""Criteria: how far an answer meets what its example in particular asks of it."""

import polars as pl

from ragstone.judgements import Criteria

from .metric import Metric, Undefined


class CriteriaMet(Metric):
    """Share of the example's own criteria that the answer meets.

        criteria = criteria met / all criteria

    Each example lists its own criteria in the data, such as "mentions the deadline" or "does not
    name the customer". People or an LLM judge each of them, yes or no. Undefined without criteria.

    Source: the guidelines in the expectations of MLflow, the llm-rubric of promptfoo.
    """

    name = "criteria"
    family = "answer"
    over = Criteria
    empty = Undefined("no_criteria")

    def rule(self) -> pl.Expr:
        return Criteria.met.mean()
