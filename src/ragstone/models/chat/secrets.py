"""Secrets: keys in the environment, to be removed from other libraries' error messages."""

import os
import re

NAMED = re.compile(r"(?:^|_)(?:API_KEY|KEY|TOKEN|SECRET|ACCESS_KEY|PASSWORD)(?:_|$)", re.IGNORECASE)
SHORTEST = 12


def secrets() -> list[str]:
    """The values of environment variables that are named like keys, the longest first.

    For adapters, where it is not known which key the other library sends.
    """
    found = {
        value.strip()
        for name, value in os.environ.items()
        if NAMED.search(name) and len(value.strip()) >= SHORTEST
    }
    return sorted(found, key=len, reverse=True)
