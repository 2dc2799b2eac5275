"""Citing: do the cited sources support what the answer says?"""

import polars as pl

from ragstone.judgements import Claims

from .faithfulness import OverClaims
from .metric import share


def _backed() -> pl.Expr:
    shared = Claims.cited.list.set_intersection(Claims.evidence).list.len() > 0
    return (Claims.support == "supported") & shared


class OverCitations(OverClaims):
    """The base of the metrics that compare what a claim cites with what it rests on."""

    def settled(self) -> pl.Expr:
        """The evidence of a claim has to be known only if the claim is supported and cites a
        context.
        """
        needed = (Claims.support == "supported") & (Claims.cited.list.len() > 0)
        known = Claims.evidence.is_not_null() | ~needed
        judged = Claims.support.is_not_null() & Claims.cited.is_not_null()
        return (judged & Claims.markers.is_not_null() & known).all()


class CitationPrecision(OverCitations):
    """Over claims: share of the cited claims that a cited context supports.

        citation_precision = cited claims that a cited context supports / cited claims

    Not the citation precision of ALCE (Gao et al. 2023), of Liu et al. (2023) or of TREC, which
    count single citations.
    """

    name = "citation_precision"
    undefined = "no_cited_claim"

    def rule(self) -> pl.Expr:
        """A citation marker that refers to no context counts as cited and not supported."""
        cited = Claims.markers > 0
        return share((cited & _backed()).sum(), cited.sum())


class CitationRecall(OverCitations):
    """Over claims: share of the supported claims that cite a context supporting them.

        citation_recall = supported claims that are cited / supported claims

    Claims that nothing supports cost nothing here. In the citation recall of ALCE (Gao et al.
    2023), of Liu et al. (2023) and of TREC they do: those are over all sentences.
    """

    name = "citation_recall"
    undefined = "no_supported_claim"

    def rule(self) -> pl.Expr:
        return share(_backed().sum(), (Claims.support == "supported").sum())


class SourceAttribution(OverCitations):
    """Mean credit of the claims for showing where they come from.

    source_attribution = mean over the claims of
        1    a cited context supports it
        .6   a context supports it, but it is not the one cited, or none is
        .2   nothing supports it
    """

    name = "source_attribution"

    def rule(self) -> pl.Expr:
        credit = pl.when(_backed()).then(1.0).when(Claims.support == "supported").then(0.6)
        return credit.otherwise(0.2).mean()
