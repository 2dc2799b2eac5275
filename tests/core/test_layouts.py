"""A store outlives a version of Ragstone: later ones take it to their layout, whole or not at all.

To change a layout, see ``ragstone.core.store_layout``. ``layouts`` holds the tables of each version
of each store, ``NAME-VERSION.DATABASE.sql``, as they were when stores were first made so.
"""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.annotation.queue import queue_results
from ragstone.annotation.queue.labels_store import LAYOUT as LABELS
from ragstone.annotation.queue.labels_store import StoreAddress
from ragstone.core.database import POSTGRES, KeptDatabase, SqliteDatabase, open_database
from ragstone.core.errors import InputError, StoreAway
from ragstone.core.sqlite import SqliteLayout, open_file, open_to_read
from ragstone.core.store_layout import DatabaseLayout
from ragstone.models.embedding_cache import LAYOUT as EMBEDDINGS
from ragstone.monitor.store.store import LAYOUT as MONITOR
from ragstone.run.batches.batch_journal import LAYOUT as BATCHES
from ragstone.run.calls.journal_reader import LAYOUT as JOURNAL
from ragstone.run.calls.reply_cache import LAYOUT as REPLIES
from ragstone.run.corrections import correction
from ragstone.run.corrections.correction import LAYOUT as OVERRULES
from ragstone.run.corrections.correction import Store, Undone
from tests.forked import Forked
from tests.programs.postgres import PostgresServer

from . import later_layouts
from .later_layouts import LATER, LATER_LABELS, NEXT, PAIRS, broken

KEPT = Path(__file__).parent / "layouts"
TAKE_ON = f"import runpy; runpy.run_path({later_layouts.__file__!r}, run_name='__main__')"
FILES: dict[str, SqliteLayout] = {
    "embeddings": EMBEDDINGS,
    "replies": REPLIES,
    "journal": JOURNAL,
    "batches": BATCHES,
    "overrules": OVERRULES,
    "labels": LABELS.in_sqlite,
    "monitor": MONITOR.in_sqlite,
}
TABLES = {(name, "sqlite"): (layout.version, layout.tables) for name, layout in FILES.items()}
TABLES |= {
    (name, "postgres"): (layout.version, layout.in_postgres)
    for name, layout in (("labels", LABELS), ("monitor", MONITOR))
}
ROWS = {
    "labels": (
        "INSERT INTO queues VALUES ('q', '2026-01-01', '{}')",
        "INSERT INTO items VALUES ('q', 1, 'e1', '', '{}', '{}', '[]', .5, 1, .25, 0, 1, .75, 0, "
        "1, 1)",
        "INSERT INTO said (queue, person, item, at, once, answers) VALUES "
        "('q', 'Zoë', 1, '2026-01-02', 'a', '[\"naïve 🙂\"]')",
        "INSERT INTO tagged VALUES ('q', 1, 'odd')",
    ),
    "monitor": (
        "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, judge, "
        "probability, source, again) VALUES ('e1', 'm', 240, 250, .75, 'value', '', 'j', 1, "
        "'judge', 0)",
        "INSERT INTO silences VALUES ('r', 9, 'Ann')",
        "INSERT INTO told VALUES (1, 'mail', 'fired', 2, 1, 'sent', '')",
    ),
}
BEFORE = {
    "labels": ("SELECT passed, person, answers, tag FROM items, said, tagged", 0.75),
    "monitor": ("SELECT value, person, event FROM scores, silences, told", 0.75),
}
AFTER = {
    "labels": ("SELECT passed, person, answers, tag, note FROM items, said, marked", 0.25),
    "monitor": ("SELECT value, person, event, why FROM scores, silences, notified", 75),
}
REST = {"labels": ("Zoë", '["naïve 🙂"]', "odd"), "monitor": ("Ann", "fired")}


@pytest.mark.parametrize(("name", "database"), sorted(TABLES))
def test_tables_do_not_change_without_a_version_and_a_step(name: str, database: str) -> None:
    version, tables = TABLES[name, database]
    file = KEPT / f"{name}-{version}.{database}.sql"
    text = "".join(f"{' '.join(table.split())};\n" for table in tables)
    assert file.is_file(), f"version {version} is new: keep it as {file}:\n{text}"
    assert text == file.read_text("utf-8"), (
        f"The tables of {name} changed, and stores of version {version} have the old ones. Give "
        "the layout the next version, and a step from this one."
    )


