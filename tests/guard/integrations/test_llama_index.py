"""LlamaIndex: nodes and responses of the real library are judged."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from ragstone.guard import Checks, Guard
from ragstone.guard.integrations.llama_index import ASSESSMENT, GuardPostprocessor, GuardQueryEngine
from ragstone.guard.integrations.request_guard import HELD, RequestGuard
from tests.guard.integrations.conftest import DOUBTED, RIGHT, WRONG, TwoWords


def nodes(*scores: float | None) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(id_=f"n{number}", text=f"Text {number}."), score=score)
        for number, score in enumerate(scores)
    ]


class Given(BaseRetriever):
    """A retriever that finds the same nodes whatever is asked."""

    def __init__(self, found: list[NodeWithScore]) -> None:
        super().__init__()
        self.found = found

    def _retrieve(self, _: QueryBundle) -> list[NodeWithScore]:
        return self.found


class Engine(BaseQueryEngine):
    """Answers the same whatever is asked."""

    def __init__(self, response: Any) -> None:
        super().__init__(None)
        self.response = response

    def _query(self, _: QueryBundle) -> Any:
        return self.response

    async def _aquery(self, _: QueryBundle) -> Any:
        return self.response

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    ("scores", "left"),
    [
        ((0.3, 0.2), 2),  # a mean of .25 is just enough
        ((0.3, 0.1), 0),
        ((None, 0.1), 2),
        ((7.5, 0.1), 2),
        ((), 0),
    ],
)
def test_nodes_are_dropped_where_their_scores_are_low_on_average(
    scores: tuple[float | None, ...], left: int
) -> None:
    kept = GuardPostprocessor().postprocess_nodes(nodes(*scores), query_str="Q?")
    assert kept == nodes(*scores)[:left] or len(kept) == left


def test_the_least_mean_can_be_set_and_switched_off() -> None:
    strict = GuardPostprocessor(checks=Checks(least_retrieval_score=0.9))
    assert strict.postprocess_nodes(nodes(0.8)) == []
    off = GuardPostprocessor(checks=Checks(least_retrieval_score=None))
    assert len(off.postprocess_nodes(nodes(0.01))) == 1


def engine(*scores: float, model: Any = None) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(
        Given(nodes(*scores)),
        response_synthesizer=get_response_synthesizer(llm=model or MockLLM()),
        node_postprocessors=[GuardPostprocessor()],
    )


def test_a_query_engine_answers_nothing_from_a_poor_retrieval() -> None:
    poor = engine(0.1, 0.1).query("Q?")
    assert str(poor) == "Empty Response"
    assert poor.source_nodes == []
    assert len(engine(0.9, 0.8).query("Q?").source_nodes) == 2


def test_it_works_on_an_index_of_the_library() -> None:
    index = VectorStoreIndex(nodes=[TextNode(text="A.")], embed_model=MockEmbedding(embed_dim=4))
    found = index.as_query_engine(llm=MockLLM(), node_postprocessors=[GuardPostprocessor()])
    assert len(found.query("Q?").source_nodes) == 1


def guarded(text: Any, guard: Any = None, **how: Any) -> GuardQueryEngine:
    response = Response(text, nodes(0.5), {"kept": 1})
    return GuardQueryEngine(Engine(response), guard or TwoWords(), **how)


def test_a_response_is_judged_by_its_source_nodes() -> None:
    guard = TwoWords()
    response = guarded(RIGHT, guard).query("Q?")
    assert str(response) == RIGHT
    assert response.metadata is not None
    assert response.metadata["kept"] == 1
    assert response.metadata[ASSESSMENT]["ok"] is True
    assert guard.seen[0][:3] == ("Q?", RIGHT, [{"id": "n0", "text": "Text 0.", "score": 0.5}])


def test_a_wrong_response_is_replaced_sync_and_async() -> None:
    one = guarded(WRONG)
    for response in (one.query("Q?"), asyncio.run(one.aquery("Q?"))):
        assert isinstance(response, Response)
        assert response.response == HELD
        assert response.metadata is not None
        assert response.metadata[ASSESSMENT]["ok"] is False
        assert [node.node.node_id for node in response.source_nodes] == ["n0"]
    marked = guarded(WRONG, on_fail=None).query("Q?")
    assert str(marked) == WRONG


def test_the_real_guard_judges_what_the_real_engine_says() -> None:
    said = TextNode(id_="p", text="The pier is 90 m long.")
    told = Response("The pier is 90 m long.", [NodeWithScore(node=said, score=0.9)])
    judge = Guard(Checks(citations=False))
    assert GuardQueryEngine(Engine(told), judge).query("How long is it?").metadata == {
        ASSESSMENT: judge.assess(
            "How long is it?", told.response, [{"id": "p", "text": said.text, "score": 0.9}]
        ).to_dict()
    }


@pytest.mark.parametrize(("policy", "given"), [("open", DOUBTED), ("closed", HELD)])
def test_the_policy_decides_over_what_could_not_be_judged(policy: Any, given: str) -> None:
    judge = RequestGuard(TwoWords(), if_not_judged=policy)
    assert str(guarded(DOUBTED, judge).query("Q?")) == given
    broken = RequestGuard(TwoWords(error=RuntimeError()), if_not_judged=policy)
    assert str(guarded(DOUBTED, broken).query("Q?")) == given
    assert (str(guarded(None, judge).query("Q?")) == HELD) is (policy == "closed")


SAID = "The pier is 90 m long. Emperor Napoleon paid for it. Gulls are loud."
JUDGED = f"The pier is 90 m long. {HELD} Gulls are loud."
PIER = [NodeWithScore(node=TextNode(text="The pier is 90 m long. Gulls are loud."), score=0.9)]


def test_of_a_stream_leaves_what_its_nodes_support() -> None:
    def tokens() -> Generator[str, None, None]:
        yield from (f"{one} " if one != "loud." else one for one in SAID.split(" "))

    response = StreamingResponse(tokens(), PIER, {"kept": 1})
    engine = GuardQueryEngine(Engine(response), Guard(Checks(citations=False)))
    found: Any = engine.query("How long is the pier?")
    assert next(found.response_gen) == "The pier is 90 m long."
    assert "".join(found.response_gen) == JUDGED.removeprefix("The pier is 90 m long.")
    assert found.metadata["kept"] == 1
    assert found.metadata[ASSESSMENT]["ok"] is False


def test_of_an_async_stream_too() -> None:
    async def tokens() -> AsyncGenerator[str, None]:
        for one in SAID.split(" "):
            yield one if one == "loud." else f"{one} "

    async def called() -> Any:
        response = AsyncStreamingResponse(tokens(), PIER)
        engine = GuardQueryEngine(Engine(response), Guard(Checks(citations=False)))
        found: Any = await engine.aquery("How long is the pier?")
        return await found.get_response()

    response = asyncio.run(called())
    assert response.response == JUDGED
    assert response.metadata[ASSESSMENT]["ok"] is False


def test_a_stream_without_a_text_in_place_of_what_is_held_passes_marked() -> None:
    response = StreamingResponse((one for one in [SAID]), PIER)
    engine = GuardQueryEngine(Engine(response), Guard(Checks(citations=False)), on_fail=None)
    found: Any = engine.query("How long is the pier?")
    assert str(found) == SAID
    assert found.metadata[ASSESSMENT]["ok"] is False
