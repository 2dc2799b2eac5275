"""Standard output: a message as a line."""

import sys
from typing import TextIO

from .message import AlarmMessage
from .not_told import NotTold


def tell_stdout(message: AlarmMessage, out: TextIO | None = None) -> None:
    """Print it.

    Raises:
        NotTold: Nobody reads it any more.
    """
    try:
        print(message.text, file=out or sys.stdout, flush=True)
    except (OSError, ValueError) as error:
        raise NotTold(f"nobody reads the output ({type(error).__name__})") from None
