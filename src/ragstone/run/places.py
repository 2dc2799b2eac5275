"""Places: the paths of files in a run's folder."""

from ragstone.judgements import KINDS
from ragstone.run_entry import RunEntry

MANIFEST = RunEntry.MANIFEST
ESTIMATES = RunEntry.ESTIMATES
LEDGER = RunEntry.SHARDS
PARTS = RunEntry.PARTS
READY = RunEntry.READY


def place(name: str) -> str:
    """The path of a table's folder in a run's folder."""
    return f"{RunEntry.JUDGEMENTS}/{name}" if name == "ledger" or name in KINDS else name
