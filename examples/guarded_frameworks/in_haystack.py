"""Haystack: a component that judges the replies of a generator by the documents of a retriever."""

from haystack import Document, Pipeline, component

from ragstone.guard import Checks, Guard

GUARD = Guard(Checks(citations=False))
HELD = "I cannot answer that from the sources I have."


@component
class AnswerGuard:
    """Takes ``llm.replies`` and ``retriever.documents``, and replaces replies that do not pass."""

    @component.output_types(replies=list[str])
    def run(
        self, query: str, replies: list[str], documents: list[Document]
    ) -> dict[str, list[str]]:
        """Judge each reply; nothing is raised."""
        contexts = [{"id": d.id, "text": d.content, "score": d.score} for d in documents]
        verdicts = [GUARD.assess(query, reply, contexts) for reply in replies]
        pairs = zip(replies, verdicts, strict=True)
        return {"replies": [r if verdict.decision == "pass" else HELD for r, verdict in pairs]}


pipeline = Pipeline()
pipeline.add_component("guard", AnswerGuard())
documents = [Document(content="The pier is 90 m long. It was built in 1901.", score=0.8)]
asked = {"query": "Who paid?", "replies": ["Napoleon paid for it."], "documents": documents}

print(pipeline.run({"guard": asked})["guard"]["replies"][0])
