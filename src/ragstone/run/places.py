"""Places: the paths of files in a run's folder."""

from ragstone.judgements import KINDS

from .forms import tables

MANIFEST = "run.json"
ESTIMATES = "estimates.json"
PARTS = "parts"
READY = "rescored.ready"
"""Where all new files of a run lie whole, before they take the place of the old ones."""


def place(name: str) -> str:
    """The path of a table in a run's folder."""
    return f"judgements/{name}.parquet" if name == "ledger" or name in KINDS else f"{name}.parquet"


def places() -> tuple[str, ...]:
    """Every file that ``run.json`` lists."""
    return (*map(place, tables()), ESTIMATES)
