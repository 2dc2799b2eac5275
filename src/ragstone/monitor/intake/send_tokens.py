"""Send tokens: what apps show that send traces. A send token may write, and opens nothing else."""

import re
import secrets
from hashlib import sha256
from pathlib import Path

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.files import result_lines

_LINE = re.compile(r"(\S+)\s+([0-9a-f]{64})")
# Stands for a token of which only the hash is known.
ANY_TOKEN = "TOKEN"


class SendTokens:
    """The tokens with which apps may send: one by itself, and those in a file.

    The file is read anew once it changes, so a token that is taken out of it is refused at once.
    """

    def __init__(self, token: str = "", file: Path | None = None) -> None:
        self.shown = token or (ANY_TOKEN if file else "")
        """For a page that says how to send; empty if no token is asked for."""
        self._own = {_hashed(token.encode())} if token else set[str]()
        self._file = file
        self._version: tuple[int, int] | None = None
        self._in_file: frozenset[str] = frozenset()
        if file:
            read_send_tokens(file)

    def admit(self, token: bytes) -> bool:
        """True if whoever shows this token may send."""
        return not self.shown or _hashed(token) in self._own or _hashed(token) in self._listed()

    def _listed(self) -> frozenset[str]:
        if self._file is None:
            return frozenset()
        try:
            now = self._file.stat()
            version = (now.st_mtime_ns, now.st_ino)
            if version != self._version:
                self._in_file = frozenset(read_send_tokens(self._file).values())
                self._version = version
        except (OSError, InputError):
            # Who takes the file away, or breaks it, does not open the door.
            self._version, self._in_file = None, frozenset()
        return self._in_file


def read_send_tokens(file: Path) -> dict[str, str]:
    """Return the hash of each app's token."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise InputError(f"{file}: {why}. `ragstone monitor token {file} APP` makes one.") from None
    hashes = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        parts = _LINE.fullmatch(line.strip())
        if parts is None:
            raise InputError(f"{file}:{number} is not the name of an app and the hash of a token.")
        hashes[parts[1]] = parts[2]
    return hashes


def new_send_token(file: Path, app: str) -> str:
    """Make a token for an app, in place of the one that it had."""
    if not re.fullmatch(r"\S+", app) or not app.isprintable():
        raise InputError("The name of an app has no spaces and is not empty.")
    token = secrets.token_urlsafe(18)
    hashes = read_send_tokens(file) if file.exists() else {}
    _write(file, {**hashes, app: _hashed(token.encode())})
    return token


def revoke_send_token(file: Path, app: str) -> None:
    """Take an app's token out of the file."""
    hashes = read_send_tokens(file)
    if app not in hashes:
        raise UnknownName("app", app, sorted(hashes))
    _write(file, {name: hashed for name, hashed in hashes.items() if name != app})


def _write(file: Path, hashes: dict[str, str]) -> None:
    with result_lines(file) as write:
        for app, hashed in hashes.items():
            write(f"{app} {hashed}")


def _hashed(token: bytes) -> str:
    return sha256(token).hexdigest()
