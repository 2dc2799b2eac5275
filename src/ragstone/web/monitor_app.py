"""Monitor app: what traces are sent to, and the screens, on one port.

A trace comes from a program, which has neither our pages' secret nor a cookie: the intake asks for
the token in a header of its own. Its names of hosts are checked as those of pages are.
"""

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ragstone.monitor.intake.app import HEALTH, PATHS, READY

from .safe import Access


class MonitorApp:
    """Gives each request to whom it is for.

    Args:
        intake: Takes traces.
        screens: The pages.
        access: Who may use both.
    """

    def __init__(self, intake: ASGIApp, screens: ASGIApp, access: Access) -> None:
        self._intake, self._screens, self._access = intake, screens, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not _is_for_intake(scope["path"]):
            await self._screens(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "").lower()
        # Who asks whether it is alive, such as Kubernetes, calls it by an address of its own.
        if host not in self._access.hosts and scope["path"] not in (HEALTH, READY):
            refused = PlainTextResponse(
                "This server is not called by that name. Send to the address that it printed.\n",
                421,
            )
            await refused(scope, receive, send)
            return
        await self._intake(scope, receive, send)


def _is_for_intake(path: str) -> bool:
    return path in PATHS or path.startswith("/v1/")