@pytest.mark.parametrize("file", sorted(KEPT.glob("*.sqlite.sql")), ids=lambda file: file.name)
def test_a_store_of_every_version_that_ever_was_can_be_opened(file: Path, tmp_path: Path) -> None:
    name, _, version = file.name.removesuffix(".sqlite.sql").partition("-")
    layout = FILES[name]
    store = tmp_path / "a store.sqlite"
    with closing(sqlite3.connect(store)) as connection:
        connection.executescript(file.read_text("utf-8").replace("; END;", ";\nEND;"))
        connection.execute(f"PRAGMA application_id = {layout.owner}")
        connection.execute(f"PRAGMA user_version = {version}")
    open_file(store, layout).close()
    with closing(open_to_read(store, layout)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (layout.version,)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "[a] store.sqlite")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.schema()


def fill(place: str, name: str) -> None:
    with closing(open_database(place, PAIRS[name][0])) as store, store.transaction() as run:
        for row in ROWS[name]:
            run(row)


def is_as_before(place: str, name: str) -> bool:
    query, value = BEFORE[name]
    with closing(open_database(place, PAIRS[name][0])) as store, store.reading() as run:
        return run(query) == [(value, *REST[name])]


def is_taken_on(store: KeptDatabase, name: str) -> bool:
    query, value = AFTER[name]
    with store.reading() as run:
        return run(query) == [(value, *REST[name], None)]


TABLES_THERE = "SELECT sql FROM sqlite_master"
COLUMNS_THERE = (
    "SELECT table_name, ordinal_position, column_name, data_type, is_nullable "
    "FROM information_schema.columns WHERE table_schema = current_schema()"
)
TRIGGERS_THERE = (
    "SELECT event_object_table, trigger_name, event_manipulation "
    "FROM information_schema.triggers WHERE trigger_schema = current_schema()"
)
FUNCTIONS_THERE = (
    "SELECT routine_name FROM information_schema.routines WHERE routine_schema = current_schema()"
)


def shape(place: str, layout: DatabaseLayout) -> list[list[str]]:
    """The tables, columns and triggers of a store."""
    with closing(open_database(place, layout)) as store, store.reading() as run:
        queries = (
            [COLUMNS_THERE, TRIGGERS_THERE, FUNCTIONS_THERE]
            if place.startswith(POSTGRES)
            else [TABLES_THERE]
        )
        return [sorted(repr(row).replace('"', "") for row in run(query)) for query in queries]


def copy_of(place: str, name: str) -> Path:
    return Path(f"{place}.layout-{PAIRS[name][0].version}")


