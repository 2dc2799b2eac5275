"""LangChain: a step of a chain that judges its answer by the documents it was written from."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from ragstone.guard import Checks, Guard
from ragstone.guard.integrations import guarded


@guarded(
    Guard(Checks(citations=False)),
    contexts=lambda call: [document.page_content for document in call.returned["context"]],
)
def judge(state: dict[str, Any]) -> dict[str, Any]:
    """Return what the chain knows: ``question``, ``context`` and ``answer``, which is judged."""
    return state


retrieve = RunnablePassthrough.assign(
    context=RunnableLambda(lambda _: [Document("The pier is 90 m long. It was built in 1901.")])
)
write = RunnablePassthrough.assign(answer=RunnableLambda(lambda _: "Emperor Napoleon paid for it."))
chain = retrieve | write | RunnableLambda(judge)

print(chain.invoke({"question": "Who paid for the pier?"})["answer"])
