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
        "JSON: a list of records, alone or under a name such as results, data or examples",
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
        "a Hugging Face dataset on disk; with several splits, FOLDER/SPLIT",
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
        "MLflow's evaluation rows, and its traces as JSON",
        '{"inputs": {"question": "How long?"}, "outputs": "90 m.", "expectations": {"expected_response": "90 m"}}',
        '{"inputs": {"question": "How wide?"}, "outputs": {"response": "Wide."}, "expectations": {"expected_facts": ["It is 4 m."]}}',
    ),
    _layout(
        "langsmith",
        "rows of LangSmith's experiments and data sets, and its runs with their children",
        '{"inputs": {"question": "How long?"}, "outputs": {"answer": "90 m.", "documents": [{"page_content": "It is 90 m."}]}, "reference_outputs": {"answer": "90 m"}}',
        '{"inputs": {"question": "How wide?"}, "outputs": {"answer": "Wide."}, "reference_outputs": {"answer": "4 m"}}',
    ),
    _layout(
        "langfuse",
        "Langfuse traces with their observations, or observations alone",
        '{"id": "o1", "traceId": "t1", "type": "SPAN", "input": {"question": "How long?"}, "output": "90 m."}',
        '{"id": "o2", "traceId": "t2", "type": "SPAN", "input": {"question": "How wide?"}, "output": "4 m."}',
    ),
    _layout(
        "otlp",
        "spans of OpenTelemetry as JSON, one batch per line, as the Collector writes them",
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "rag", "startTimeUnixNano": "1790000000000000000", "endTimeUnixNano": "1790000001000000000", "attributes": [{"key": "input.value", "value": {"stringValue": "How long?"}}, {"key": "output.value", "value": {"stringValue": "90 m."}}]}]}]}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "00000000000000000000000000000002", "spanId": "0000000000000002", "name": "rag", "startTimeUnixNano": "1790000000000000000", "endTimeUnixNano": "1790000001000000000", "attributes": [{"key": "input.value", "value": {"stringValue": "How long?"}}, {"key": "output.value", "value": {"stringValue": "90 m."}}]}]}]}]}',
    ),
    _layout(
        "chat",
        "requests to chat models, with or without the reply; results of tools are contexts",
        '{"messages": [{"role": "user", "content": "How long?"}, {"role": "tool", "name": "search", "content": "It is 90 m."}, {"role": "assistant", "content": "90 m."}]}',
        '{"contents": [{"role": "user", "parts": [{"text": "How wide?"}]}], "candidates": [{"content": {"parts": [{"text": "4 m."}]}}]}',
    ),
    _layout(
        "inputs-and-outputs",
        "logs whose input and output are objects: of Langfuse, Opik, OpenAI, Anthropic, Bedrock",
        '{"input": {"question": "How long?"}, "output": {"answer": "90 m.", "contexts": ["It is 90 m."]}}',
        '{"request": {"messages": [{"role": "user", "content": "How wide?"}]}, "response": {"choices": [{"message": {"content": "4 m."}}]}}',
    ),
    _layout(
        "bedrock",
        "Bedrock's evaluations of knowledge bases, with answers that you bring",
        '{"conversationTurns": [{"prompt": {"content": [{"text": "How long?"}]}, "output": {"text": "90 m."}}]}',
        '{"conversationTurns": [{"prompt": {"content": [{"text": "How wide?"}]}, "output": {"text": "4 m.", "retrievedPassages": {"retrievalResults": [{"content": {"text": "It is 4 m."}}]}}}]}',
    ),
    _layout(
        "trulens-records",
        "tables of TruLens records, with their calls",
        '{"app_name": "rag", "input": "How long?", "output": "90 m.", "record_json": "{\\"calls\\": []}"}',
        '{"app_name": "rag", "input": "How wide?", "output": "4 m.", "record_json": "{\\"calls\\": []}"}',
    ),
    _layout(
        "retrievalqa",
        "results of LangChain's RetrievalQA",
        '{"query": "How long?", "result": "90 m.", "source_documents": [{"page_content": "It is 90 m."}]}',
        '{"query": "How wide?", "result": "4 m.", "source_documents": []}',
    ),
    _layout(
        "autorag",
        "AutoRAG's questions; ids in any of several lists are relevant",
        '{"qid": "q1", "query": "How long?", "retrieval_gt": [["d7"]], "generation_gt": ["90 m"]}',
        '{"qid": "q2", "query": "How wide?", "retrieval_gt": [["d8"]], "generation_gt": ["4 m"]}',
    ),
    _layout(
        "yourbench",
        "YourBench's questions; citations are evidence",
        '{"question": "How long?", "self_answer": "90 m", "citations": ["It is 90 m."]}',
        '{"question": "How wide?", "self_answer": "4 m", "citations": ["It is 4 m."]}',
    ),
    _layout(
        "flowise",
        "Flowise's replies; a chat is a session",
        '{"question": "How long?", "text": "90 m.", "chatId": "c1"}',
        '{"question": "How wide?", "text": "4 m.", "chatId": "c1"}',
    ),
    _layout(
        "crag",
        "CRAG's questions; answers are references, snippets of pages contexts",
        '{"query": "How long?", "answer": "90 m", "alt_ans": ["ninety metres"], "search_results": []}',
        '{"query": "How wide?", "answer": "4 m", "alt_ans": [], "search_results": []}',
    ),
    _layout(
        "braintrust",
        "Braintrust's experiments",
        '{"input": "How long?", "output": "90 m.", "expected": "90 m", "metadata": {"contexts": ["It is 90 m."]}}',
        '{"input": "How wide?", "output": "Wide.", "expected": "4 m"}',
    ),
    _layout(
        "vertex",
        "evaluation data of Vertex AI",
        '{"prompt": "How long?", "response": "90 m.", "context": "It is 90 m.", "reference": "90 m"}',
        '{"prompt": "How wide?", "response": "4 m.", "reference": "4 m"}',
    ),
    _layout(
        "prompt-and-completion",
        "prompts with completions; contexts inside a prompt are not read",
        '{"prompt": "How long?", "completion": "90 m."}',
        '{"prompt": "How wide?", "completion": "4 m."}',
    ),
)
