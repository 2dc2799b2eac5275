"""Places: the paths of files in a run's folder."""

from ragstone.judgements import KINDS
from ragstone.run_entry import RunEntry

from .forms import tables

MANIFEST = RunEntry.MANIFEST
ESTIMATES = "estimates.json"
PARTS = RunEntry.PARTS
READY = RunEntry.READY


def place(name: str) -> str:
    """The path of a table in a run's folder."""
    return f"judgements/{name}.parquet" if name == "ledger" or name in KINDS else f"{name}.parquet"


def places() -> tuple[str, ...]:
    """Every file that ``run.json`` lists."""
    return (*map(place, tables()), ESTIMATES)
