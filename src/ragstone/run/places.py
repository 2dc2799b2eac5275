"""Places: the paths of files in a run's folder."""

from ragstone.core.files import RunEntry
from ragstone.judgements import KINDS

MANIFEST = RunEntry.MANIFEST
ESTIMATES = RunEntry.ESTIMATES
LEDGER = RunEntry.SHARDS
PARTS = RunEntry.PARTS
READY = RunEntry.READY


def place(name: str) -> str:
    """The path of a table's folder in a run's folder."""
    return f"{RunEntry.JUDGEMENTS}/{name}" if name == "ledger" or name in KINDS else name