@pytest.mark.parametrize("name", PAIRS)
def test_a_store_of_an_earlier_version_is_taken_to_this_one(
    name: str, place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    later = PAIRS[name][1]
    fill(place, name)
    for _ in range(2):
        with closing(open_database(place, later)) as store:
            assert is_taken_on(store, name)
    if place.startswith(POSTGRES):
        new = request.getfixturevalue("postgres").schema()
    else:
        new = str(tmp_path / "new.sqlite")
        copy = copy_of(place, name)
        assert is_as_before(str(copy), name)
        assert copy.stat().st_mode & 0o777 == 0o600
    assert shape(place, later) == shape(new, later)


@pytest.mark.parametrize("name", PAIRS)
def test_a_store_of_the_version_between_takes_the_last_steps_alone(name: str, place: str) -> None:
    earlier, later = PAIRS[name]
    fill(place, name)
    first = next(iter(later.steps.values()))
    between = replace(earlier, version=NEXT, steps={earlier.version: first})
    if place.startswith(POSTGRES):
        open_database(place, between).close()
    else:
        # Its tables are not those of this layout, which only a file's layout says.
        with closing(sqlite3.connect(place)) as connection:
            connection.executescript(";".join((*first, f"PRAGMA user_version = {NEXT}")))
    with closing(open_database(place, later)) as store:
        assert is_taken_on(store, name)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("at", range(5))
def test_a_step_that_fails_leaves_the_store_as_it_was(name: str, at: int, place: str) -> None:
    later = PAIRS[name][1]
    at = min(at, sum(map(len, later.steps.values())))
    fill(place, name)
    with pytest.raises(StoreAway, match="missing_table"):
        open_database(place, broken(later, at, "DELETE FROM missing_table"))
    assert is_as_before(place, name)
    with closing(open_database(place, later)) as store:
        assert is_taken_on(store, name)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
WHILE = {"sqlite": ENDLESS, "postgres": "SELECT pg_sleep(2)"}


def is_locked(place: str, owner: int) -> bool:
    if not place.startswith(POSTGRES):
        with closing(sqlite3.connect(place, timeout=0)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
        return False
    import psycopg

    with psycopg.connect(place) as connection:
        free = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [owner]).fetchone()
    return free == (False,)


def test_a_program_that_is_killed_at_a_step_leaves_the_store_as_it_was(place: str) -> None:
    endless = WHILE["postgres" if place.startswith(POSTGRES) else "sqlite"]
    fill(place, "labels")
    for at in (0, 3):
        program = Forked(TAKE_ON, place, "labels", at, endless, cwd=KEPT)
        while not is_locked(place, LABELS.owner):
            assert program.returncode is None
            time.sleep(0.01)
        time.sleep(0.3)  # Until it is at the endless statement.
        assert program.returncode is None
        program.kill()
        program.communicate()
        assert is_as_before(place, "labels")
    with closing(open_database(place, LATER_LABELS)) as store:
        assert is_taken_on(store, "labels")


def test_several_programs_take_a_store_on_at_once(place: str) -> None:
    fill(place, "labels")
    with ThreadPoolExecutor(4) as pool:
        for store in pool.map(open_database, [place] * 4, [LATER_LABELS] * 4):
            assert is_taken_on(store, "labels")
            store.close()


@pytest.mark.parametrize("name", PAIRS)
def test_a_store_of_a_later_version_says_which_ragstone_is_needed(name: str, place: str) -> None:
    earlier, later = PAIRS[name]
    open_database(place, later).close()
    before = [] if place.startswith(POSTGRES) else Path(place).read_bytes()
    with pytest.raises(StoreAway, match=r"install Ragstone 99\.1\.2 or newer\.$") as caught:
        open_database(place, earlier)
    assert "damaged" not in str(caught.value)
    assert before == ([] if place.startswith(POSTGRES) else Path(place).read_bytes())


def test_a_program_of_the_earlier_version_that_still_runs_writes_no_more(place: str) -> None:
    fill(place, "labels")
    with closing(open_database(place, LABELS)) as running:
        open_database(place, LATER_LABELS).close()
        with pytest.raises(StoreAway, match=r"99\.1\.2"), running.transaction() as run:
            run("UPDATE items SET passed = 0")
    with closing(open_database(place, LATER_LABELS)) as store:
        assert is_taken_on(store, "labels")


def test_where_no_copy_can_be_made_nothing_is_changed(tmp_path: Path) -> None:
    place = str(tmp_path / "labels.sqlite")
    fill(place, "labels")
    copy_of(place, "labels").mkdir()
    with pytest.raises(StoreAway, match="unable to open"):
        open_database(place, LATER_LABELS)
    assert is_as_before(place, "labels")


def test_a_disk_without_room_for_the_copy_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    place = str(tmp_path / "labels.sqlite")
    fill(place, "labels")
    with closing(open_database(place, LABELS)) as store, store.transaction() as run:
        run("INSERT INTO queues VALUES ('large', '', ?)", "x" * 2_000_000)
    full = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (512_000, 512_000)); "
    _, errors = Forked(full + TAKE_ON, place, "labels", 0, "SELECT 1", cwd=KEPT).communicate()
    assert "it may be full. Make room" in errors
    assert [file.name for file in tmp_path.glob("*layout*")] == []
    assert is_as_before(place, "labels")


def test_what_is_erased_is_gone_from_the_copy_too(tmp_path: Path) -> None:
    place, other = str(tmp_path / "labels.sqlite"), tmp_path / "labels.sqlite2"
    fill(place, "labels")
    other.touch()
    with closing(open_database(place, LATER_LABELS)) as store:
        assert copy_of(place, "labels").is_file()
        store.compact()
    assert not copy_of(place, "labels").exists()
    assert other.exists()


@pytest.fixture
def earlier_file(tmp_path: Path) -> Iterator[Path]:
    """Labels of an earlier version in a folder of their own, written to meanwhile."""
    (tmp_path / "read").mkdir()
    file = tmp_path / "read" / "labels.sqlite"
    fill(str(file), "labels")
    with closing(SqliteDatabase(file, LABELS)):
        yield file


def test_whoever_reads_a_file_of_an_earlier_version_never_rewrites_it(earlier_file: Path) -> None:
    before = {file.name: file.read_bytes() for file in earlier_file.parent.iterdir()}
    query, value = AFTER["labels"]
    with closing(open_to_read(earlier_file, LATER_LABELS.in_sqlite)) as connection:
        assert connection.execute(query).fetchall() == [(value, *REST["labels"], None)]
    after = {file.name: file.read_bytes() for file in earlier_file.parent.iterdir()}
    shared = f"{earlier_file.name}-shm"
    assert before.pop(shared)
    assert after.pop(shared)
    assert before == after


