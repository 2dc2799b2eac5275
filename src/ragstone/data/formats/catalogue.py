"""The formats that can be read, each with a two-line example."""

# ruff: noqa: E501  (an example is a whole line of a file)

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name, what it is, the endings of its files, two lines of it.

    ``extensions`` is empty for a folder and for a layout, which is a set of
    field names that any kind of file may use.
    """

    name: str
    what: str
    extensions: tuple[str, ...]
    example: tuple[str, str]


def _layout(name: str, what: str, first: str, second: str) -> Format:
    return Format(name, what, (), (first, second))


def formats() -> list[Format]:
    """List kinds of files first, then the layouts of records in them."""
    return list(_FILES + _LAYOUTS)


_FILES = (
    Format(
        "jsonl",
        "JSON Lines, one record a line",
        (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
        (
            '{"question": "How long is the pier?", "contexts": ["The pier is 90 m."], "answer": "90 m."}',
            '{"question": "Who built it?", "contexts": [], "answer": "I do not know."}',
        ),
    ),
    Format(
        "json",
        "JSON: a list of records, alone or under results, data, examples, questions, test_cases",
        (".json", ".json.gz"),
        (
            '[{"question": "How long is the pier?", "answer": "90 m."},',
            ' {"question": "Who built it?", "answer": "I do not know."}]',
        ),
    ),
    Format(
        "csv",
        "CSV with a header; a list in a cell is JSON text",
        (".csv", ".csv.gz"),
        ("question,contexts,answer", 'How long is the pier?,"[""The pier is 90 m.""]",90 m.'),
    ),
    Format(
        "tsv",
        "as CSV, with tabs",
        (".tsv", ".tsv.gz"),
        ("question\tcontexts\tanswer", "How long is the pier?\tThe pier is 90 m.\t90 m."),
    ),
    Format(
        "parquet",
        "a Parquet table; lists as lists or as JSON text",
        (".parquet",),
        ("question: str, contexts: list[str], answer: str", "How long … | [The pier is …] | 90 m."),
    ),
    Format(
        "huggingface",
        "a Hugging Face dataset on disk; of several splits FOLDER/SPLIT",
        (),
        ("DATASET/state.json", "DATASET/data-00000-of-00001.arrow"),
    ),
    Format(
        "trec",
        "a TREC run with qrels, or a folder of runs and qrels; each run is a system",
        (".txt", ".run", ".trec", ".txt.gz"),
        ("run    q1 Q0 doc7 1 12.5 bm25", "qrels  q1 0 doc7 2"),
    ),
    Format(
        "beir",
        "a BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv, and runs beside them",
        (),
        (
            'corpus.jsonl     {"_id": "doc7", "title": "Pier", "text": "The pier is 90 m."}',
            "qrels/test.tsv   q1\tdoc7\t1",
        ),
    ),
)

_LAYOUTS = (
    _layout(
        "ragstone",
        "Ragstone's own field names, which many files have",
        '{"id": "q1-a", "system": "a", "question": "How long?", "contexts": [{"id": "d7", "text": "90 m."}], "answer": "90 m."}',
        '{"id": "q1-b", "system": "b", "question": "How long?", "contexts": null, "answer": "Long.", "labels": {"answer": {"helpful": 0}}}',
    ),
    _layout(
        "ragas",
        "Ragas 0.2 and later, single-turn and multi-turn",
        '{"user_input": "How long?", "retrieved_contexts": ["90 m."], "response": "90 m.", "reference": "90 m"}',
        '{"user_input": [{"type": "human", "content": "How long?"}, {"type": "ai", "content": "90 m."}], "reference": "90 m"}',
    ),
    _layout(
        "ragas-0.1",
        "Ragas 0.1",
        '{"question": "How long?", "contexts": ["90 m."], "answer": "90 m.", "ground_truth": "90 m"}',
        '{"question": "How wide?", "contexts": [], "answer": "Unknown.", "ground_truth": "4 m"}',
    ),
    _layout(
        "deepeval",
        "DeepEval test cases, in snake or camel case; context is gold evidence",
        '{"input": "How long?", "actual_output": "90 m.", "expected_output": "90 m", "retrieval_context": ["90 m."]}',
        '{"input": "How wide?", "actualOutput": "4 m.", "context": ["It is 4 m wide."]}',
    ),
    _layout(
        "reference-answer",
        "a list of question, reference_answer, answer and contexts",
        '{"question": "How long?", "reference_answer": "90 m", "answer": "90 m.", "contexts": ["90 m."]}',
        '{"question": "How wide?", "reference_answer": "4 m", "answer": "Unknown.", "contexts": []}',
    ),
    _layout(
        "graphrag-bench-questions",
        "GraphRAG-Bench questions; answer is the gold answer",
        '{"id": "n1", "source": "Novel-1", "question": "How long?", "answer": "90 m", "question_type": "Fact Retrieval", "evidence": "The pier is 90 m."}',
        '{"id": "n2", "source": "Novel-1", "question": "How wide?", "answer": "4 m", "question_type": "Fact Retrieval", "evidence": "It is 4 m; it was 3 m."}',
    ),
    _layout(
        "graphrag-bench-results",
        "GraphRAG-Bench results, as a list or under type1 to type4",
        '{"question": "How long?", "gold_answer": "90 m", "generated_answer": "90 m.", "context": "The pier is 90 m."}',
        '{"question": "How wide?", "gold_answer": "4 m", "generated_answer": "Wide.", "context": []}',
    ),
    _layout(
        "ragchecker",
        "RAGChecker input and result files; its claims stay in meta",
        '{"query_id": "1", "query": "How long?", "gt_answer": "90 m", "response": "90 m.", "retrieved_context": [{"doc_id": "d7", "text": "90 m."}]}',
        '{"query_id": "2", "query": "How wide?", "gt_answer": "4 m", "response": "Wide.", "retrieved_context": []}',
    ),
    _layout(
        "trulens",
        "a TruLens golden set",
        '{"query": "How long?", "expected_response": "90 m"}',
        '{"query": "How wide?", "expected_response": "4 m", "expected_chunks": ["It is 4 m wide."]}',
    ),
    _layout(
        "giskard",
        "a Giskard RAGET test set",
        '{"id": "g1", "question": "How long?", "reference_answer": "90 m", "reference_context": "The pier is 90 m.", "conversation_history": []}',
        '{"id": "g2", "question": "And wide?", "reference_answer": "4 m", "reference_context": "It is 4 m.", "conversation_history": [{"role": "user", "content": "How long?"}]}',
    ),
    _layout(
        "continuous-eval",
        "continuous-eval data",
        '{"question": "How long?", "retrieved_context": ["90 m."], "ground_truth_context": ["The pier is 90 m."], "answer": "90 m.", "ground_truth_answers": ["90 m"]}',
        '{"question": "How wide?", "retrieved_context": [], "ground_truth_context": [], "answer": "Wide.", "ground_truth_answers": ["4 m"]}',
    ),
    _layout(
        "llamaindex",
        "LlamaIndex evaluation results, alone or by evaluator, and responses with source_nodes",
        '{"query": "How long?", "contexts": ["90 m."], "response": "90 m.", "passing": true, "feedback": "YES", "score": 1.0}',
        '{"query": "How wide?", "response": "Wide.", "source_nodes": [{"node": {"id_": "n7", "text": "It is 4 m."}, "score": 0.8}]}',
    ),
    _layout(
        "haystack",
        "Haystack evaluation runs and their reports, and outputs of pipelines",
        '{"question": "How long?", "contexts": ["90 m."], "answer": "90 m", "predicted_answer": "90 m."}',
        '{"question": "How wide?", "retriever": {"documents": [{"id": "d7", "content": "It is 4 m."}]}, "llm": {"replies": ["4 m."]}}',
    ),
    _layout(
        "promptfoo",
        "results of promptfoo eval; the provider, with the prompt if it had several, is the system",
        '{"testIdx": 0, "promptIdx": 0, "provider": {"id": "openai:gpt-5"}, "prompt": {"label": "p"}, "vars": {"question": "How long?", "context": "90 m."}, "response": {"output": "90 m."}}',
        '{"testIdx": 0, "promptIdx": 1, "provider": {"id": "llama"}, "prompt": {"label": "p"}, "vars": {"question": "How long?", "expected": "90 m"}, "response": {"output": "Long."}}',
    ),
    _layout(
        "phoenix",
        "spans of Phoenix, one example a trace, and its tables of documents and answers",
        '{"context.span_id": "s1", "context.trace_id": "t1", "attributes.input.value": "How long?", "attributes.output.value": "90 m."}',
        '{"context.span_id": "s2", "context.trace_id": "t2", "attributes.input.value": "How wide?", "attributes.retrieval.documents": [{"document.content": "It is 4 m."}]}',
    ),
    _layout(
        "mlflow",
        "MLflow evaluation rows",
        '{"inputs": {"question": "How long?"}, "outputs": "90 m.", "expectations": {"expected_response": "90 m"}}',
        '{"inputs": {"question": "How wide?"}, "outputs": {"response": "Wide."}, "expectations": {"expected_facts": ["It is 4 m."]}}',
    ),
)
