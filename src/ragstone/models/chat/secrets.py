"""Secrets: what in the environment is a key, so that nobody else's words show it."""

import os
import re

NAMED = re.compile(r"(?:^|_)(?:API_KEY|KEY|TOKEN|SECRET|ACCESS_KEY|PASSWORD)(?:_|$)", re.IGNORECASE)
SHORTEST = 12


def secrets() -> list[str]:
    """The values of the environment's variables that are named like keys, the longest first.

    For adapters: which key another library sends is its own affair.
    """
    found = {
        value.strip()
        for name, value in os.environ.items()
        if NAMED.search(name) and len(value.strip()) >= SHORTEST
    }
    return sorted(found, key=len, reverse=True)
