"""Chat: chat models of all providers behind one interface.

``open_chat`` opens a model by name; ``CallableChat`` wraps an async function as a model.
"""

from .chat_names import FORMS, is_chat, open_chat
from .http_transport import Connections
from .library_clients import CallableChat
from .model import ITEMS, ChatFailure, ChatModel, ChatReply, ChatRequest, Finish, Trouble, Usage
from .wire_format import Settings

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
