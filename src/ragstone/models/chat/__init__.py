"""Chat: models that answer in words, each behind one seam, whatever its wire format.

``open_chat`` opens one by its name; ``CallableChat`` makes one of an async function.
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
