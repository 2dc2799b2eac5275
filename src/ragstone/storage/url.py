"""URL: tells a URL from a path, and shows it without secrets."""

import re

from ragstone.errors import InputError

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30})://")
CONTAINERS = ("abfs", "abfss", "az", "adl", "wasb", "wasbs")
"""Schemes in which a container stands before the ``@``, not a user."""


def is_url(text: str) -> bool:
    """Whether this names something by a URL: ``s3://bucket/key``, not ``s3:/folder``."""
    return SCHEME.match(text) is not None


def shown(url: str) -> str:
    """The URL as messages and ``run.json`` name it: without a query, which may be a signature.

    Raises:
        InputError: There are credentials in it.
    """
    whole, query, _ = url.partition("?")
    scheme, _, rest = whole.partition("://")
    before, at, _ = rest.partition("/")[0].rpartition("@")
    if at and (":" in before or scheme.lower() not in CONTAINERS):
        raise InputError(
            f"There are credentials in the {scheme}:// URL. Leave them out: they are taken from "
            "the environment, such as AWS_ACCESS_KEY_ID, or the configuration of fsspec."
        )
    return f"{whole}?…" if query else whole
