"""Shared replies: a cache of replies at a URL, such as ``s3://bucket/cache``, for many machines.

    URL/replies/NAME.sqlite    what a run added
    CACHE/replies/HASH/        the copy on this machine; HASH is that of the URL
        replies.sqlite         all replies, which the processes of this machine share
        have/NAME.sqlite       an empty file for each at the URL whose replies are in it
        given                  the last of its rows that is at the URL

Runs only add files, so no writer loses another's replies. One that finds many puts all replies into
one file, and then deletes those it has read. What is given twice is the same.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from ragstone.core.errors import InputError, NothingThere
from ragstone.core.files import cache_folder, private_folder
from ragstone.core.remote_files import Remote, is_url
from ragstone.core.sqlite import UNREADABLE, open_file, open_to_read

from .replies import FILE, LAYOUT, ReplyCache, is_reply, write_replies

MOST_FILES = 50
"""Files at the URL from which on they are put together."""
AT_ONCE = 1_000
NAME = re.compile(r"[0-9a-f]{32}\.sqlite")


def open_replies(cache: str | Path | None, note: Callable[[str], None]) -> ReplyCache:
    """The cache in a folder or at a URL; None: in Ragstone's cache folder.

    Raises:
        InputError: The URL cannot be read.
    """
    if isinstance(cache, str) and is_url(cache):
        return _SharedReplies(cache, note)
    return ReplyCache(Path(cache or cache_folder()), note)


def replies_file(cache: str | Path | None) -> Path:
    """The file of a cache on this machine, brought up to date with its URL; it may not exist.

    Raises:
        InputError: The URL cannot be read.
    """
    if isinstance(cache, str) and is_url(cache):
        return _Copy(cache).fetch()
    return Path(cache or cache_folder()) / FILE


class _SharedReplies(ReplyCache):
    """Replies at a URL: fetched when it is opened, given when it is closed."""

    def __init__(self, url: str, note: Callable[[str], None]) -> None:
        self._copy = _Copy(url)
        super().__init__(self._copy.fetch().parent, note)

    def close(self, seconds: float | None = None) -> bool:
        """As in ``ReplyCache``; what cannot be given now is given by the next run."""
        written = super().close(seconds)
        if written and seconds is None:
            try:
                self._copy.give()
            except (InputError, *UNREADABLE) as error:
                self._tell(str(error))
        return written


class _Copy:
    """The copy of a cache at a URL."""

    def __init__(self, url: str) -> None:
        self._remote = Remote(f"{url.rstrip('/')}/replies")
        name = blake2b(self._remote.url.encode(), digest_size=16).hexdigest()
        self._folder = cache_folder() / "replies" / name
        self._have, self._mark = self._folder / "have", self._folder / "given"
        private_folder(self._have)

    def fetch(self) -> Path:
        """Take the replies that only the URL has; gives the file of all."""
        file = self._folder / FILE
        if not file.exists():
            # It may be deleted like any cache. Then what was taken has to be taken again.
            self._mark.unlink(missing_ok=True)
            for known in self._have.iterdir():
                known.unlink(missing_ok=True)
        with TemporaryDirectory(dir=self._folder) as scratch:
            new = list(self._fetched(Path(scratch)))
            with closing(open_file(file, LAYOUT)) as mine:
                mine.execute("BEGIN IMMEDIATE")
                before = _last_row(mine)
                taken = [one for one in new if _took(mine, one)]
                after = _last_row(mine)
                mine.execute("COMMIT")
        for one in taken:
            (self._have / one.name).touch()
        if self._given() == before:
            self._mark.write_text(str(after))
        return file

    def give(self) -> None:
        """Put the replies that only this machine has."""
        if not (self._folder / FILE).exists():
            return
        with (
            TemporaryDirectory(dir=self._folder) as scratch,
            closing(open_file(self._folder / FILE, LAYOUT)) as mine,
        ):
            read = [one.name for one in self._have.iterdir()]
            together = len(read) >= MOST_FILES
            given, last = self._given(), _last_row(mine)
            if last <= given and not together:
                return
            file = Path(scratch) / f"{uuid4().hex}.sqlite"
            after = 0 if together else given
            rows = mine.execute(
                "SELECT * FROM replies WHERE rowid > ? AND rowid <= ?", (after, last)
            )
            with closing(open_file(file, LAYOUT)) as made:
                made.execute("BEGIN")
                while some := rows.fetchmany(AT_ONCE):
                    write_replies(made, some)
                made.execute("COMMIT")
            self._remote.put(file.name, file)
        (self._have / file.name).touch()
        self._mark.write_text(str(last))
        if together:
            self._remote.remove(read)
            for name in read:
                (self._have / name).unlink(missing_ok=True)

    def _fetched(self, into: Path) -> Iterator[Path]:
        with suppress(NothingThere):
            for file in self._remote.files():
                name = self._remote.below(file)
                if NAME.fullmatch(name) and not (self._have / name).exists():
                    with suppress(NothingThere):  # It was put into another meanwhile.
                        self._remote.fetch(file, into / name)
                        yield into / name

    def _given(self) -> int:
        try:
            return int(self._mark.read_text())
        except (OSError, ValueError):
            return 0


def _took(mine: sqlite3.Connection, file: Path) -> bool:
    """Take the replies of a file; False if it is damaged, and what can be read of it is taken."""
    try:
        with closing(open_to_read(file, LAYOUT)) as theirs:
            rows = theirs.execute("SELECT * FROM replies")
            while some := rows.fetchmany(AT_ONCE):
                write_replies(mine, [one for one in some if is_reply(one)])
    except UNREADABLE:
        return False
    return True


def _last_row(connection: sqlite3.Connection) -> int:
    ((last,),) = connection.execute("SELECT coalesce(max(rowid), 0) FROM replies")
    return int(last)
