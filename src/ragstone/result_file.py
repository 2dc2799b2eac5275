"""Writes a file that the user named for a result: in full, or not at all."""

from pathlib import Path

from ragstone.errors import room_for


def write_result(file: Path, content: str | bytes) -> None:
    """Write the file, and its folder if that is missing; a part of it is not left behind.

    Raises:
        DiskFull: There is no room for it.
    """
    data = content.encode() if isinstance(content, str) else content
    with room_for(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        # Outside of the try: a file that cannot be opened stays whole, for it may hold labels.
        opened = file.open("wb")
        try:
            with opened:
                opened.write(data)
        except OSError:
            if file.is_file() and file.stat().st_size < len(data):
                file.unlink()
            raise
