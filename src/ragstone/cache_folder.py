"""Cache folder: where Ragstone keeps for this user what can be had again."""

import os
import sys
from pathlib import Path

from ragstone.argument import argument
from ragstone.errors import InputError


def cache_folder() -> Path:
    """Ragstone's cache folder: RAGSTONE_CACHE, or ``ragstone`` in the system's cache folder.

    Raises:
        InputError: RAGSTONE_CACHE is a URL.
    """
    if own := os.environ.get("RAGSTONE_CACHE"):
        if "://" in own:
            raise InputError(
                "RAGSTONE_CACHE is a URL. Name a folder on the disk; replies of models alone can "
                f"be kept at a URL, with {argument('cache', 'URL')}."
            )
        return Path(own).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "ragstone"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "ragstone"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/ragstone").expanduser()
    return Path("~/.cache/ragstone").expanduser()
