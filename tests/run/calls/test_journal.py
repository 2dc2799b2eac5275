"""What the journal says it has is on the disk; where it cannot write, it says what to do."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry
from ragstone.models.chat import ChatRequest, Usage
from ragstone.run.calls.journal import Journal, JournaledQuestion
from ragstone.run.calls.journal_reader import (
    Attempt,
    CallTimes,
    answered,
    call_times,
    entries,
    totals,
)
from tests.forked import Forked


def told(text: str = "text") -> JournaledQuestion:
    request = ChatRequest("system", ("contexts", text), {"type": "object"}, "support")
    return JournaledQuestion("judge", "support", "e1", 0, request)


def attempt(key: str, number: int = 1, trouble: str | None = None, reply: str = "{}") -> Attempt:
    return Attempt(key, number, "model", 1.5, 0.25, trouble, reply=reply, finish="stop")


def record(journal: Journal, *attempts: Attempt, what: JournaledQuestion | None = None) -> None:
    async def work() -> None:
        await asyncio.gather(*(journal.record(one, what or told(one.key)) for one in attempts))

    asyncio.run(work())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / RunEntry.JOURNAL


@pytest.fixture
def journal(file: Path) -> Iterator[Journal]:
    opened = Journal.open(file)
    yield opened
    opened.close()


def test_an_answer_is_found_again(file: Path, journal: Journal) -> None:
    answer = Attempt(
        "aa", 2, "model", 1.5, 0.25, None, None, None, "{}", "stop", "m-1", Usage(9, 8, 7, 6), 0.5
    )
    record(journal, attempt("aa", 1, "timeout"), answer)
    assert journal.reply("aa") == answer
    assert journal.troubles("aa") == ["timeout", None]
    journal.close()
    again = Journal.open(file)
    assert again.reply("aa") == answer
    assert again.before.calls == 2
    again.close()


def test_a_failed_attempt_is_no_answer(journal: Journal) -> None:
    record(journal, attempt("aa", 1, "timeout"))
    assert journal.reply("aa") is None
    assert journal.troubles("aa") == ["timeout"]
    assert journal.troubles("bb") == []


def test_an_attempt_counts_once_however_often_it_is_written(file: Path, journal: Journal) -> None:
    record(journal, attempt("aa"), attempt("aa"), attempt("aa", reply="other"))
    assert totals(file).calls == 1
    assert entries(file, ["aa"])[0].attempts[0].reply == "{}"


def test_shared_texts_are_kept_once(file: Path, journal: Journal) -> None:
    record(journal, attempt("aa"), attempt("bb"))
    with closing(sqlite3.connect(file)) as connection:
        texts = [text for (text,) in connection.execute("SELECT text FROM parts ORDER BY text")]
    assert texts == [
        "aa",
        "bb",
        "contexts",
        "system",
        json.dumps({"type": "object"}).replace(" ", ""),
    ]


def test_a_key_may_be_cut(file: Path, journal: Journal) -> None:
    record(journal, attempt("4f1c"), attempt("4f2d"), attempt("9000"))
    assert [entry.key for entry in entries(file, ["4f"])] == ["4f1c", "4f2d"]
    assert entries(file, ["77"]) == []


def test_totals_add_up_and_tell_unknown_from_nothing(file: Path, journal: Journal) -> None:
    priced = Attempt(
        "aa", 1, "model", 0, 0, None, finish="stop", usage=Usage(10, 2, 4, 1), usd=0.25
    )
    cached = Attempt("cc", 1, "cache", 0, 0, None, finish="stop", usd=0.0)
    record(journal, priced, attempt("bb"), cached, attempt("dd", 1, "malformed"))
    found = totals(file)
    assert (found.calls, found.from_cache, found.unpriced, found.usd) == (3, 1, 2, 0.25)
    assert (found.prompt, found.completion, found.cached, found.reasoning) == (10, 2, 4, 1)
    assert found.troubles == {"malformed": 1}


def test_half_of_the_calls_took_no_longer_and_cost_no_more(file: Path, journal: Journal) -> None:
    for at in range(1, 11):
        usd = None if at == 10 else at / 8
        record(journal, Attempt(f"k{at}", 1, "model", 1.5, float(at), finish="stop", usd=usd))
    record(journal, Attempt("kept", 1, "cache", 1.5, 99.0, finish="stop"))
    assert call_times(file) == [
        CallTimes("judge", "support", 10, (5, 9, 10), (5 / 8, 9 / 8, 9 / 8), 45 / 8, 1)
    ]


def test_calls_whose_cost_nobody_knows_have_none(file: Path, journal: Journal) -> None:
    record(journal, attempt("aa", 1, "timeout"), attempt("aa", 2))
    assert call_times(file) == [CallTimes("judge", "support", 2, (0.25,) * 3, (), None, 2)]


def test_text_that_is_no_unicode_comes_back_as_it_was(file: Path, journal: Journal) -> None:
    record(journal, attempt("aa", reply="half \ud83d\0"), what=told("half \ud83d"))
    assert entries(file, ["aa"])[0].parts[1] == "half \ud83d"
    found = journal.reply("aa")
    assert found is not None
    assert found.reply == "half \ud83d\0"


def test_it_can_be_read_while_it_is_written_and_where_nothing_may_be(
    file: Path, journal: Journal
) -> None:
    record(journal, attempt("aa"))
    assert totals(file).calls == 1
    journal.close()
    file.chmod(0o400)
    file.parent.chmod(0o500)
    try:
        assert totals(file).calls == 1
    finally:
        file.parent.chmod(0o700)


@pytest.mark.parametrize(
    "content", [b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 4000]
)
def test_a_file_that_is_not_ours_is_said_to_be_so(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"journal\.sqlite: it is .*Move it away"):
        Journal.open(file)
    with pytest.raises(InputError, match="Move it away"):
        totals(file)


def test_a_database_of_another_program_is_left_alone(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    with pytest.raises(InputError, match="belongs to another program"):
        Journal.open(file)


def test_a_file_that_sqlite_cannot_quote_is_damage(file: Path, journal: Journal) -> None:
    journal.close()
    content = file.read_bytes()
    at = content.index(b"CREATE TABLE attempts")
    file.write_bytes(content[:at] + b"\xf1REATE" + content[at + 6 :])
    for use in (Journal.open, totals, answered, lambda given: entries(given, ["aa"])):
        with pytest.raises(InputError, match=r"journal\.sqlite: it is"):
            use(file)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE attempts",
        "ALTER TABLE attempts DROP COLUMN usd",
        "ALTER TABLE attempts RENAME COLUMN reply TO answer",
        "ALTER TABLE requests ADD COLUMN more TEXT",
        f"DROP TABLE attempts; CREATE VIEW attempts AS SELECT i AS key FROM ({ENDLESS})",
        "CREATE TRIGGER t AFTER INSERT ON attempts BEGIN DELETE FROM requests; END",
    ],
)
def test_tables_that_are_others_than_ours_are_refused(
    script: str, file: Path, journal: Journal
) -> None:
    record(journal, attempt("aa"))
    journal.close()
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    for use in (Journal.open, totals, answered, lambda given: entries(given, ["aa"])):
        with pytest.raises(InputError, match=r"journal\.sqlite: .*its tables are others than ours"):
            use(file)


@pytest.mark.parametrize(
    "change",
    [
        *(f"attempts SET {name} = x'ff'" for name in ("source", "at", "seconds", "trouble")),
        *(f"attempts SET {name} = x'ff'" for name in ("words", "http", "reply", "finish")),
        *(f"attempts SET {name} = x'ff'" for name in ("model", "usd")),
        *(f"attempts SET {name} = 'many'" for name in ("attempt", "at", "http", "usd")),
        *(f"attempts SET {name} = 9e999" for name in ("at", "seconds", "usd")),
        "requests SET vote = 'many'",
        "requests SET task = x'ff'",
        "requests SET parts = '[[[['",
        "requests SET parts = '[]'",
        "requests SET parts = '[1, null]'",
        "requests SET parts = x'ff'",
        "requests SET schema = 'gone'",
        "parts SET text = x'ff'",
    ],
)
def test_values_that_no_attempt_has_are_damage(change: str, file: Path, journal: Journal) -> None:
    record(journal, attempt("aa", trouble=None if "trouble" not in change else "malformed"))
    journal.close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE {change}")
    with pytest.raises(InputError, match=r"journal\.sqlite: it is damaged"):
        entries(file, ["aa"])


def test_nobody_else_may_read_it(file: Path, journal: Journal) -> None:
    record(journal, attempt("aa"))
    assert {one.stat().st_mode & 0o077 for one in file.parent.glob(f"{file.name}*")} == {0}


def test_what_cannot_be_written_is_told_to_all_who_wait_and_who_come_later(
    file: Path, journal: Journal
) -> None:
    beyond = Attempt("aa", 1, "model", 1.5, 0.25, "server_error", http=2**70)

    async def work() -> list[object]:
        both = (journal.record(one, told()) for one in (attempt("bb"), beyond))
        first = await asyncio.gather(*both, return_exceptions=True)
        return [*first, *await asyncio.gather(later(), return_exceptions=True)]

    async def later() -> None:
        await journal.record(attempt("cc"), told())

    *at_once, after = asyncio.run(asyncio.wait_for(work(), 60))
    assert isinstance(at_once[1], InputError)
    assert isinstance(after, InputError)
    assert str(file) in str(after)
    assert "please report it" in str(after)


def test_where_there_is_no_folder_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        Journal.open(tmp_path / "nowhere" / RunEntry.JOURNAL)


def fill(journal: Journal) -> int:
    """Write until it fails; how many attempts were said to be kept."""
    kept = 0
    fault = ""
    while not fault:
        try:
            record(journal, attempt(f"{kept:032x}", reply=f"{kept}" * 9_000))
            kept += 1
        except InputError as error:
            fault = str(error)
    assert "Make room; then run the same command again" in fault
    with pytest.raises(InputError, match="Make room"):
        record(journal, attempt("ff"))
    return kept


def test_on_a_full_disk_nothing_counts_that_is_not_kept(disk: Path) -> None:
    journal = Journal.open(disk / RunEntry.JOURNAL)
    kept = fill(journal)
    journal.close()
    assert totals(disk / RunEntry.JOURNAL).calls == kept > 0


FILLS = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
import asyncio
from ragstone.core.errors import InputError
from ragstone.models.chat import ChatRequest
from ragstone.run.calls.journal_reader import Attempt
from ragstone.run.calls.journal import Journal
journal = Journal.open(Path(sys.argv[1]))
told = "judge", "support", "e1", 0, ChatRequest("system", (), {}, "support")
async def work():
    for number in range(200):
        await journal.record(
            Attempt(str(number), 1, "model", 0, 0, reply=str(number) * 9_000), told)
        print(number, flush=True)
try:
    asyncio.run(work())
except InputError as error:
    print(error)
"""


def test_a_file_that_may_not_grow_is_like_a_full_disk(file: Path) -> None:
    process = Forked(FILLS, file, cwd=file.parent)
    *numbers, fault = process.communicate()[0].splitlines()
    assert process.returncode == 0
    assert "Make room; then run the same command again" in fault
    assert totals(file).calls == len(numbers) > 0
    assert file.stat().st_size <= 300_000
