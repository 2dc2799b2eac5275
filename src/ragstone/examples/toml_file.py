"""TOML: a file of the user's settings, such as prices or rubrics, whole."""

import sys
import tomllib
from pathlib import Path
from typing import Any

from ragstone.core.errors import InputError
from ragstone.examples.streams import on_disk


def read_toml(file: Path, given: str) -> dict[str, Any]:
    """The tables of a file.

    Args:
        file: In UTF-8, with or without a byte order mark.
        given: The ``argument`` that names it.

    Raises:
        InputError: The file cannot be read or is not valid TOML; the message says why.
    """
    try:
        return tomllib.loads(on_disk(file).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{given}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{given} is not UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{given} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise InputError(f"{given} nests too deeply.") from error
    except ValueError as error:
        digits = f"a number of more than {sys.get_int_max_str_digits():,} digits"
        raise InputError(f"{given} holds {digits}.") from error
