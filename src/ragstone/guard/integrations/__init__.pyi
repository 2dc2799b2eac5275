from .asgi import GuardMiddleware as GuardMiddleware
from .decorator import GuardedCall as GuardedCall
from .decorator import guarded as guarded
from .request_guard import RequestGuard as RequestGuard
from .request_guard import Ruling as Ruling
from .request_guard import tell_guard as tell_guard
from .request_guard import to_span as to_span
from .request_reading import BufferedRequest as BufferedRequest
