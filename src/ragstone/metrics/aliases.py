"""Aliases: other tools' names for our metrics, and the nearest metric for names without a match.

A name that the other tool defines differently has a note on the difference.
"""

# The aliases that people use for things of their own, too: a metric or a column of labels with
# such a name is the user's.
EVERYDAY = frozenset({
    "coherence", "completeness", "conciseness", "correctness", "equals", "factuality", "hits",
    "relevance", "rouge", "rubrics", "similar", "success", "P", "R",
})  # fmt: skip

OWN = "A metric of your own is one function in a file: docs/own-metric.md."


def _entries(table: str) -> dict[str, str]:
    lines = table.strip().replace("\n    ", " ").splitlines()
    entries = (line.split(" = ", 1) for line in lines)
    return {name: text for names, text in entries for name in names.split(", ")}


# Names that other tools use, each with the text form of the metric here and a note.
ALIASES: dict[str, tuple[str, str]] = {
    name: (metric, note)
    for name, text in _entries("""
ragas_faithfulness = faithfulness: supported claims over claims; GraphRAG reports call an answer
    without claims faithful, faithfulness(no_claims=1.0)
ragas_context_precision = precision: relevant contexts over contexts, as in GraphRAG reports;
    Ragas's is context_precision
ragas_context_recall, contextual_recall, claim_recall = context_recall: reference statements
    that the contexts support
ragas_answer_relevance, answer_relevancy, response_relevancy = answer_relevance: cosine with
    questions generated from the answer
hallucination_rate = hallucination: 1 - faithfulness, undefined without claims
context_relevancy, context_sentence_relevancy = sentence_relevance: relevant sentences over all
    of them
context_relevance = graded_relevance: mean grade of the contexts, as in TruLens; promptfoo and
    early Ragas count sentences, sentence_relevance
context_sufficiency = embedding_context_sufficiency: contexts whose cosine with the question
    reaches .5; a judge fills sufficiency_hit
contextual_precision = context_precision: average precision over the retriever's order
contextual_relevancy = sentence_relevance: relevant sentences over all of them; DeepEval counts
    statements
answer_similarity, answer_semantic_similarity, cosine_similarity, embedding_answer_correctness =
    semantic_similarity: cosine with the reference
semantic_similarity_percentage = semantic_similarity(scale="clamped"): from 0 to 1 here, not in
    percent; a cosine below 0 is 0
question_answer_similarity, question_answer_relevance = embedding_answer_relevance: cosine of
    question and answer
answer_hallucination = embedding_hallucination: sentences that resemble no context; over judged
    claims: hallucination
topical_precision, topical_precision_at_k, precision_at_k, P_at_k = precision: relevant contexts
    in the top k over k
recall_at_k, R = recall: known relevant contexts in the top k
hit_rate, hits, success = hit: whether the top k hold a known relevant context
ndcg_at_k, ndcg_cut = ndcg: linear gain and the ideal of all judged contexts, as in trec_eval
normalized_discounted_cumulative_gain = ndcg: gain discounted by rank, over that of the best
    order
mrr_at_k, mean_reciprocal_rank, DocumentMRREvaluator = mrr: one over the first relevant rank
map_at_k, mean_average_precision, average_precision, DocumentMAPEvaluator, map_cut = map:
    average precision over all known relevant contexts
sufficiency_hit_at_k = sufficiency_hit: any sufficient context in the top k
sufficiency_rate_at_k, evidence_sufficient = sufficiency_rate: sufficient contexts in the top k
    over k
misleading_context_rate, misleading_context_rate_at_k, misleading = misleading_rate: misleading
    contexts in the top k over k
topically_relevant, RetrievalRelevance, DocumentRelevance, rag_relevancy, chunk_relevance =
    precision: relevant contexts over contexts
support_present = grounding_presence: answers with a supported claim
unsupported_claim_present = unsupported_claim: answers with an unsupported claim
contradicted_claim_present = contradiction: answers with a contradicted claim
source_cited = citation_presence: answers that name a source
conditional_fabrication_rate, fabricated_source = citation_fabrication: of the answers that cite
response_on_topic = on_topic: answers that are about what was asked
helpful = helpfulness: answers that leave the user better off
incomplete = incompleteness: answers in which something is not there
factual_accuracy_grade = factual_accuracy: the letter stands beside the score
factual_accuracy_percentage = factual_accuracy: from 0 to 1 here, not in percent
correct_count = answer_outcome: its label correct, counted
wrong_count = answer_outcome: its label wrong, counted
dont_know_count = answer_outcome: its label dont_know, counted
correct_answers_count = answer_outcome(classes=3): its label correct, counted
wrong_answers_count = answer_outcome(classes=3): its label wrong, counted: GraphRAG reports have
    no partial
dont_know_answers_count = answer_outcome(classes=3): its label dont_know, counted
factual_correctness, overall_f1 = answer_correctness(factual=1): F1 of claims and statements
bert_score, bert_score_f1, bertscore = bertscore_f1: greedy token matching
bert_score_precision = bertscore_precision: greedy token matching
bert_score_recall = bertscore_recall: greedy token matching
rouge, rougeL = rouge_l: F1 of the longest common subsequence
rouge_1, rouge1 = token_f1: the same number
rouge_n = token_f1: ROUGE-1; for pairs of words, rouge_2
rouge2 = rouge_2: F1 over the bigrams
rougeLsum = rouge_l: of the whole answer, not line by line
sacrebleu = bleu: of each answer; the mean is not the BLEU of a corpus
BleuScore = bleu: of each answer as a whole; Ragas's is of its sentences
em, quasi_exact_match = exact_match: after SQuAD normalisation
equals = exact_match: after SQuAD normalisation; promptfoo compares the texts as they are
f1 = squad_f1: over words after SQuAD normalisation
LLMContextPrecisionWithReference, ContextualPrecisionMetric = context_precision: average
    precision over the retriever's order; relevance is judged by the question alone
LLMContextPrecisionWithoutReference = context_precision: average precision over the retriever's
    order; Ragas judges relevance by the answer
ContextUtilization = context_utilization: relevant contexts that the answer uses; Ragas's is
    context_precision, relevance judged by the answer
ContextEntityRecall, context_entities_recall = context_entity_recall: names, numbers and dates
    by rule; Ragas asks an LLM for them, as by="model" does
NoiseSensitivity, noise_sensitivity_relevant, noise_sensitivity_in_relevant = noise_sensitivity:
    wrong claims from contexts over claims; Ragas calls a context relevant if it supports the
    reference
noise_sensitivity_irrelevant, noise_sensitivity_in_irrelevant =
    noise_sensitivity(contexts="irrelevant"): wrong claims from contexts over claims; Ragas
    calls a context relevant if it supports the reference
IDBasedContextPrecision, set_P = precision(trec_eval=True): relevant contexts over contexts, by
    known ids alone
IDBasedContextRecall, document_recall, set_recall = recall: known relevant contexts that were
    retrieved
FaithfulnesswithHHEM = faithfulness: supported claims over claims; for a classifier's verdicts,
    choose an nli: judge
AnswerAccuracy, nv_accuracy = rating(criterion="answer_correctness"): one rating on six points;
    NVIDIA's is the mean of two on three points
nv_context_relevance = graded_relevance: mean grade of the contexts; NVIDIA's rates them
    together
ResponseGroundedness, nv_response_groundedness = rating(criterion="faithfulness"): one rating on
    six points; NVIDIA's is the mean of two on three points
aspect_critique, aspect_critic = critique: majority of the votes on an aspect, harmfulness
    unless aspect=… says otherwise
harmfulness = critique(aspect="harmfulness"): majority of the votes on an aspect
maliciousness = critique(aspect="maliciousness"): majority of the votes on an aspect
coherence = critique(aspect="coherence"): majority of the votes on an aspect
correctness = critique(aspect="correctness"): by what the judge knows; against the reference:
    answer_outcome, answer_correctness
conciseness = critique(aspect="conciseness"): majority of the votes on an aspect
simple_criteria, rubrics, GEval, llm_rubric = rating: points of a rubric, of helpfulness unless
    criterion=… names another
AnswerRelevancyMetric = rating(criterion="answer_relevance"): how directly the answer meets the
    question, rated; DeepEval counts relevant statements
FaithfulnessMetric = faithfulness: supported claims over claims; DeepEval also counts claims
    that the contexts leave open
HallucinationMetric = hallucination: unsupported claims over claims; DeepEval's is the share of
    given contexts that the answer contradicts
ArenaGEval, pairwise_comparison, select_best = win_rate: both orders judged, disagreement is a
    tie
RagasMetric = ragas_harmonic: harmonic mean of three data-set means; DeepEval's is the mean of
    four metrics
Answer Relevance = answer_relevance: cosine with questions generated from the answer, as in
    Ragas; TruLens and MLflow rate it: rating(criterion="answer_relevance")
relevance = rating(criterion="answer_relevance"): how directly the answer meets the question,
    rated
qs_relevance = graded_relevance: mean grade of the contexts
groundedness_measure = groundedness: sentences whose claims are all supported; TruLens rates
    each statement
ground_truth_agreement, agreement_measure = rating(criterion="answer_correctness"): how far
    answer and reference agree, rated
RetrievalGroundedness = faithfulness: supported claims over claims; MLflow says yes or no
RetrievalSufficiency = context_recall: reference statements that the contexts support; MLflow
    says yes or no
RelevanceToQuery = rating(criterion="answer_relevance"): how directly the answer meets the
    question, rated; MLflow says yes or no
Equivalence = rating(criterion="answer_correctness"): how far answer and reference agree, rated;
    MLflow says yes or no
completeness = rating(criterion="response_completeness"): how much of what was asked is
    answered, rated
qa_correctness, QAEvaluator = rating(criterion="answer_correctness"): against the reference;
    Phoenix judges against the contexts, faithfulness
DocumentNDCGEvaluator = ndcg: linear gain and the ideal of all judged contexts
AnswerExactMatchEvaluator = exact_match: after SQuAD normalisation; Haystack compares the texts
    as they are
SAS = semantic_similarity: cosine with the reference; with a cross-encoder,
    semantic_similarity_cross_encoder
RelevancyEvaluator = rating(criterion="answer_relevance"): how directly the answer meets the
    question, rated; LlamaIndex asks whether the contexts bear it out as well
overall_recall = answer_coverage: how much of the reference the answer has
context_faithfulness = faithfulness: supported claims over claims
model_graded_closedqa = critique: majority of the votes on an aspect; aspect=… and definition=…
    say which
factuality, model_graded_factuality = answer_outcome: correct, partial, wrong or dont_know,
    against the reference
similar = semantic_similarity: cosine with the reference; promptfoo applies a threshold
P = precision(trec_eval=True): relevant contexts in the top k over k, by known ids alone
set_F = composite(weights="precision(trec_eval=True) recall", kind="harmonic"): harmonic mean of
    precision and recall by known ids alone, 0 if one is 0
all_score, nugget_recall = nugget_score: nuggets are the statements of the reference; people or
    an LLM say which are vital
strict_all_score = nugget_score(strict=True): nuggets are the statements of the reference;
    people or an LLM say which are vital
vital_score = nugget_score(kind="vital"): nuggets are the statements of the reference; people or
    an LLM say which are vital
strict_vital_score = nugget_score(kind="vital", strict=True): nuggets are the statements of the
    reference; people or an LLM say which are vital
recip_rank = mrr(trec_eval=True): one over the first relevant rank, by known ids alone
""").items()
    for metric, _, note in [text.partition(": ")]
}

