"""File: a message as a line of JSON at the end of a file."""

import json
import os

from ragstone.monitor.settings import FileChannel

from .message import AlarmMessage
from .not_told import NotTold


def tell_file(channel: FileChannel, message: AlarmMessage) -> None:
    """Add a line, which is on disk when this returns.

    Raises:
        NotTold: It could not be written.
    """
    line = json.dumps(message.to_dict()).encode() + b"\n"
    try:
        with channel.file.open("a+b", buffering=0) as file:
            # What a kill or a full disk left of a line ends here.
            if file.seek(0, os.SEEK_END) and _last(file.fileno()) != b"\n":
                line = b"\n" + line
            if file.write(line) != len(line):
                raise NotTold("the disk is full")
            os.fsync(file.fileno())
    except OSError as error:
        raise NotTold(f"the file cannot be written ({error.strerror})") from None


def _last(file: int) -> bytes:
    return os.pread(file, 1, os.lseek(file, 0, os.SEEK_END) - 1)
