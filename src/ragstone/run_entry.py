"""Run entry: the names in a run's folder."""

from enum import StrEnum


class RunEntry(StrEnum):
    """A file or folder of a run. Whatever writes one takes its name from here.

    So a result that a user names is never put in its place.
    """

    MANIFEST = "run.json"
    ESTIMATES = "estimates.json"
    SHARDS = "shards.jsonl"
    EXAMPLES = "examples"
    JUDGEMENTS = "judgements"
    SCORES = "scores"
    FACETS = "facets"
    ORIGINS = "origins"
    PARTS = "parts"
    READY = "rescored.ready"
    """Where all new files of a run lie whole, before they take the place of the old ones."""
    LOCK = ".lock"
    HEARTBEAT = "progress.json"
    JOURNAL = "journal.sqlite"
    BATCHES = "batches.sqlite"
    BATCH_FILES = "batches"
    """The requests of batches, a file each."""
    OVERRULES = "overrules.sqlite"
    REJECTED = "rejected.jsonl"
    VIOLATIONS = "label_violations.jsonl"
    TIES = "label_ties.jsonl"
