"""Fits: where a guard stands, so that no answer gets around it.

asgi            a middleware for any ASGI app: JSON, server-sent events, chat completions
decorator       any function that answers, plain or async, at once or piece by piece
request_guard   what both stand on: never raises, keeps a policy, counts
langchain, llama_index, haystack   the same in these frameworks, each with its extra
retrieval       what was retrieved, before anybody answers by it
exchange        what an answer is judged by; a route can tell it
telemetry       an event on the span of OpenTelemetry
"""

from .asgi import GuardMiddleware
from .decorator import GuardedCall, assess_retrieval, guarded
from .request_guard import RequestGuard, Ruling, tell_guard, to_span
from .request_reading import BufferedRequest

__all__ = [
    "BufferedRequest",
    "GuardMiddleware",
    "GuardedCall",
    "RequestGuard",
    "Ruling",
    "assess_retrieval",
    "guarded",
    "tell_guard",
    "to_span",
]
