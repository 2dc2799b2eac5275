"""LlamaIndex: a post-processor and a query engine that judge. Needs the extra ``llama-index``."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from ragstone.core.errors import MissingDependency
from ragstone.core.messages import reason
from ragstone.guard.guard_input import Checks
from ragstone.guard.stream.release import Policy

from .decorator import assess_retrieval
from .guarded_replies import GuardedPieces, athrough, release_of, through
from .request_guard import HELD, Assessing, Exchange, RequestGuard, Ruling, log_error, request_guard

try:
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.response.schema import (
        RESPONSE_TYPE,
        AsyncStreamingResponse,
        Response,
        StreamingResponse,
    )
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.prompts.mixin import PromptMixinType
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError as error:
    raise MissingDependency("A guard for LlamaIndex", "llama-index") from error

ASSESSMENT = "ragstone_guard"
"""Key of the assessment in the metadata of a response."""


class GuardPostprocessor(BaseNodePostprocessor):
    """Lets no nodes through whose retrieval scores are too low on average.

        index.as_query_engine(node_postprocessors=[GuardPostprocessor()])

    Without nodes LlamaIndex answers "Empty Response" and asks no model. Scores on another scale
    than from 0 to 1 are not looked at.

    Args:
        checks: Has the least mean; None: ``Checks()``.
    """

    checks: Checks | None = None

    @classmethod
    def class_name(cls) -> str:
        """Its name in LlamaIndex."""
        return "GuardPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        question = None if query_bundle is None else query_bundle.query_str
        try:
            found = assess_retrieval(question, contexts_of(nodes), checks=self.checks)
        except Exception as error:
            log_error("guard failed", error, None)
            return nodes
        return nodes if found.ok else []


class GuardQueryEngine(BaseQueryEngine):
    """Judges the response of a query engine by its source nodes.

        engine = GuardQueryEngine(index.as_query_engine())

    A response that is held back is replaced. The assessment is in
    ``response.metadata["ragstone_guard"]``, as plain data, and quotes the response as the model
    wrote it. Of a stream leaves what passes, and its assessment is there at its end. A response
    that is no text, such as a Pydantic object, is not judged.
    """

    def __init__(
        self,
        engine: BaseQueryEngine,
        guard: Assessing | RequestGuard | None = None,
        *,
        on_fail: str | None = HELD,
        policy: Policy = "hold_sentence",
        stop_early: bool = False,
    ) -> None:
        """Guard a query engine.

        Args:
            engine: What answers.
            guard: What judges; a ``RequestGuard`` with a policy of yours. None: ``Guard()``.
            on_fail: The text in place of a response that is held back; None: the response all the
                same, and only the assessment tells.
            policy: What leaves of a stream, and when; see ``assess_stream``.
            stop_early: Whether nothing more leaves of a stream behind what is held back.

        Raises:
            InputError: A setting that cannot be used.
        """
        super().__init__(engine.callback_manager)
        self.engine = engine
        self.guard = request_guard(guard)
        self.on_fail = on_fail
        self.release = release_of(self.guard, on_fail, policy, stop_early=stop_early)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"engine": self.engine}

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        response = self.engine.query(query_bundle)
        if isinstance(response, StreamingResponse):
            return self._streamed(response, query_bundle)
        answer, by = _known(query_bundle, response)
        if answer is None:
            return self._given(response, self.guard.not_judged(reason("no_text"), by))
        return self._given(response, self.guard.ruling(answer, by))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        response = await self.engine.aquery(query_bundle)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse):
            return self._streamed(response, query_bundle)
        answer, by = _known(query_bundle, response)
        if answer is None:
            return self._given(response, self.guard.not_judged(reason("no_text"), by))
        return self._given(response, await self.guard.aruling(answer, by))

    def _streamed(
        self, response: StreamingResponse | AsyncStreamingResponse, query: QueryBundle
    ) -> StreamingResponse | AsyncStreamingResponse:
        by = Exchange(query.query_str, contexts_of(response.source_nodes))
        begin = partial(GuardedPieces, self.guard, self.release, by)
        response.metadata = told = {**(response.metadata or {})}

        def last(pieces: GuardedPieces) -> tuple[()]:
            told[ASSESSMENT] = pieces.ruling.assessment.to_dict()
            return ()

        if isinstance(response, StreamingResponse):
            response.response_gen = through(iter(response.response_gen), begin, last)
        else:
            response.response_gen = athrough(aiter(response.response_gen), begin, last)
        return response

    def _given(self, response: RESPONSE_TYPE, ruling: Ruling) -> RESPONSE_TYPE:
        told = {**(response.metadata or {}), ASSESSMENT: ruling.assessment.to_dict()}
        if ruling.held and self.on_fail is not None:
            return Response(self.on_fail, response.source_nodes, told)
        response.metadata = told
        return response


def contexts_of(nodes: Sequence[NodeWithScore]) -> list[dict[str, Any]]:
    """Nodes as contexts, with their ids and scores."""
    return [
        {
            "id": one.node.node_id,
            "text": one.node.get_content(MetadataMode.NONE),
            "score": one.score,
        }
        for one in nodes
    ]


def _known(query: QueryBundle, response: RESPONSE_TYPE) -> tuple[str | None, Exchange]:
    by = Exchange(query.query_str, contexts_of(response.source_nodes))
    text = response.response if isinstance(response, Response) else None
    return text, by
