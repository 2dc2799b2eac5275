"""An app on a port of this machine, served by uvicorn as long as a test needs it."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import uvicorn


@contextmanager
def served(make_app: Callable[[str], Any], *, port: int = 0, **options: Any) -> Iterator[str]:
    """Serve an app that is made for its host and port; gives these.

    Args:
        make_app: Makes the app for ``127.0.0.1:port``.
        port: The port, or 0 for any that is free.
        options: Further options of uvicorn.
    """
    with socket.create_server(("127.0.0.1", port)) as listening:
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(make_app(host), log_config=None, lifespan="off", **options)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield host
        finally:
            server.should_exit = True
            thread.join()
