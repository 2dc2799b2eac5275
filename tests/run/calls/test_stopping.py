"""A run may be stopped at any moment; what had arrived is there, and is not asked again."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.core.files import RunEntry
from ragstone.judges.llm.questions import Question
from ragstone.run.calls.asker import Asking
from ragstone.run.calls.journal import Journal
from ragstone.run.calls.journal_reader import entries, totals
from ragstone.testing import ScriptedModel
from tests.forked import Forked

QUESTIONS, AT_ONCE = 400, 4

CHILD = f"""
import asyncio, os, sys
from pathlib import Path
from ragstone.judges.llm.questions import Item, Piece, Question
from ragstone.run.calls.asker import Asking
from ragstone.core.files import RunEntry
from ragstone.run.calls.journal import Journal
from ragstone.run.calls.model_client import CallLimits
from ragstone.testing import ScriptedModel

class Verdict(Item):
    reason: str

def question(number):
    piece = Piece("support", "Say.", (f"t{{number}}",), {{"p01": Verdict}}, None)
    return Question((piece,), "System.")

folder, hang_after = Path(sys.argv[1]), int(sys.argv[2])
sent = os.open(folder / "sent", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

async def say(request):
    os.write(sent, request.parts[-2].encode() + b"\\n")
    if len(model.requests) > hang_after:
        await asyncio.sleep(3600)
    return {{"p01": {{"reason": "so", "verdict": "yes"}}}}

model = ScriptedModel(say)
asking = Asking(Journal.open(folder / RunEntry.JOURNAL), limits=CallLimits(concurrency={AT_ONCE}))

async def work():
    await asyncio.gather(
        *(asking.ask(model, question(n), n) for n in range({QUESTIONS})))

try:
    asking.wait(work())
except KeyboardInterrupt:
    sys.exit(130)
asking.close()
"""


def child(folder: Path, hang_after: int = QUESTIONS) -> Forked:
    return Forked(CHILD, folder, hang_after, cwd=folder)


def sent(folder: Path) -> list[str]:
    file = folder / "sent"
    return file.read_text().split() if file.is_file() else []


def until_sent(folder: Path, count: int, process: Forked) -> None:
    while len(sent(folder)) < count:
        assert process.returncode is None
        time.sleep(0.01)


@pytest.mark.kill
def test_after_a_kill_only_what_was_in_flight_is_sent_again(tmp_path: Path) -> None:
    for count in (60, 180):
        process = child(tmp_path)
        until_sent(tmp_path, count, process)
        process.kill()
        process.communicate()
    process = child(tmp_path)
    process.communicate()
    assert process.returncode == 0
    lines = sent(tmp_path)
    assert len(set(lines)) == QUESTIONS
    assert len(lines) - QUESTIONS <= 2 * AT_ONCE
    assert totals(tmp_path / RunEntry.JOURNAL).calls == QUESTIONS


@pytest.mark.kill
def test_what_is_committed_when_it_is_killed_is_whole(tmp_path: Path) -> None:
    process = child(tmp_path)
    until_sent(tmp_path, 100, process)
    process.kill()
    process.communicate()
    journal = Journal.open(tmp_path / RunEntry.JOURNAL)
    kept = totals(journal.file).calls
    journal.close()
    assert 100 - AT_ONCE <= kept <= len(sent(tmp_path))
    asked = [f"{number:x}" for number in range(16)]
    assert (
        len([entry for entry in entries(tmp_path / RunEntry.JOURNAL, asked) if entry.attempts])
        == kept
    )


def test_ctrl_c_waits_for_no_model_that_hangs_and_keeps_what_arrived(tmp_path: Path) -> None:
    process = child(tmp_path, hang_after=10)
    until_sent(tmp_path, 10 + AT_ONCE, process)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    assert totals(tmp_path / RunEntry.JOURNAL).calls == 10


def test_work_that_was_begun_can_be_looked_at(
    open_asking: Callable[..., Asking], question: Callable[..., Question]
) -> None:
    asking = open_asking(loop=None)
    model = ScriptedModel([{"p01": {"reason": "so", "verdict": "yes"}}], delay=0.05)
    begun = asking.submit(asking.ask(model, question()))
    assert not asking.settled(begun, 0.001)
    while not asking.settled(begun, 0.1):
        pass
    assert begun.result().status == "ok"


def test_closing_ends_what_is_under_way(
    open_asking: Callable[..., Asking], question: Callable[..., Question]
) -> None:
    asking = open_asking(loop=None)
    begun = asking.submit(asking.ask(ScriptedModel([], delay=3600), question()))
    asking.close()
    assert begun.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        asking.wait(asking.ask(ScriptedModel([]), question()))
