"""ASGI: a middleware that judges the answers of a web app before they leave."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from fnmatch import fnmatchcase

from ragstone.core.errors import InputError
from ragstone.guard.assessment import WayOut
from ragstone.guard.guard import Guard
from ragstone.guard.judging.circuit import Circuit
from ragstone.guard.stream.release_policy import Policy

from .answer_places import AtPath, ChatCompletions
from .event_places import ChatChunks, EventText
from .event_reply import EventReplies
from .exchange import listening
from .extraction import Extract, Extraction
from .guarded_pieces import release_of
from .guarded_reply import GuardedReply
from .heard_request import HeardRequest, Receive, Scope, Send
from .json_path import JsonPath
from .json_reply import JsonReplies
from .on_fail import HELD, OnFail, see_that_it_holds
from .request_guard import Assessing, RequestGuard
from .ruling import HOLD, IfNotJudged, Ruling

MOST_BYTES = 4 << 20
UNGUARDED = ("HEAD", "OPTIONS")

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class GuardMiddleware:
    """Judges the answers of an ASGI app before they leave, such as of FastAPI or Starlette.

        app.add_middleware(
            GuardMiddleware,
            guard=Guard(Checks(citations=False)),
            paths=["/ask"],
            question="$.question",
            answer="$.answer",
            reply_contexts="$.contexts[*].text",
        )

    JSON replies with a status from 200 to 299 are held until they are judged, and of server-sent
    events the text; other paths, WebSockets and ``lifespan`` pass as they are. A header tells what
    came of a reply, and a note at its end what came of a stream. Nothing
    that goes wrong in the guard becomes an error of the request: the answer is then not judged, and
    ``if_not_judged`` says whether it passes.

    JSON paths have ``.key``, ``['any key']``, ``[0]``, ``[-1]`` and ``[*]``.

    Attributes:
        guard: The guard with its counts.
    """

    def __init__(
        self,
        app: App,
        guard: Assessing | None = None,
        *,
        paths: Sequence[str] = ("*",),
        extract: Extract | None = None,
        question: str | None = "$.messages[-1].content",
        contexts: str | None = None,
        reply_contexts: str | None = None,
        answer: str | None = None,
        event_text: str | None = None,
        policy: Policy = "hold_sentence",
        stop_early: bool = False,
        on_fail: OnFail = HELD,
        if_not_judged: IfNotJudged = "open",
        hold: Collection[WayOut] = HOLD,
        timeout: float | None = None,
        circuit: Circuit | None = None,
        on_ruling: Callable[[Ruling], object] | None = None,
        body_key: str | None = None,
        header: str = "ragstone-guard",
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Guard an app.

        Args:
            app: The app.
            guard: What judges; None: ``Guard()``.
            paths: Which paths are guarded; ``*`` stands for any text. All by default.
            extract: From the request and its JSON to (question, contexts), instead of ``question``
                and ``contexts``; may be async, and either may be None.
            question: JSON path of the question in the request.
            contexts: JSON path of the contexts in the request: of a list, or with ``[*]`` of its
                texts or objects with ``text`` and ``id``.
            reply_contexts: The same in the reply. A route can also call ``tell_guard``.
            answer: JSON path of the answer in the reply. None: replies are OpenAI-style chat
                completions, streamed ones too.
            event_text: Where ``answer`` is given, the JSON path of the text in server-sent events.
                None: the data of an event is text.
            policy: What leaves of a stream, and when: ``hold_sentence`` lets each sentence leave
                once it is judged, ``hold_all`` nothing before the answer is, and ``flag_after``
                all at once.
            stop_early: Whether nothing more leaves of a stream behind what is held back.
            on_fail: What is given in place of an answer that is held back: a text, a status such
                as 422, or None: the answer all the same, and only header or note tell. A stream
                has its status already; of it the held part is left out.
            if_not_judged: Whether an answer that could not be judged is given ("open") or held
                back ("closed").
            hold: The decisions by which a JSON answer is held back.
            timeout: Seconds until an answer counts as not judged; None: the guard's deadline and a
                second.
            circuit: When to stop asking a guard that fails; None: after 5 failures in a row, for
                30 s.
            on_ruling: Called with every ruling.
            body_key: Key under which the JSON of the reply gets a note of what came of its answer,
                which quotes nothing. In streams of chat completions it is ``ragstone_guard``, if
                none is given; other streams end with an event ``ragstone-guard``.
            header: Name of the header.
            most_bytes: A longer request or reply is not judged.

        Raises:
            InputError: A setting that cannot be used.
        """
        if isinstance(on_fail, int) and not 400 <= on_fail <= 599:
            raise InputError(f"on_fail={on_fail}: a status is from 400 to 599.")
        see_that_it_holds(on_fail, if_not_judged)
        self.app = app
        self.guard = RequestGuard(
            Guard() if guard is None else guard,
            if_not_judged=if_not_judged,
            hold=hold,
            timeout=timeout,
            circuit=circuit,
            on_ruling=on_ruling,
        )
        self._paths = (paths,) if isinstance(paths, str) else tuple(paths)
        self._header = header.lower().encode("ascii")
        self._most_bytes = most_bytes
        extraction = Extraction(
            extract,
            _path(None if extract is not None else question),
            _path(None if extract is not None else contexts),
            _path(reply_contexts),
        )
        self._json = JsonReplies(
            self.guard,
            extraction,
            ChatCompletions() if answer is None else AtPath(JsonPath.read(answer)),
            on_fail,
            body_key,
            most_bytes,
        )
        text = None if event_text is None else JsonPath.read(event_text)
        self._streams = EventReplies(
            self.guard,
            extraction,
            ChatChunks() if answer is None else EventText(text),
            release_of(self.guard, on_fail, policy, stop_early=stop_early),
            body_key or "ragstone_guard",
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if not self._is_guarded(scope):
            await self.app(scope, receive, send)
            return
        request = HeardRequest(scope, self._most_bytes)
        with listening() as told:
            reply = GuardedReply(self._json, self._streams, request, told, self._header, send)
            try:
                await self.app(scope, request.heard(receive), reply.send)
                await reply.close()
            finally:
                reply.leave()

    def _is_guarded(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] in UNGUARDED:
            return False
        path = scope["path"]
        # Behind a proxy, or mounted, an app has its own path below this one.
        own = path.removeprefix(scope.get("root_path", "").rstrip("/"))
        return any(fnmatchcase(name, one) for name in (path, own) for one in self._paths)


def _path(text: str | None) -> JsonPath | None:
    return None if text is None else JsonPath.read(text)
