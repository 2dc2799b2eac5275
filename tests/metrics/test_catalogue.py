"""What the catalogue says of every metric, name and suite, written out by hand."""

from math import inf

import pytest

from ragstone.judgements import ASKS
from ragstone.metrics import (
    QUICK,
    QUICK_METRICS,
    QUICK_SUITE,
    SUITES,
    Composite,
    Range,
    alias_note,
    metric_types,
    parse_metric,
)
from ragstone.report.reason_words import explain
from ragstone.testing import score_frame

SETTINGS = {
    'semantic_similarity(scale="clamped")': Range(0, 1),
    'semantic_similarity(scale="shifted")': Range(0, 1),
    'embedding_answer_relevance(scale="clamped")': Range(0, 1),
    'answer_relevance(scale="shifted", n=5)': Range(0, 1),
    "answer_relevance(n=5)": Range(-1, 1),
    "answer_correctness(threshold=0.5)": Range(0, 1, rate=True),
    "answer_outcome(classes=3)": Range(0, 1, rate=True),
    "stepped_faithfulness(steps=(0.3, 0.5))": Range(0, 0.5),
    "stepped_faithfulness(no_claims=1.0, steps=(0.3, 0.5))": Range(0, 1),
}
"""The ranges of metrics whose settings change it."""


@pytest.mark.parametrize("form", SETTINGS)
def test_a_setting_that_changes_the_scale_changes_the_range(form: str) -> None:
    assert parse_metric(form).range == SETTINGS[form]


RANGES = {"share": (0, 1, False), "rate": (0, 1, True), "cosine": (-1, 1, False),
          "count": (0, inf, False)}  # fmt: skip
"""Low end, high end, and whether there is nothing between."""

METRICS = """
retrieval  share+  context_precision     relevance                     no_contexts
retrieval  share+  precision             relevance                     0 empty_retrieval
retrieval  share+  precision_over_retrieved  relevance                 empty_retrieval
retrieval  share+  graded_relevance      relevance                     0 empty_retrieval
retrieval  share+  sentence_relevance    relevance                     0 empty_retrieval
retrieval  rate+   sufficiency_hit       relevance                     0 empty_retrieval
retrieval  share+  sufficiency_rate      relevance                     0 empty_retrieval
retrieval  share-  misleading_rate       relevance                     0 empty_retrieval
retrieval  share+  mrr                   relevance                     0 empty_retrieval
retrieval  share+  list_ndcg             relevance       0 empty_retrieval,ideal_dcg_zero
retrieval  share+  recall                -                             nothing_known_relevant
retrieval  rate+   hit                   -                             nothing_known_relevant
retrieval  share+  map                   -                             nothing_known_relevant
retrieval  share+  ndcg                  -                             nothing_known_relevant
retrieval  share0  unjudged_rate         -                             no_contexts
retrieval  share+  context_recall        statements,support            no_statements
retrieval  rate-   reference_contradiction  statements,support         no_statements
retrieval  share+  context_entity_recall   entities                    no_entities
retrieval  share+  evidence_recall       support                       no_evidence
retrieval  share+  context_utilization   claims,relevance,support      no_contexts
retrieval  cosine+ embedding_context_relevance    similarity           no_contexts
retrieval  share+  embedding_context_sufficiency  similarity           0 empty_retrieval
retrieval  cosine+ reference_similarity_max       similarity           no_contexts
grounding  share+  faithfulness          claims,support                no_claims
grounding  share+  expected_faithfulness claims,support                no_claims
grounding  share+  conversation_faithfulness  claims,conversation_support  no_claims
grounding  share+  stepped_faithfulness  claims,support                no_claims
grounding  share-  hallucination         claims,support                no_claims
grounding  share-  noise_sensitivity  claims,relevance,support,agreement  no_claims
grounding  share+  groundedness          claims,support                no_claims
grounding  rate+   grounding_presence    grounding                     no_answer
grounding  rate-   unsupported_claim     grounding                     no_answer
grounding  rate-   contradiction         grounding                     no_answer
grounding  rate+   citation_presence     grounding                     no_answer
grounding  rate-   citation_fabrication  grounding                     no_answer
grounding  share+  citation_precision    claims,citations,support      no_claims
grounding  share+  citation_recall       claims,citations,support      no_claims
grounding  share+  source_attribution    claims,citations,support      no_claims
grounding  share-  embedding_hallucination  similarity                 no_sentences
answer     cosine+ answer_relevance      probes,similarity             0
answer     share+  answer_relevance_rated   quality                    no_answer
answer     share+  response_completeness    quality                    no_answer
answer     cosine+ embedding_answer_relevance  similarity              no_answer
answer     rate+   proper_action         quality                       no_answer
answer     rate+   on_topic              quality                       no_answer
answer     rate+   helpfulness           quality                       no_answer
answer     rate-   incompleteness        quality                       no_answer
answer     rate-   unsafe_content        quality                       no_answer
answer     rate0   abstention            response                      no_answer
answer     rate0   refusal               response                      no_answer
answer     rate+   contains(text="a")    -                             no_answer
answer     rate+   regex(pattern="a")    -                             no_answer
answer     rate+   valid_json            -                             no_answer
answer     count0  word_count            -                             no_answer
answer     rate-   critique              critique                      no_votes
answer     share+  criteria              criteria                      no_criteria
answer     share+  rating                rating                        not_rated
answer     share+  win_rate              preference                    no_rival
reference  share+  answer_correctness    claims,statements,agreement,similarity  no_reference
reference  share+  factual_accuracy      claims,statements,agreement   no_claims
reference  share+  factual_accuracy_rated   rating                     not_rated
reference  share+  answer_outcome        response,claims,statements,agreement    no_answer
reference  share+  answer_coverage       statements,agreement          no_statements
reference  share+  nugget_score          statements,agreement          no_statements
reference  cosine+ semantic_similarity   similarity                    no_reference
reference  share+  semantic_similarity_cross_encoder  similarity       no_reference
reference  cosine+ bertscore_precision   similarity                    no_reference
reference  cosine+ bertscore_recall      similarity                    no_reference
reference  cosine+ bertscore_f1          similarity                    no_reference
reference  rate+   exact_match           lexical                       no_reference
reference  share+  token_f1              lexical                       no_reference
reference  share+  token_f1_set          lexical                       no_reference
reference  share+  rouge_2               lexical                       no_reference
reference  share+  rouge_l               lexical                       no_reference
reference  share+  squad_f1              squad_words                   no_reference
reference  rate+   contains_reference    -                             no_reference
reference  share+  bleu                  ngrams                        no_reference
reference  share+  chrf                  ngrams                        no_reference
facts      count-  latency               -                             not_recorded
facts      count-  first_token           -                             not_recorded
facts      count-  tokens                -                             not_recorded
facts      count-  cost                  -                             not_recorded
"""
"""Family, range and the better end, name, tables it needs, and what comes of no rows at all."""

