"""PostgreSQL address: what of ``postgresql://…`` can be shown. A password is shown nowhere."""

import re

from ragstone.errors import InputError

POSTGRES = ("postgresql://", "postgres://")

HOSTS = r"(?:\[[^\]@/?#]*\]|[^:@/?#,\[\]]*)(?::[0-9]*)?"
READABLE = re.compile(
    rf"(?P<user>[^:@/?#]*)(?::[^@/]*)?@(?P<there>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
    rf"|(?P<here>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
)
"""What stands behind the scheme, as PostgreSQL's programs read it, without a queue."""


def without_password(address: str) -> str:
    """An address ``postgresql://…`` as user, host and database; no more than … if it is none."""
    scheme, _, _ = address.partition("://")
    read = _readable(address)
    if read is None:
        return f"{scheme}://…"
    user = f"{read['user']}@" if read["user"] else ""
    return f"{scheme}://{user}{read['there'] if read['there'] is not None else read['here']}"


def is_readable(address: str) -> bool:
    """Whether it is clear what of an address ``postgresql://…`` is a password."""
    return _readable(address) is not None


def unreadable(address: str) -> InputError:
    """What is said of an address that cannot be read: it may have a password anywhere in it."""
    return InputError(
        f"{without_password(address)}: the address of the database cannot be read. It is written "
        "postgresql://USER:PASSWORD@HOST/DATABASE; in a password write @ as %40, / as %2F and % "
        "as %25."
    )


def _readable(address: str) -> "re.Match[str] | None":
    return READABLE.fullmatch(address.partition("://")[2])
