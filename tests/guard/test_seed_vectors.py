"""The heuristics of the system that the guard replaces, with its faults put right."""

import json
from pathlib import Path

from ragstone.guard import Checks, assess


def test_issues_are_those_of_the_seed_vectors(shared: Path) -> None:
    text = (shared / "golden" / "seed_vectors.json").read_text("utf-8")
    vectors = [one for one in json.loads(text)["vectors"] if one["metric"] == "quality_gate"]
    assert len(vectors) == 14
    for one in vectors:
        given = one["input"]
        # The vectors only count contexts: let these support whatever the answer says.
        contexts = [given["answer"] or "Emma."] * given["n_contexts"]
        found = assess(
            given["question"], given["answer"], contexts,
            retrieval_scores=given["retrieval_scores"], checks=Checks(citations=True),
        )  # fmt: skip
        assert [issue.code for issue in found.issues] == one["expected"]["issues"], one["id"]
