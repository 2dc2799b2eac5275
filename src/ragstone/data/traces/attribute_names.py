"""Names: which attributes say what, in all of the conventions that are understood.

The only such table: whatever reads an attribute finds its name here, and docs/trace-attributes.md
shows it. The first name that is there speaks; a span's own attributes come before those of its
resource.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["call", "retriever", "reranker", "agent", "chain", "tool", "embedding", "aside"]

_ROLES: tuple[tuple[Role, str], ...] = (
    ("call", "llm generation chat_model chat generate_content text_completion completion"),
    ("call", "ai.generatetext.dogenerate ai.streamtext.dostream ai.generateobject.dogenerate"),
    ("retriever", "retriever retrieval rag"),
    ("reranker", "reranker reranking rerank"),
    ("agent", "agent invoke_agent invoke_workflow"),
    ("chain", "chain workflow task record_root ai.generatetext ai.streamtext ai.generateobject"),
    ("tool", "tool execute_tool function"),
    ("embedding", "embedding embeddings"),
    ("aside", "guardrail evaluator evaluation eval eval_root"),
)
# What a span does, by what the attributes of ``ROLE`` say, in small letters.
ROLES: Mapping[str, Role] = {name: role for role, names in _ROLES for name in names.split()}


@dataclass(frozen=True, slots=True)
class TraceFact:
    """Something that attributes say.

    Attributes:
        lists: Beginnings of attributes that say it with an index, such as ``PREFIX.0.document.id``.
    """

    says: str
    names: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()

    def among(self, attributes: Mapping[str, Any]) -> Any:
        """Return what is said, or None; an empty text says nothing."""
        for name in self.names:
            value = attributes.get(name)
            if value is not None and value != "":
                return value
        return None


def _fact(says: str, names: str = "", lists: str = "") -> TraceFact:
    return TraceFact(says, tuple(names.split()), tuple(lists.split()))


ROLE = _fact(
    "what a span does",
    "openinference.span.kind langfuse.observation.type mlflow.spanType ai.observability.span_type "
    "gen_ai.operation.name traceloop.span.kind llm.request.type langwatch.span.type "
    "ai.operationId",
)
ASKED = _fact(
    "what the user asked, for the trace as a whole",
    "langfuse.trace.input ai.observability.record_root.input",
)
ANSWERED = _fact(
    "what the user was answered, for the trace as a whole",
    "langfuse.trace.output ai.observability.record_root.output",
)
INPUT = _fact(
    "what went into a span",
    "langfuse.observation.input input.value mlflow.spanInputs traceloop.entity.input "
    "langwatch.input ai.prompt",
)
OUTPUT = _fact(
    "what came out of a span",
    "langfuse.observation.output output.value mlflow.spanOutputs traceloop.entity.output "
    "langwatch.output ai.observability.call.return ai.response.text "
    "gen_ai.tool.call.result final_result",
)
INPUT_MESSAGES = _fact(
    "messages to a model",
    "gen_ai.input.messages gen_ai.prompt ai.prompt.messages pydantic_ai.all_messages",
    "llm.input_messages gen_ai.prompt",
)
INSTRUCTIONS = _fact("what a model is told to do", "gen_ai.system_instructions")
OUTPUT_MESSAGES = _fact(
    "messages of a model",
    "gen_ai.output.messages gen_ai.completion",
    "llm.output_messages gen_ai.completion",
)
QUERY = _fact(
    "what was searched for",
    "gen_ai.retrieval.query.text ai.observability.retrieval.query_text reranker.query",
)
DOCUMENTS = _fact(
    "what was found",
    "gen_ai.retrieval.documents retrieval.documents ai.observability.retrieval.retrieved_contexts "
    "langwatch.rag_contexts",
    "retrieval.documents",
)
RERANKED = _fact(
    "what was left of it by a reranker", "reranker.output_documents", "reranker.output_documents"
)
TOP_K = _fact("how many were asked for", "gen_ai.retrieval.top_k gen_ai.request.top_k")
MODEL = _fact(
    "model",
    "gen_ai.response.model llm.response.model_name gen_ai.request.model llm.request.model_name "
    "llm.model_name langfuse.observation.model.name mlflow.llm.model ai.observability.cost.model "
    "ai.response.model ai.model.id",
)
INPUT_TOKENS = _fact(
    "tokens read",
    "gen_ai.usage.input_tokens gen_ai.usage.prompt_tokens llm.token_count.prompt "
    "llm.usage.prompt_tokens ai.observability.cost.num_prompt_tokens ai.usage.inputTokens "
    "ai.usage.promptTokens",
)
OUTPUT_TOKENS = _fact(
    "tokens written",
    "gen_ai.usage.output_tokens gen_ai.usage.completion_tokens llm.token_count.completion "
    "llm.usage.completion_tokens ai.observability.cost.num_completion_tokens "
    "ai.usage.outputTokens ai.usage.completionTokens",
)
CACHE_READ = _fact(
    "tokens read from a cache",
    "gen_ai.usage.cache_read.input_tokens llm.token_count.prompt_details.cache_read",
)
CACHE_WRITE = _fact(
    "tokens written to a cache",
    "gen_ai.usage.cache_write.input_tokens gen_ai.usage.cache_creation.input_tokens "
    "llm.token_count.prompt_details.cache_write",
)
USAGE = _fact(
    "tokens read and written, as an object",
    "langfuse.observation.usage_details mlflow.chat.tokenUsage",
)
FINISH = _fact("why a model stopped", "gen_ai.response.finish_reasons llm.finish_reason")
SESSION = _fact(
    "conversation",
    "session.id langfuse.session.id gen_ai.conversation.id mlflow.trace.session "
    "traceloop.association.properties.session_id langwatch.thread.id "
    "ai.telemetry.metadata.sessionId",
)
USER = _fact(
    "who asked",
    "user.id langfuse.user.id enduser.id mlflow.trace.user "
    "traceloop.association.properties.user_id langwatch.user.id ai.telemetry.metadata.userId",
)
VERSION = _fact(
    "deployed version",
    "service.version langfuse.release langfuse.version ai.observability.app_version "
    "deployment.version",
)
SYSTEM = _fact(
    "system",
    "service.name ai.observability.app_name openinference.project.name traceloop.workflow.name "
    "gen_ai.agent.name",
)
ENVIRONMENT = _fact(
    "environment", "deployment.environment.name deployment.environment langfuse.environment"
)
TAGS = _fact("tags", "langfuse.trace.tags tag.tags")
METADATA = _fact("what else is known, as an object", "metadata langfuse.trace.metadata")
REFERENCE = _fact("the right answer", "ai.observability.record_root.ground_truth_output")
ERROR = _fact(
    "what went wrong",
    "ai.observability.record_root.error langfuse.observation.status_message exception.message "
    "exception.type error.type",
)

# All of them, in the order of this file.
FACTS = tuple(value for value in list(globals().values()) if isinstance(value, TraceFact))

LISTS = frozenset(beginning for fact in FACTS for beginning in fact.lists)

# Names of ids that tell people and their conversations apart.
PEOPLE = frozenset((*SESSION.names, *USER.names))

# Names that are looked for in resources too.
RESOURCE = frozenset(
    name for fact in (SESSION, USER, VERSION, SYSTEM, ENVIRONMENT) for name in fact.names
)

# Log event that says a score, such as those that a monitor writes back.
SCORE_EVENT = "gen_ai.evaluation.result"

# Log events that are one message each, as older emitters send them, with its role.
MESSAGE_EVENTS: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "choice",
}
