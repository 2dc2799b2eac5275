"""Watches a system in production: its traces, how good its answers are, and when they get worse.

worker          the process that does all duties, one by one
duties          fold traces, check, draw and judge answers, sum scores up, erase
intake          takes in what arrives, over HTTP, from files and from the recorder
alarms          when answers got worse, and the notifications about it
exports         a window of answers as a data set, and scores as OTLP logs
send_to_people  answers that people are to label
series          how good the answers are over time, and beside a baseline
settings        the one TOML file that says how all this is done
store           everything that is kept, in SQLite or PostgreSQL, and all SQL
traces          makes examples of traces

Each imports those below it, never those above. Names are loaded when they are first used:
``record`` stands in apps that have nothing else of it.
"""

from ragstone.core.lazy_package import lazy_names
from ragstone.core.messages import warn_renamed

_RENAMED = {"Forgotten": "Erasure", "forget": "erase"}
_load, __dir__, __all__ = lazy_names(__name__)


def __getattr__(name: str) -> object:
    if name not in _RENAMED:
        return _load(name)
    warn_renamed(f"ragstone.monitor.{name}", f"ragstone.monitor.{_RENAMED[name]}")
    return _load(_RENAMED[name])