LINES = [line.split(maxsplit=4) for line in METRICS.strip().splitlines()]


def test_every_metric_but_composites_has_its_line() -> None:
    plain = [name for name, kind in metric_types().items() if kind.family != "composite"]
    assert sorted(line[2].split("(")[0] for line in LINES) == sorted(plain)
    composites = {"composite", "ragas_score", "overall_weighted", "overall_simple",
                  "ragas_harmonic"}  # fmt: skip
    assert composites == set(metric_types()) - set(plain)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[2])
def test_a_metric_is_what_the_catalogue_says(line: list[str]) -> None:
    family, span, name, tables, nothing = line
    metric = parse_metric(name)
    assert str(metric) == name
    assert metric.name == name.split("(")[0]
    assert metric.family == family
    low, high, rate = RANGES[span[:-1]]
    assert (metric.range.low, metric.range.high, metric.range.rate) == (low, high, rate)
    assert metric.range.better == span[-1]
    wanted = dict.fromkeys(ASKS[ask].kind for ask in ASKS if ask in metric.asks)
    assert ",".join(wanted) == tables.strip("-")
    value, _, status, reason = score_frame(metric, [[]]).row(0)
    if nothing[0] == "0":
        assert (value, status, reason or "") == (0, 0, nothing[1:].strip())
    else:
        assert (value, status, reason) == (None, 1, nothing)


def test_an_old_name_with_parameters_has_its_note() -> None:
    note = "precision_at_k is precision here: relevant contexts in the top k over k."
    assert explain(alias_note("precision_at_k") or "") == note
    assert alias_note("precision_at_k (k=5)") == alias_note("precision_at_k")


RUBRIC = ("faithfulness", "answer_relevance", "context_precision", "context_recall",
          "answer_correctness", "response_completeness", "source_attribution")  # fmt: skip