def test_labels_of_an_earlier_version_are_read(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(place, "labels")
    monkeypatch.setattr(queue_results, "LAYOUT", LATER_LABELS)
    if place.startswith(POSTGRES):
        with (
            pytest.raises(InputError, match=r"earlier version .* `ragstone annotate`"),
            queue_results.labels_as_they_are(StoreAddress(place)),
        ):
            raise AssertionError
        return
    with queue_results.labels_as_they_are(StoreAddress(place)) as labels:
        assert labels is not None
        with labels.reading() as run:
            assert run("SELECT passed FROM items") == [(0.25,)]
    assert is_as_before(place, "labels")


def test_corrections_of_an_earlier_version_are_read_until_one_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    with closing(open_file(store.file, OVERRULES)) as connection:
        columns = "number, at, author, reason, example, ask, subject, key, was, said, again"
        row = "1, 'now', 'Zoë', 'why', 'e1', 'claims', '', '{}', '{}', '{}', '{}'"
        connection.execute(f"INSERT INTO overrules ({columns}) VALUES ({row})")
    before = store.file.read_bytes()
    later = replace(
        OVERRULES,
        version=LATER,
        tables=(OVERRULES.tables[0], OVERRULES.tables[1].replace("L)", "L, why TEXT)")),
        steps={
            OVERRULES.version: (
                "ALTER TABLE undone ADD COLUMN why TEXT",
                "UPDATE overrules SET author = author || ', reviewer'",
            )
        },
    )
    monkeypatch.setattr(correction, "LAYOUT", later)
    stamp, (corrected,) = store.read()
    assert corrected.author == "Zoë, reviewer"
    assert not list(tmp_path.glob("*layout*"))
    assert store.file.read_bytes() == before
    assert store.undo(stamp, 1, Undone("Ben", "later", "wrong"))
    with closing(open_to_read(Path(f"{store.file}.layout-1"), OVERRULES)) as copy:
        assert copy.execute("SELECT author FROM overrules").fetchall() == [("Zoë",)]
    _, (corrected,) = store.read()
    assert corrected.undone == Undone("Ben", "later", "wrong")


CACHE = SqliteLayout(1, 3, ("CREATE TABLE t (a TEXT)",), "NORMAL", is_cache=True)
NEWER = replace(
    CACHE, version=4_00_00, tables=("CREATE TABLE t (b TEXT)", "CREATE INDEX i ON t (b)")
)


def test_a_cache_of_an_earlier_version_is_emptied_with_a_note(tmp_path: Path) -> None:
    file, notes = tmp_path / "cache.sqlite", list[str]()
    with closing(open_file(file, CACHE)) as connection:
        connection.execute("INSERT INTO t VALUES ('known')")
    with pytest.raises(sqlite3.DatabaseError, match="empty"):
        open_to_read(file, NEWER)
    for _ in range(2):
        with closing(open_file(file, NEWER, notes.append)) as connection:
            assert connection.execute("SELECT b FROM t").fetchall() == []
    (note,) = notes
    assert note == f"The cache {file} was of an earlier version of Ragstone and was emptied."
    assert not list(tmp_path.glob("*layout*"))
    with pytest.raises(sqlite3.DatabaseError, match=r"Ragstone 0\.4\.0"):
        open_file(file, CACHE)


def test_a_cache_with_steps_keeps_what_it_holds(tmp_path: Path) -> None:
    file, notes = tmp_path / "cache.sqlite", list[str]()
    with closing(open_file(file, CACHE)) as connection:
        connection.execute("INSERT INTO t VALUES ('known')")
    steps = {3: ("ALTER TABLE t RENAME COLUMN a TO b", "CREATE INDEX i ON t (b)")}
    with closing(open_file(file, replace(NEWER, steps=steps), notes.append)) as connection:
        assert connection.execute("SELECT b FROM t").fetchall() == [("known",)]
    assert notes == []


def test_steps_that_lead_elsewhere_change_nothing(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    open_file(file, CACHE).close()
    with pytest.raises(sqlite3.DatabaseError, match="its tables are others than ours"):
        open_file(file, replace(NEWER, steps={3: ("ALTER TABLE t RENAME COLUMN a TO b",)}))
    open_file(file, CACHE).close()
