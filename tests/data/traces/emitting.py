"""Emitting: apps with real instrumentation against a scripted model, and what they export.

Run as ``python emitting.py FOLDER APP,CONTENT …``: each body that the official exporter sends is
written to a folder ``APP,CONTENT``, named by its place in the order and its path. Instrumentation
changes classes for good and reads its variables when it is imported, so each app has a process of
its own, forked from one that has imported the client and the exporters alone.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from openai import OpenAI
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

QUESTION = "When did the harbour bridge open?"
ANSWER = "It opened in March 1932."
PASSAGES = {
    "bridge-1": "The harbour bridge was opened to traffic in March 1932 by the premier.",
    "bridge-2": "Painting the harbour bridge takes about ten years and 30,000 litres of paint.",
}
EARLIER = [("user", "Hello"), ("assistant", "Hello, how can I help?")]

MODEL = "scripted-1"
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class Serving(BaseHTTPRequestHandler):
    """A model that always says the same, and a place for what is exported."""

    received: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        reply = b""
        if "completions" in self.path:
            reply = json.dumps(completion()).encode()
        else:
            self.received.append((self.path, body))
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if reply else "application/x-protobuf")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        """Nothing is to be printed."""


def completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": ANSWER}
    return {
        "id": "reply-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 42, "completion_tokens": 7, "total_tokens": 49},
    }


def prompt() -> str:
    return "Answer from these passages:\n" + "\n".join(PASSAGES.values()) + f"\n\n{QUESTION}"


def openai_app(client: OpenAI, tracer: Any) -> None:
    """Two earlier turns and a question, under a span of the app."""
    with tracer.start_as_current_span("chat", attributes={"session.id": "s-1"}):
        messages: list[Any] = [{"role": "system", "content": "Be brief."}]
        messages += [{"role": role, "content": text} for role, text in EARLIER]
        messages.append({"role": "user", "content": QUESTION})
        client.chat.completions.create(model="scripted", messages=messages)


def rag_app(client: OpenAI, tracer: Any) -> None:
    """A retrieval, told by the semantic conventions' own helper, and a prompt with its passages."""
    from opentelemetry.util.genai.handler import get_telemetry_handler

    handler: Any = get_telemetry_handler()
    with tracer.start_as_current_span("rag"):
        with handler.retrieval(data_source_id="bridges") as retrieval:
            retrieval.query_text = QUESTION
            retrieval.top_k = 2
            retrieval.documents = [
                {"id": "bridge-1", "score": 0.9, "content": PASSAGES["bridge-1"]},
                {"id": "bridge-2", "score": None, "content": PASSAGES["bridge-2"]},
            ]
        client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": prompt()}]
        )


def langchain_app(client: OpenAI, _: Any) -> None:
    """A chain of a retriever, a prompt and a chat model."""
    from langchain_core.documents import Document
    from langchain_core.language_models import SimpleChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough

    class Passages(BaseRetriever):
        def _get_relevant_documents(self, *_: Any, **__: Any) -> list[Document]:
            return [
                Document(page_content=text, id=id, metadata={"source": f"{id}.html"})
                for id, text in PASSAGES.items()
            ]

    class Scripted(SimpleChatModel):
        def _call(self, messages: Any, *_: Any, **__: Any) -> str:
            said: Any = [{"role": "user", "content": str(one.content)} for one in messages]
            reply = client.chat.completions.create(model="scripted", messages=said)
            return reply.choices[0].message.content or ""

        @property
        def _llm_type(self) -> str:
            return "scripted"

    template = ChatPromptTemplate.from_messages(
        [("system", "Answer from these passages:\n{context}"), ("human", "{question}")]
    )
    chain: Any = (
        {"context": Passages(), "question": RunnablePassthrough()}
        | template
        | Scripted()
        | StrOutputParser()
    )
    chain.invoke(QUESTION, config={"metadata": {"session_id": "s-1"}})


def llama_index_app(client: OpenAI, _: Any) -> None:
    """A query engine over two nodes."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.schema import TextNode

    class Scripted(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name=MODEL)

        def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
            said: Any = [{"role": "user", "content": prompt}]
            reply = client.chat.completions.create(model="scripted", messages=said)
            return CompletionResponse(text=reply.choices[0].message.content or "")

        def stream_complete(self, prompt: str, *_: Any, **__: Any) -> Any:
            yield self.complete(prompt)

    nodes = [TextNode(id_=id, text=text) for id, text in PASSAGES.items()]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(8))
    index.as_query_engine(llm=Scripted(), similarity_top_k=2).query(QUESTION)


def instrument(app: str, **providers: Any) -> None:
    """Put the instrumentation of an app in place."""
    instrumentor: Any
    if app == "langchain":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        instrumentor = LangChainInstrumentor()
        providers.pop("logger_provider")
    elif app == "llama_index":
        from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

        instrumentor = LlamaIndexInstrumentor()
        providers.pop("logger_provider")
    else:
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
        from opentelemetry.util.genai.handler import get_telemetry_handler

        get_telemetry_handler(**providers)
        make: Any = OpenAIInstrumentor
        instrumentor = make()
    instrumentor.instrument(**providers)


APPS: dict[str, Callable[[OpenAI, Any], None]] = {
    "openai": openai_app,
    "rag": rag_app,
    "langchain": langchain_app,
    "llama_index": llama_index_app,
}


def emit(app: str, folder: Path) -> None:
    received: list[tuple[str, bytes]] = []
    serving = type("Here", (Serving,), {"received": received})
    server = ThreadingHTTPServer(("127.0.0.1", 0), serving)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    resource = Resource.create({"service.name": "bridges", "service.version": "2.1"})
    tracers, loggers = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(f"{url}/v1/logs")))
    instrument(app, tracer_provider=tracers, logger_provider=loggers)
    APPS[app](OpenAI(base_url=f"{url}/v1", api_key="none"), tracers.get_tracer("app"))
    tracers.shutdown()
    loggers.shutdown()
    server.shutdown()
    for number, (path, body) in enumerate(received):
        (folder / f"{number}{path.replace('/', '-')}").write_bytes(body)


def main() -> None:
    for given in sys.argv[2:]:
        folder = Path(sys.argv[1], given)
        folder.mkdir()
        process = os.fork()
        if process == 0:
            app, os.environ[CONTENT] = given.split(",")
            emit(app, folder)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        assert status == 0, given


if __name__ == "__main__":
    main()