ASPECTS = ("harmfulness", "maliciousness", "coherence", "correctness", "conciseness")

OF_SUITES = {
    "graphrag": """faithfulness(no_claims=1.0) precision context_recall answer_relevance
        ragas_score factual_accuracy(abstention=0.0) semantic_similarity(scale="clamped")
        bertscore_f1 answer_outcome""",
    "embedding": """embedding_context_relevance embedding_context_sufficiency
        embedding_answer_relevance semantic_similarity embedding_hallucination""",
    "taxonomy": """precision sufficiency_hit sufficiency_rate misleading_rate mrr list_ndcg
        grounding_presence unsupported_claim contradiction citation_presence citation_fabrication
        proper_action on_topic helpfulness incompleteness unsafe_content""",
    "triad": "graded_relevance groundedness answer_relevance_rated",
    "ragas": f"""faithfulness answer_relevance context_precision sentence_relevance context_recall
        semantic_similarity answer_correctness
        {" ".join(f'critique(aspect="{one}")' for one in ASPECTS)} ragas_harmonic""",
    "rubric": f"""{" ".join(f'rating(criterion="{one}")' for one in RUBRIC)}
        overall_weighted overall_simple graded_relevance(max_grade=2) context_recall""",
}


def test_a_suite_has_the_metrics_and_conventions_of_the_system_it_is_named_after() -> None:
    assert {name: " ".join(suite.names) for name, suite in SUITES.items()} == {
        name: " ".join(listed.split()) for name, listed in OF_SUITES.items()
    }
    for name, suite in SUITES.items():
        assert suite.name == name
        assert suite.metrics() == [parse_metric(text) for text in suite.names]
    # Only GraphRAG reports are in percent and by type, only these have bands.
    assert [name for name, suite in SUITES.items() if suite.percent] == ["graphrag"]
    assert {name: suite.by for name, suite in SUITES.items() if suite.by} == {
        "graphrag": ("question_type",)
    }
    assert [name for name, suite in SUITES.items() if suite.bands] == ["graphrag"]
    assert {name: len(suite.limits) for name, suite in SUITES.items() if suite.limits} == {
        "embedding": 5
    }
    for suite in SUITES.values():
        assert {one.metric for one in suite.bands} <= set(suite.names)
        assert {one.metric for one in suite.limits} <= set(suite.names)


def test_the_quick_suite_chooses_in_the_order_of_the_report() -> None:
    listed = """context_precision precision mrr list_ndcg graded_relevance sufficiency_hit
        sufficiency_rate misleading_rate recall(k=10) map
        ndcg(k=10) unjudged_rate context_recall evidence_recall
        context_utilization faithfulness expected_faithfulness grounding_presence unsupported_claim
        contradiction citation_presence citation_fabrication citation_precision citation_recall
        abstention proper_action on_topic helpfulness incompleteness unsafe_content criteria
        answer_outcome answer_coverage factual_accuracy exact_match token_f1 rouge_l"""
    assert [name.replace("&", " ") for name in listed.split()] == list(QUICK_METRICS)
    assert QUICK_SUITE.metrics() == [parse_metric(name) for name in QUICK_METRICS]
    assert QUICK_SUITE.name == QUICK == "quick"


SEVEN = {"faithfulness": 1.5, "answer_relevance": 1.5, "answer_correctness": 1.5,
         "context_precision": 1.0, "context_recall": 1.0, "response_completeness": 0.8,
         "source_attribution": 0.7}  # fmt: skip


def test_the_composites_of_suites_have_the_weights_of_their_sources() -> None:
    def terms(name: str) -> dict[str, float]:
        metric = parse_metric(name)
        assert isinstance(metric, Composite)
        return dict(metric.terms)

    assert terms("ragas_score") == {
        "faithfulness(no_claims=1.0)": 0.3, "precision": 0.2, "context_recall": 0.2,
        "answer_relevance": 0.3,
    }  # fmt: skip
    rated = {f'rating(criterion="{name}")': weight for name, weight in SEVEN.items()}
    assert terms("overall_weighted") == rated
    assert terms("overall_simple") == dict.fromkeys(rated, 1)
    assert terms("ragas_harmonic") == dict.fromkeys(
        ("faithfulness", "answer_relevance", "context_precision"), 1
    )