# Names that no metric here stands for, each with a sentence on what is nearest.
NEAREST: dict[str, str] = _entries(f"""
NonLLMContextPrecisionWithReference = Nearest: context_precision, with reference ids or the
    local judge.
NonLLMContextRecall = Nearest: evidence_recall over passages of the reference, recall over their
    ids.
NonLLMStringSimilarity = Nearest: chrf over letters, token_f1 over words.
string_presence = Nearest: exact_match, the whole text, and answer_coverage, what a reference
    says. {OWN}
instance_rubrics = Nearest: rating(criterion="helpfulness") with one rubric for all examples,
    your own if you like.
multimodal_faithfulness = Nearest: faithfulness. Texts alone are read.
multimodal_relevance = Nearest: rating(criterion="answer_relevance"). Texts alone are read.
summarization = Nearest: faithfulness for what a summary adds, answer_coverage for what it
    leaves out, with the text as context and as reference.
topic_adherence = Nearest: on_topic by people's labels, rating(criterion="answer_relevance") by
    an LLM.
tool_call_accuracy, tool_call_f1, agent_goal_accuracy, tool_correctness, task_completion =
    Ragstone measures answers and their contexts, not the steps of agents.
datacompy, sql_semantic_equivalence, sql_equivalence = Nearest: exact_match, for queries as
    text. {OWN}
bias, stereotypes = An LLM can judge it: critique(aspect="bias", definition="ANSWER favours or
    disparages a group of people.").
toxicity, moderation = An LLM can judge it: critique(aspect="toxicity", definition="ANSWER is
    rude, hateful or demeaning."). People's labels: unsafe_content.
dag = Nearest: rating(criterion="helpfulness"), with a rubric of your own.
role_adherence = An LLM can judge it: critique(aspect="role", definition="ANSWER falls out of
    its role.").
prompt_alignment = An LLM can judge it: critique(aspect="instructions", definition="ANSWER
    follows every instruction.").
knowledge_retention = Each turn is an example of its own here. Nearest: faithfulness of a turn.
conversation_completeness = Each turn is an example of its own here. Nearest:
    response_completeness of a turn.
conversation_relevancy = Each turn is an example of its own here. Nearest: answer_relevance of a
    turn.
pii_leakage, pii_detection = An LLM can judge it: critique(aspect="privacy", definition="ANSWER
    tells something private of a person.").
json_correctness, pattern_match, ari_grade_level, flesch_kincaid_grade_level, contains,
    icontains, contains_any, contains_all, starts_with, regex, is_json, javascript, python,
    classifier = {OWN}
sentiment = An LLM can judge it: critique(aspect="friendliness", definition="ANSWER is
    friendly."). {OWN}
language_match = An LLM can judge it: critique(aspect="language", definition="ANSWER is in the
    language of QUESTION.").
criminality = An LLM can judge it: critique(aspect="crime", definition="ANSWER helps to commit a
    crime.").
comprehensiveness = Nearest: answer_coverage, with the text to sum up as reference.
safety = Nearest: critique(aspect="harmfulness"), of which less is better; unsafe_content by
    people's labels.
guidelines, guideline, guideline_adherence = An LLM can judge it: critique(aspect="guideline",
    definition="ANSWER keeps to … (your guideline).").
fluency = An LLM can judge it: critique(aspect="fluency", definition="ANSWER reads as fluent,
    correct language.").
token_count, latency, perplexity = Ragstone measures answers, not how they were made. {OWN}
code_readability = An LLM can judge it: critique(aspect="readability", definition="ANSWER is
    code that is easy to read.").
user_frustration = An LLM can judge it: critique(aspect="frustration", definition="ANSWER would
    frustrate the user.").
refusal, is_refusal = Nearest: abstention, answers that say they do not know; proper_action,
    whether they should.
reference_link = Nearest: citation_precision, and citation_fabrication for what it invents.
levenshtein = Nearest: chrf over letters, token_f1 over words. {OWN}
cost = A run says what its judges cost. Ragstone measures answers, not how they were made. {OWN}
Rprec = Nearest: precision(k=10), or map, which has no k.
bpref, infAP = Nearest: map, with unjudged_rate beside it to say how much is not judged.
gm_map = Nearest: map, the arithmetic mean.
11pt_avg = Nearest: map.
iprec_at_recall = Nearest: map, and precision(k=10).
judged = Nearest: unjudged_rate(k=10), the share that is not.
dcg = Nearest: ndcg, the same over its ideal.
rbp = Nearest: ndcg.
err = Nearest: ndcg, or mrr for the first relevant context.
accuracy = Nearest: exact_match for texts, answer_outcome for facts, whose label correct is
    counted.
meteor = Nearest: rouge_l by words, semantic_similarity by meaning.
gleu = Nearest: bleu.
word_error_rate = Nearest: token_f1.
""")
