"""LlamaIndex: a query engine whose responses are judged by their source nodes."""

from llama_index.core import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from ragstone.guard import Checks, Guard
from ragstone.guard.integrations import GuardedCall, guarded


class Engine(CustomQueryEngine):
    """Stands for ``index.as_query_engine()``."""

    def custom_query(self, query_str: str) -> Response:
        """Answer from one node, whatever is asked."""
        node = TextNode(text="The pier is 90 m long. It was built in 1901.")
        answer = "It is 90 m long." if "long" in query_str else "Emperor Napoleon paid for it."
        return Response(answer, [NodeWithScore(node=node, score=0.8)])


def contexts_of(call: GuardedCall) -> list[dict[str, object]]:
    """Return the source nodes of a response as contexts, with their ids and scores."""
    return [
        {"id": node.node_id, "text": node.get_content(), "score": node.score}
        for node in call.returned.source_nodes
    ]


@guarded(Guard(Checks(citations=False)), contexts=contexts_of, answer="response")
def ask(question: str) -> object:
    """Answer a question; a response that is held back gets another text, and keeps its nodes."""
    return Engine().query(question)


print(ask("Who paid for the pier?"))
