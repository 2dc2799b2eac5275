"""Citation precision, recall and attribution."""

import pytest

from ragstone.metrics import Missing, Score, Undefined, parse_metric
from ragstone.testing import claims, score_one

Claim = tuple[str | None, list[str] | None, list[str] | None, int | None]

BACKED: Claim = ("supported", ["1"], ["1", "2"], 2)
CITES_ANOTHER: Claim = ("supported", ["1"], ["2"], 1)
CITES_NOTHING: Claim = ("supported", ["1"], [], 0)
FABRICATED: Claim = ("absent", [], [], 1)
UNSUPPORTED: Claim = ("absent", [], [], 0)


def scored(name: str, *given: Claim) -> Score:
    names = ("support", "evidence", "cited", "markers")
    columns = {column: [claim[place] for claim in given] for place, column in enumerate(names)}
    return score_one(parse_metric(name), claims(**columns))


@pytest.mark.parametrize(
    ("given", "precision", "recall", "attribution"),
    [
        ([BACKED], 1, 1, 1),
        ([BACKED, CITES_ANOTHER], 1 / 2, 1 / 2, (1 + 0.6) / 2),
        ([BACKED, CITES_NOTHING], 1, 1 / 2, (1 + 0.6) / 2),
        ([BACKED, FABRICATED], 1 / 2, 1, (1 + 0.2) / 2),
        ([BACKED, UNSUPPORTED, UNSUPPORTED], 1, 1, (1 + 0.2 + 0.2) / 3),
        ([CITES_ANOTHER], 0, 0, 0.6),
    ],
)
def test_cited_claims_count_if_a_cited_context_carries_them(
    given: list[Claim], precision: float, recall: float, attribution: float
) -> None:
    assert scored("citation_precision", *given) == pytest.approx(precision)
    assert scored("citation_recall", *given) == pytest.approx(recall)
    assert scored("source_attribution", *given) == pytest.approx(attribution)


def test_without_citations_there_is_no_precision_and_without_support_no_recall() -> None:
    assert scored("citation_precision", CITES_NOTHING) == Undefined("no_cited_claim")
    assert scored("citation_recall", FABRICATED) == Undefined("no_supported_claim")
    for name in ("citation_precision", "citation_recall", "source_attribution"):
        assert scored(name) == Undefined("no_claims")


def test_where_a_claim_rests_is_needed_only_where_it_is_supported_and_cites() -> None:
    nowhere: Claim = ("supported", None, [], 0)
    assert scored("citation_precision", BACKED, nowhere) == 1
    assert scored("citation_recall", BACKED, nowhere) == 1 / 2
    assert scored("source_attribution", BACKED, nowhere) == (1 + 0.6) / 2
    assert scored("citation_recall", BACKED, ("absent", None, ["1"], 1)) == 1
    assert scored("citation_recall", BACKED, (None, [], [], 0)) == Missing("incomplete_judgement")


def test_support_that_does_not_say_where_makes_citing_missing() -> None:
    somewhere: Claim = ("supported", None, ["1"], 1)
    unplaced: Claim = ("supported", ["1"], None, None)
    for claim in (somewhere, unplaced):
        for name in ("citation_precision", "citation_recall", "source_attribution"):
            assert scored(name, BACKED, claim) == Missing("incomplete_judgement")
