"""People: who is in a queue, and the token by which each of them comes.

Of a token only a hash is kept, so that who reads the store cannot use it.
"""

from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe

from ragstone.core.database import Sql
from ragstone.core.errors import InputError, UnknownName
from ragstone.labels.last_word import is_adjudicator

from .database import LabelDatabase
from .form import Role

MOST_NAME = 80
"""Characters of a person's name."""


@dataclass(frozen=True, slots=True)
class QueuePerson:
    """Somebody who works on a queue; ``revoked`` says since when no longer."""

    name: str
    role: Role
    revoked: str | None


def person_of(database: LabelDatabase, token: str) -> tuple[str, QueuePerson] | None:
    """The queue and the person of a token; None if there is none, or it was revoked."""
    with database.reading() as run:
        found = run(
            "SELECT queue, person, role, revoked FROM people WHERE token = ?", hashed(token)
        )
    if not found or found[0][3] is not None:
        return None
    ((queue, *person),) = found
    return queue, QueuePerson(*person)


def people_in(run: Sql, queue: str) -> list[QueuePerson]:
    """Everybody who was invited."""
    rows = run(
        "SELECT person, role, revoked FROM people WHERE queue = ? ORDER BY at, person", queue
    )
    return [QueuePerson(*row) for row in rows]


def check_person(person: str) -> None:
    """Refuse what is no name.

    Raises:
        InputError: Why not.
    """
    if not person.isprintable() or not 0 < len(person) <= MOST_NAME:
        raise InputError(f"A name has 1 to {MOST_NAME} characters that can be printed.")
    if is_adjudicator(person):
        raise InputError(f"{person!r} is no name: labels call adjudicators so.")


def give_token(run: Sql, queue: str, person: str, role: Role, at: str) -> str:
    """A new token for a person, who may be known already; an older one is out at once."""
    token = token_urlsafe(24)
    run(
        "INSERT INTO people VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT (queue, person) "
        "DO UPDATE SET token = excluded.token, role = excluded.role, revoked = NULL",
        queue, person, role, hashed(token), at,
    )  # fmt: skip
    return token


def take_in(run: Sql, queue: str, person: str, at: str) -> None:
    """Know a person who labelled elsewhere, who has no link until they are invited."""
    run(
        "INSERT INTO people VALUES (?, ?, 'annotator', ?, ?, NULL) "
        "ON CONFLICT (queue, person) DO NOTHING",
        queue, person, hashed(token_urlsafe(24)), at,
    )  # fmt: skip


def end_token(run: Sql, queue: str, person: str, at: str) -> None:
    """Take a person's token back.

    Raises:
        UnknownName: Nobody of this name is in the queue.
    """
    if not run(
        "UPDATE people SET revoked = ? WHERE queue = ? AND person = ? RETURNING person",
        at, queue, person,
    ):  # fmt: skip
        raise _stranger(run, queue, person)


def admit(run: Sql, queue: str, person: str) -> None:
    """Refuse who is not in the queue.

    Raises:
        UnknownName: Nobody of this name ever was.
        InputError: They were, until they were revoked.
    """
    found = run("SELECT revoked FROM people WHERE queue = ? AND person = ?", queue, person)
    if not found:
        raise _stranger(run, queue, person)
    if found[0][0] is not None:
        raise InputError(
            f"{person} is no longer in the queue {queue}, so nothing was changed. Invite them "
            "again to let them go on."
        )


def _stranger(run: Sql, queue: str, person: str) -> UnknownName:
    known = [one.name for one in people_in(run, queue)]
    there = f"There are {', '.join(known)}." if known else "Nobody was invited yet."
    return UnknownName("person", person, known, hint=there)


def hashed(text: str) -> str:
    """What is kept of a token; of a client's word for a save, which may be of any length."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
