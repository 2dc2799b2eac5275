"""Aliases: names that other tools use for a metric, and what they mean here."""

from ragstone.reason import reason

from .core import BUILT_IN

ALIASES: dict[str, tuple[str, str]] = {
    "ragas_faithfulness": ("faithfulness", "supported claims over claims"),
    "hallucination_rate": ("hallucination", "1 - faithfulness, undefined without claims"),
    "context_relevancy": ("sentence_relevance", "relevant sentences over all of them"),
    "context_relevance": ("graded_relevance", "mean grade of the contexts"),
    "context_sentence_relevancy": ("sentence_relevance", "relevant sentences over all of them"),
    "answer_relevancy": ("answer_relevance", "cosine with questions generated from the answer"),
    "response_relevancy": ("answer_relevance", "cosine with questions generated from the answer"),
    "contextual_precision": ("context_precision", "average precision over the retriever's order"),
    "contextual_recall": ("context_recall", "reference statements that the contexts support"),
    "contextual_relevancy": ("sentence_relevance", "relevant sentences over all of them"),
    "answer_similarity": ("semantic_similarity", "cosine with the reference"),
    "answer_semantic_similarity": ("semantic_similarity", "cosine with the reference"),
    "embedding_answer_correctness": ("semantic_similarity", "cosine with the reference"),
    "question_answer_similarity": ("embedding_answer_relevance", "cosine of question and answer"),
    "topical_precision": ("precision", "relevant contexts in the top k over k"),
    "topical_precision_at_k": ("precision", "relevant contexts in the top k over k"),
    "precision_at_k": ("precision", "relevant contexts in the top k over k"),
    "recall_at_k": ("recall", "known relevant contexts in the top k"),
    "hit_rate": ("hit", "whether the top k hold a known relevant context"),
    "ndcg_at_k": ("ndcg", "exponential gain, ideal of the labelled list"),
    "mrr_at_k": ("mrr", "one over the first relevant rank"),
    "map_at_k": ("map", "average precision over all known relevant contexts"),
    "sufficiency_hit_at_k": ("sufficiency_hit", "any sufficient context in the top k"),
    "sufficiency_rate_at_k": ("sufficiency_rate", "sufficient contexts in the top k over k"),
    "misleading_context_rate": ("misleading_rate", "misleading contexts in the top k over k"),
    "misleading_context_rate_at_k": ("misleading_rate", "misleading contexts in the top k over k"),
    "support_present": ("grounding_presence", "answers with a supported claim"),
    "unsupported_claim_present": ("unsupported_claim", "answers with an unsupported claim"),
    "contradicted_claim_present": ("contradiction", "answers with a contradicted claim"),
    "source_cited": ("citation_presence", "answers that name a source"),
    "conditional_fabrication_rate": ("citation_fabrication", "of the answers that cite"),
    "fabricated_source": ("citation_fabrication", "of the answers that cite"),
    "response_on_topic": ("on_topic", "answers that are about what was asked"),
    "helpful": ("helpfulness", "answers that leave the user better off"),
    "incomplete": ("incompleteness", "answers in which something is not there"),
    "factual_accuracy_grade": ("factual_accuracy", "the letter stands beside the score"),
    "factual_accuracy_percentage": ("factual_accuracy", "from 0 to 1 here"),
    "correct_count": ("answer_outcome", "its label correct, counted"),
    "wrong_count": ("answer_outcome", "its label wrong, counted"),
    "dont_know_count": ("answer_outcome", "its label dont_know, counted"),
    "factual_correctness": ("answer_correctness(factual=1)", "F1 of claims and statements"),
    "bert_score": ("bertscore_f1", "greedy token matching"),
    "bert_score_f1": ("bertscore_f1", "greedy token matching"),
    "bert_score_precision": ("bertscore_precision", "greedy token matching"),
    "bert_score_recall": ("bertscore_recall", "greedy token matching"),
    "bertscore": ("bertscore_f1", "greedy token matching"),
    "rouge_1": ("token_f1", "the same number"),
    "rouge1": ("token_f1", "the same number"),
    "rouge2": ("rouge_2", "F1 over the bigrams"),
    "rougeL": ("rouge_l", "F1 of the longest common subsequence"),
    "em": ("exact_match", "after SQuAD normalisation"),
    "f1": ("token_f1", "over rouge-score's tokens"),
    "aspect_critique": ("critique", "majority of the votes on an aspect"),
}
"""Names that other tools use, each with the name of the metric here and a note."""


def alias_note(text: str) -> str | None:
    """A note on another tool's name for a metric, as a reason; None for any other name."""
    name = text.split("(")[0].strip()
    if name not in ALIASES or name in BUILT_IN:
        return None
    target, meaning = ALIASES[name]
    return reason("alias", alias=name, metric=target, meaning=meaning)
