"""A monitor in use keeps all that it is sent, and needs no more memory with time.

RAGSTONE_SOAK says for how many seconds; benchmarks/soak.py takes minutes.
"""

import os
from pathlib import Path

from tests.scripts import script

SOAK = script("soak")
SECONDS = float(os.environ.get("RAGSTONE_SOAK", "20"))


def test_all_that_is_sent_for_a_while_is_kept_and_folded(tmp_path: Path) -> None:
    found = SOAK.soak(str(tmp_path / "store"), SECONDS, rate=20)
    assert found.faults == []
    assert (found.lost, found.unfolded, found.status) == (0, 0, 0)
    assert set(found.statuses) <= {200, 429, 503}
    assert found.recorded > 0
    assert found.is_well
