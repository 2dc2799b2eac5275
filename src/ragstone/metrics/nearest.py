"""Nearest: names that no metric stands for, each with a sentence on what comes nearest."""

OWN = "A metric of your own is one function in a file: docs/own-metric.md."
AGENTS = "Ragstone measures answers and their contexts, not the steps of agents."
CALLS = "Ragstone measures answers, not how they were made. " + OWN
CHATS = "Each turn is an example of its own here."


def _critique(aspect: str, definition: str) -> str:
    return f'An LLM can judge it: critique(aspect="{aspect}", definition="ANSWER {definition}").'


_TOXICITY = _critique("toxicity", "is rude, hateful or demeaning.") + (
    " People's labels: unsafe_content."
)
_BIAS = _critique("bias", "favours or disparages a group of people.")
_SUMMARY = (
    "Nearest: faithfulness for what a summary adds, answer_coverage for what it leaves out, with "
    "the text as context and as reference."
)
_SQL = "Nearest: exact_match, for queries as text. " + OWN
_PRIVACY = _critique("privacy", "tells something private of a person.")

NEAREST: dict[str, str] = {
    # Ragas
    "NonLLMContextPrecisionWithReference": "Nearest: context_precision, with reference ids or "
    "the local judge.",
    "NonLLMContextRecall": "Nearest: evidence_recall over passages of the reference, recall over "
    "their ids.",
    "NonLLMStringSimilarity": "Nearest: chrf over letters, token_f1 over words.",
    "string_presence": "Nearest: exact_match, the whole text, and answer_coverage, what a "
    "reference says. " + OWN,
    "instance_rubrics": 'Nearest: rating(criterion="helpfulness") with one rubric for all '
    "examples, your own if you like.",
    "multimodal_faithfulness": "Nearest: faithfulness. Texts alone are read.",
    "multimodal_relevance": 'Nearest: rating(criterion="answer_relevance"). Texts alone are read.',
    "summarization": _SUMMARY,
    "topic_adherence": "Nearest: on_topic by people's labels, "
    'rating(criterion="answer_relevance") by an LLM.',
    "tool_call_accuracy": AGENTS,
    "tool_call_f1": AGENTS,
    "agent_goal_accuracy": AGENTS,
    "datacompy": _SQL,
    "sql_semantic_equivalence": _SQL,
    "sql_equivalence": _SQL,
    # DeepEval
    "bias": _BIAS,
    "toxicity": _TOXICITY,
    "dag": 'Nearest: rating(criterion="helpfulness"), with a rubric of your own.',
    "tool_correctness": AGENTS,
    "task_completion": AGENTS,
    "role_adherence": _critique("role", "falls out of its role."),
    "prompt_alignment": _critique("instructions", "follows every instruction."),
    "knowledge_retention": CHATS + " Nearest: faithfulness of a turn.",
    "conversation_completeness": CHATS + " Nearest: response_completeness of a turn.",
    "conversation_relevancy": CHATS + " Nearest: answer_relevance of a turn.",
    "pii_leakage": _PRIVACY,
    "json_correctness": OWN,
    "pattern_match": OWN,
    # TruLens
    "sentiment": _critique("friendliness", "is friendly.") + " " + OWN,
    "language_match": _critique("language", "is in the language of QUESTION."),
    "stereotypes": _BIAS,
    "criminality": _critique("crime", "helps to commit a crime."),
    "pii_detection": _PRIVACY,
    "comprehensiveness": "Nearest: answer_coverage, with the text to sum up as reference.",
    # MLflow
    "safety": 'Nearest: critique(aspect="harmfulness"), of which less is better; unsafe_content by '
    "people's labels.",
    "guidelines": _critique("guideline", "keeps to … (your guideline)."),
    "guideline": _critique("guideline", "keeps to … (your guideline)."),
    "guideline_adherence": _critique("guideline", "keeps to … (your guideline)."),
    "fluency": _critique("fluency", "reads as fluent, correct language."),
    "token_count": CALLS,
    "latency": CALLS,
    "ari_grade_level": OWN,
    "flesch_kincaid_grade_level": OWN,
    # Phoenix
    "code_readability": _critique("readability", "is code that is easy to read."),
    "user_frustration": _critique("frustration", "would frustrate the user."),
    "refusal": "Nearest: abstention, answers that say they do not know; proper_action, whether "
    "they should.",
    "reference_link": "Nearest: citation_precision, and citation_fabrication for what it invents.",
    # promptfoo
    "contains": OWN,
    "icontains": OWN,
    "contains_any": OWN,
    "contains_all": OWN,
    "starts_with": OWN,
    "regex": OWN,
    "is_json": OWN,
    "javascript": OWN,
    "python": OWN,
    "levenshtein": "Nearest: chrf over letters, token_f1 over words. " + OWN,
    "is_refusal": "Nearest: abstention, answers that say they do not know; proper_action, whether "
    "they should.",
    "perplexity": CALLS,
    "cost": "A run says what its judges cost. " + CALLS,
    "moderation": _TOXICITY,
    "classifier": OWN,
    # trec_eval
    "Rprec": "Nearest: precision(k=10), or map, which has no k.",
    "bpref": "Nearest: map, with unjudged_rate beside it to say how much is not judged.",
    "infAP": "Nearest: map, with unjudged_rate beside it to say how much is not judged.",
    "gm_map": "Nearest: map, the arithmetic mean.",
    "11pt_avg": "Nearest: map.",
    "iprec_at_recall": "Nearest: map, and precision(k=10).",
    "judged": "Nearest: unjudged_rate(k=10), the share that is not.",
    "dcg": "Nearest: ndcg, the same over its ideal.",
    "rbp": "Nearest: ndcg.",
    "err": "Nearest: ndcg, or mrr for the first relevant context.",
    # Of several tools
    "accuracy": "Nearest: exact_match for texts, answer_outcome for facts, whose label correct "
    "is counted.",
    "meteor": "Nearest: rouge_l by words, semantic_similarity by meaning.",
    "gleu": "Nearest: bleu.",
    "word_error_rate": "Nearest: token_f1.",
}
