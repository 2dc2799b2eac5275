"""Chat: chat models of all providers behind one interface.

``open_chat`` opens a model by name; ``CallableChat`` wraps an async function as a model.
"""

from .callable import CallableChat
from .connections import Connections
from .failure import ChatFailure, Trouble
from .model import ITEMS, ChatModel, ChatReply, ChatRequest, Finish, Usage
from .names import FORMS, is_chat, open_chat
from .settings import Settings

__all__ = [
    "FORMS",
    "ITEMS",
    "CallableChat",
    "ChatFailure",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Connections",
    "Finish",
    "Settings",
    "Trouble",
    "Usage",
    "is_chat",
    "open_chat",
]
