"""Integrations: where a guard stands, so that no answer gets around it.

asgi             a middleware for any ASGI app: JSON, server-sent events, chat completions
decorator        any function that answers, plain or async, at once or piece by piece; retrieval
request_guard    what both stand on: never raises, keeps a policy, counts, tells OpenTelemetry
request_reading  finds question, contexts and answers in requests and replies
guarded_replies  what a client gets of a judged answer; event_replies the same as events, read by
                 event_reader; event_places and chat_events know where text stands in them
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
