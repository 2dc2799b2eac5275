"""The cache: no vector is computed twice, and no fault of the file stops a run."""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.models import TokenVectors, Vectors, clear, kept
from ragstone.models.embedding_cache import CachedEncoder, _sealed, embeddings_file
from ragstone.testing.fake_models import ScriptedEncoder
from tests.forked import Forked

TEXTS = ["tin", "copper mine", "", "tin", "the old bridge", "tin"]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    return embeddings_file()


@pytest.fixture
def notes() -> list[str]:
    return []


def cached(
    notes: list[str], inner: ScriptedEncoder | None = None, **options: int
) -> tuple[CachedEncoder, list[str]]:
    """A cached encoder, and the list of what the one behind it was asked."""
    scripted = inner or ScriptedEncoder()
    encoder = CachedEncoder(scripted, embeddings_file(), note=notes.append, **options)
    return encoder, scripted.asked


def test_it_gives_what_the_encoder_gives(notes: list[str]) -> None:
    encoder, _ = cached(notes)
    plain = ScriptedEncoder()
    for _ in range(2):
        got = encoder.embed(TEXTS)
        assert got.dtype == np.float32
        assert got.tobytes() == plain.embed(TEXTS).tobytes()
    assert encoder.lengths(TEXTS).tolist() == plain.lengths(TEXTS).tolist()
    for name in ("name", "about", "fingerprint", "dimensions", "max_tokens", "longest", "layers"):
        assert getattr(encoder, name) == getattr(plain, name)
    assert notes == []


def test_equal_texts_are_asked_once(notes: list[str]) -> None:
    encoder, asked = cached(notes)
    encoder.embed(TEXTS)
    assert asked == ["tin", "copper mine", "", "the old bridge"]


def test_no_text_gives_no_vector(notes: list[str]) -> None:
    encoder, asked = cached(notes)
    assert encoder.embed([]).shape == (0, 8)
    assert encoder.tokens([]) == []
    assert asked == []


def test_the_next_run_asks_for_what_is_new_alone(notes: list[str]) -> None:
    cached(notes)[0].embed(TEXTS)
    encoder, asked = cached(notes)
    encoder.embed(["tin", "a lone \ud800", "copper mine"])
    assert asked == ["a lone \ud800"]
    assert kept().vectors == 5


def test_another_fingerprint_has_vectors_of_its_own(notes: list[str]) -> None:
    cached(notes)[0].embed(["tin"])
    other, asked = cached(notes, ScriptedEncoder(vectors={"tin": [9.0] * 8}))
    assert other.embed(["tin"]).tolist() == [[9.0] * 8]
    assert asked == ["tin"]
    assert cached(notes)[0].embed(["tin"]).tolist() != [[9.0] * 8]


def test_what_was_computed_before_a_failure_is_kept(notes: list[str]) -> None:
    texts = [f"text {number}" for number in range(5000)]
    encoder, _ = cached(notes, ScriptedEncoder(silent_on=["text 4999"]))
    with pytest.raises(ModelFailure):
        encoder.embed(texts)
    assert kept().vectors == 4096


def test_many_texts_are_looked_up(notes: list[str]) -> None:
    texts = [f"text {number}" for number in range(3000)]
    first = cached(notes)[0].embed(texts)
    encoder, asked = cached(notes)
    assert encoder.embed(texts[::-1]).tobytes() == first[::-1].tobytes()
    assert asked == []


@dataclass(frozen=True)
class WithEmbedding(ScriptedEncoder):
    """Also says with the tokens what ``embed`` gives."""

    tokens_asked: list[str] = field(default_factory=list)

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        self.tokens_asked.extend(texts)
        found = super().tokens(texts, layer=layer, limit=limit)
        if layer is not None or limit is not None:
            return found
        return [
            replace(one, embedding=vector)
            for one, vector in zip(found, ScriptedEncoder().embed(texts), strict=True)
        ]


def test_vectors_of_tokens_are_remembered(notes: list[str]) -> None:
    inner = WithEmbedding()
    encoder, _ = cached(notes, inner)
    plain = ScriptedEncoder().tokens(["tin", "copper mine"])
    for _ in range(2):
        got = encoder.tokens(["tin", "copper mine", "tin"])
        assert got[0] is got[2]
        assert got[1].vectors.tobytes() == plain[1].vectors.tobytes()
    assert inner.tokens_asked == ["tin", "copper mine"]
    encoder.tokens(["tin"], layer=1)
    encoder.tokens(["tin"], limit=10)
    assert inner.tokens_asked == ["tin", "copper mine", "tin", "tin"]


def test_the_embedding_that_comes_with_tokens_is_kept(notes: list[str]) -> None:
    inner = WithEmbedding()
    encoder, asked = cached(notes, inner)
    (one,) = encoder.tokens(["copper mine"])
    asked.clear()
    assert one.embedding is not None
    assert encoder.embed(["copper mine"])[0].tobytes() == one.embedding.tobytes()
    assert asked == []


def test_remembered_vectors_cannot_be_written_to(notes: list[str]) -> None:
    (one,) = cached(notes)[0].tokens(["tin"])
    with pytest.raises(ValueError, match="read-only"):
        one.vectors[0] = 0


def test_the_memory_has_an_end(notes: list[str]) -> None:
    inner = WithEmbedding()
    # Three tokens: ids 12, spans 24, vectors 96 and the embedding 32 bytes.
    encoder, _ = cached(notes, inner, remembered=2 * 164)
    encoder.tokens(["a", "b"])
    encoder.tokens(["a"])
    encoder.tokens(["c"])
    inner.tokens_asked.clear()
    encoder.tokens(["a", "c"])
    assert inner.tokens_asked == []
    encoder.tokens(["b"])
    assert inner.tokens_asked == ["b"], "the one that was not used for longest is forgotten"


def flip_a_bit(blob: bytes) -> bytes:
    return bytes([blob[0] ^ 1]) + blob[1:]


def longer_by_a_number(blob: bytes) -> bytes:
    return blob + b"\0" * 4


@pytest.mark.parametrize("change", [flip_a_bit, longer_by_a_number])
def test_a_vector_that_is_not_the_one_that_was_kept_is_noticed_and_computed_again(
    change: Callable[[bytes], bytes], file: Path, notes: list[str]
) -> None:
    first, _ = cached(notes)
    first.embed(TEXTS)
    with closing(sqlite3.connect(file)) as connection, connection:
        rows = connection.execute("SELECT key, vector FROM embeddings").fetchall()
        changed = [(change(vector), key) for key, vector in rows]
        connection.executemany("UPDATE embeddings SET vector = ? WHERE key = ?", changed)
    connection.close()
    again, asked = cached(notes)
    assert again.embed(TEXTS).tobytes() == ScriptedEncoder().embed(TEXTS).tobytes()
    assert asked == ["tin", "copper mine", "", "the old bridge"]
    (note,) = notes
    assert "holds a vector with a wrong checksum" in note
    third, asked = cached(notes)
    third.embed(TEXTS)
    assert asked == [], "what was computed again is kept"


def test_vectors_that_changed_places_are_noticed(file: Path, notes: list[str]) -> None:
    first, _ = cached(notes)
    first.embed(["tin", "zinc"])
    with closing(sqlite3.connect(file)) as connection, connection:
        (one, a), (other, b) = connection.execute("SELECT key, vector FROM embeddings").fetchall()
        changed = [(b, one), (a, other)]
        connection.executemany("UPDATE embeddings SET vector = ? WHERE key = ?", changed)
    connection.close()
    again, _ = cached(notes)
    expected = ScriptedEncoder().embed(["tin", "zinc"])
    assert again.embed(["tin", "zinc"]).tobytes() == expected.tobytes()
    assert len(notes) == 1


def test_nobody_else_may_read_it(file: Path, notes: list[str]) -> None:
    encoder, _ = cached(notes)
    encoder.embed(TEXTS)
    made = [file.parent, *file.parent.iterdir()]
    assert [(one.name, one.stat().st_mode & 0o077) for one in made] == [
        (one.name, 0) for one in made
    ]
    assert {file.name, f"{file.name}-wal"} <= {one.name for one in made}


def other_program(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
        connection.execute("INSERT INTO recipes VALUES ('pasty')")
    connection.close()


def of_version(version: int, file: Path) -> None:
    """A cache as another version of Ragstone might have it."""
    file.parent.mkdir()
    CachedEncoder(ScriptedEncoder(), file, note=print).embed(["tin"])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("ALTER TABLE embeddings RENAME COLUMN vector TO numbers")
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def other_tables(file: Path) -> None:
    CachedEncoder(ScriptedEncoder(), file, note=print).embed(["tin"])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE VIEW others AS SELECT key FROM embeddings")
    connection.close()


def no_database(file: Path) -> None:
    file.write_bytes(b"vectors, I promise" * 99)


def cut_short(file: Path) -> None:
    encoder = CachedEncoder(ScriptedEncoder(), file, note=print)
    encoder.embed([f"text {number}" for number in range(500)])
    encoder._kept._connection.close()  # type: ignore[union-attr]
    with file.open("r+b") as handle:
        handle.seek(4096)
        handle.write(b"\xff" * 8 * 4096)


@pytest.mark.parametrize("spoil", [other_program, other_tables, no_database, cut_short])
def test_a_file_that_cannot_be_used_is_set_aside(
    spoil: Callable[[Path], None], file: Path, notes: list[str]
) -> None:
    file.parent.mkdir()
    spoil(file)
    before = file.read_bytes()
    encoder, _ = cached(notes)
    assert encoder.embed(["tin"]).tobytes() == ScriptedEncoder().embed(["tin"]).tobytes()
    (note,) = notes
    assert str(file) in note
    aside = file.with_name(f"{file.name}.damaged")
    assert aside.read_bytes() == before
    again, asked = cached(notes)
    again.embed(["tin"])
    assert asked == []
    assert len(notes) == 1


def test_a_cache_of_an_earlier_version_is_emptied_with_a_note(file: Path, notes: list[str]) -> None:
    of_version(1, file)
    assert (kept().vectors, kept().size > 0) == (0, True)
    for asked_for in (["tin"], []):
        encoder, asked = cached(notes)
        assert encoder.embed(["tin"]).tobytes() == ScriptedEncoder().embed(["tin"]).tobytes()
        assert asked == asked_for
    assert notes == [f"The cache {file} was of an earlier version of Ragstone and was emptied."]
    assert kept().vectors == 1
    assert not file.with_name(f"{file.name}.damaged").exists()


def test_a_cache_of_a_later_version_is_left_as_it_is(file: Path, notes: list[str]) -> None:
    of_version(4_02_00, file)
    before = file.read_bytes()
    encoder, _ = cached(notes)
    assert encoder.embed(["tin"]).tobytes() == ScriptedEncoder().embed(["tin"]).tobytes()
    (note,) = notes
    assert note.endswith("later version of Ragstone wrote it: install Ragstone 0.4.2 or newer.")
    assert file.read_bytes() == before
    with pytest.raises(ModelError, match=r"0\.4\.2"):
        clear()


def test_a_cache_of_an_earlier_version_can_be_cleared(file: Path) -> None:
    of_version(1, file)
    size = kept().size
    assert clear().vectors == 0
    assert 0 < kept().size <= size


def test_a_damaged_file_that_cannot_be_renamed_is_gone_on_without(
    file: Path, notes: list[str]
) -> None:
    file.with_name(f"{file.name}.damaged").mkdir(parents=True)
    no_database(file)
    encoder, asked = cached(notes)
    for _ in range(2):
        assert encoder.embed(["tin"]).tobytes() == ScriptedEncoder().embed(["tin"]).tobytes()
    assert asked == ["tin", "tin"]
    (note,) = notes
    assert note.startswith("Embeddings are not kept in ")


def test_a_file_that_another_has_set_aside_is_not_set_aside_again(
    file: Path, notes: list[str]
) -> None:
    texts = [f"text {number}" for number in range(5000)]
    encoder, asked = cached(notes, ScriptedEncoder(dimensions=200))
    encoder.embed(texts)
    assert encoder._kept._connection
    encoder._kept._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    encoder._kept._connection.execute("PRAGMA shrink_memory")
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * (file.stat().st_size - 4096))
    file.rename(file.with_name(f"{file.name}.damaged"))
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink()
    cached(notes, ScriptedEncoder(dimensions=200))[0].embed(texts[:9])
    asked.clear()
    expected = ScriptedEncoder(dimensions=200).embed(texts)
    assert encoder.embed(texts).tobytes() == expected.tobytes()
    assert asked == texts[9:], "the others are in the new file"
    assert notes == []


def test_a_vector_of_another_length_is_computed_anew(file: Path, notes: list[str]) -> None:
    cached(notes)[0].embed(["tin", "copper"])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE embeddings SET vector = zeroblob(8) WHERE rowid = 1")
    connection.close()
    encoder, _ = cached(notes)
    plain = ScriptedEncoder().embed(["tin", "copper"])
    assert encoder.embed(["tin", "copper"]).tobytes() == plain.tobytes()
    again, asked = cached(notes)
    assert again.embed(["tin", "copper"]).tobytes() == plain.tobytes()
    assert asked == []


def test_without_a_place_to_write_it_goes_on(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "file"))
    encoder, asked = cached(notes)
    encoder.embed(["tin"])
    encoder.embed(["tin"])
    assert asked == ["tin", "tin"]
    (note,) = notes
    assert note.startswith("Embeddings are not kept in ")


def test_a_full_disk_stops_the_keeping_and_not_the_run(notes: list[str]) -> None:
    encoder, asked = cached(notes)
    encoder.embed(["tin"])
    assert encoder._kept._connection
    encoder._kept._connection.execute("PRAGMA max_page_count = 3")
    texts = [f"text {number}" for number in range(3000)]
    assert encoder.embed(texts).shape == (3000, 8)
    encoder.embed(["copper"])
    encoder.embed(["copper"])
    assert asked[-2:] == ["copper", "copper"], "nothing more is kept"
    (note,) = notes
    assert note == f"Embeddings are not kept in {embeddings_file()}: database or disk is full."
    asked.clear()
    encoder.embed(["tin"])
    assert asked == [], "what is there is still read"


WRITER = """
import sys
from ragstone.models.embedding_cache import CachedEncoder
from ragstone.models.embedding_cache import _sealed, embeddings_file
from ragstone.testing.fake_models import ScriptedEncoder

encoder = CachedEncoder(ScriptedEncoder(), embeddings_file(), note=print)
for start in range(0, 400, 20):
    encoder.embed([f"text {number}" for number in range(start, start + 20)])
    encoder.embed([f"{sys.argv[1]} {start}"])
"""


def test_several_processes_write_at_once(notes: list[str]) -> None:
    running = [Forked(WRITER, number, cwd=Path.cwd()) for number in range(3)]
    assert [one.communicate() for one in running] == [("", "")] * 3
    assert [one.returncode for one in running] == [0, 0, 0]
    assert kept().vectors == 400 + 3 * 20
    encoder, asked = cached(notes)
    texts = [f"text {number}" for number in range(400)]
    assert encoder.embed(texts).tobytes() == ScriptedEncoder().embed(texts).tobytes()
    assert asked == []


def test_several_threads_ask_at_once(notes: list[str]) -> None:
    encoder, _ = cached(notes)
    texts = [f"text {number}" for number in range(50)]
    expected = ScriptedEncoder().embed(texts).tobytes()
    right: list[bool] = []

    def ask() -> None:
        right.extend(encoder.embed(texts).tobytes() == expected for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert right == [True] * 80
    assert notes == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_opens_the_file_anew(notes: list[str]) -> None:
    encoder, _ = cached(notes)
    encoder.embed(["tin"])
    child = os.fork()
    if not child:
        same = encoder.embed(["tin", "copper"]).shape == (2, 8)
        os._exit(0 if same and encoder._kept._process == os.getpid() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert kept().vectors == 2


def test_it_can_be_emptied_while_it_is_used(notes: list[str]) -> None:
    encoder, asked = cached(notes)
    encoder.embed(["tin", "copper"])
    before = clear()
    assert before.vectors == 2
    assert before.size > 0
    assert kept().vectors == 0
    asked.clear()
    encoder.embed(["tin"])
    assert asked == ["tin"]
    assert kept().vectors == 1
    assert clear().vectors == 1
    assert notes == []


def test_no_cache_holds_nothing(file: Path) -> None:
    assert (kept().vectors, kept().size) == (0, 0)
    assert clear().vectors == 0
    assert not file.exists()


def test_a_damaged_cache_cannot_be_counted(file: Path) -> None:
    file.parent.mkdir()
    no_database(file)
    with pytest.raises(ModelError, match="cannot be read"):
        kept()


def test_vectors_are_of_the_fingerprint_and_not_of_the_name(notes: list[str]) -> None:
    cached(notes)[0].embed(["tin"])
    other, asked = cached(notes, ScriptedEncoder(name="another name"))
    vectors: Vectors = other.embed(["tin"])
    assert vectors.shape == (1, 8)
    assert asked == []


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_not_kept(number: float, notes: list[str]) -> None:
    encoder, _ = cached(notes, ScriptedEncoder({"tin": [number] * 8}))
    with pytest.raises(ModelFailure, match="scripted returned a vector with NaN or infinity"):
        encoder.embed(["copper", "tin"])
    with pytest.raises(ModelFailure, match="scripted returned a vector with NaN or infinity"):
        encoder.tokens(["a tin mine"])
    assert kept().vectors == 0
    assert encoder.embed(["copper"]).shape == (1, 8)


def test_an_embedding_that_comes_with_tokens_must_be_finite(notes: list[str]) -> None:
    class Spoilt(WithEmbedding):
        def tokens(
            self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
        ) -> list[TokenVectors]:
            found = ScriptedEncoder().tokens(texts, layer=layer, limit=limit)
            return [replace(one, embedding=np.full(8, np.nan, np.float32)) for one in found]

    with pytest.raises(ModelFailure, match="NaN or infinity"):
        cached(notes, Spoilt())[0].tokens(["tin"])
    assert kept().vectors == 0


class OfAnAddress(ScriptedEncoder):
    """Its fingerprint says nothing of the model, as a server's."""

    @property
    def fingerprint(self) -> str:
        return "1" * 32


def test_where_a_server_has_another_model_now_all_texts_of_a_call_are_embedded_by_it(
    notes: list[str],
) -> None:
    cached(notes, OfAnAddress(dimensions=4))[0].embed(["tin"])
    encoder, asked = cached(notes, OfAnAddress(dimensions=6))
    assert encoder.embed(["tin", "copper"]).shape == (2, 6)
    assert asked == ["copper", "tin", "copper"]
    assert encoder.embed(["tin"]).shape == (1, 6)


def test_a_model_that_changes_its_width_is_a_failure(file: Path, notes: list[str]) -> None:
    cached(notes, OfAnAddress(dimensions=4))[0].embed(["tin"])
    encoder, _ = cached(notes, OfAnAddress(dimensions=6))
    assert encoder.embed(["tin"]).shape == (1, 4), "as it was kept"
    with pytest.raises(ModelFailure, match=r"of 6 dimensions; earlier .* 4\..* models clear"):
        encoder.embed(["copper"])
    assert kept().vectors == 1
    clear()
    again, _ = cached(notes, OfAnAddress(dimensions=6))
    assert again.embed(["tin", "copper"]).shape == (2, 6)
    with closing(sqlite3.connect(file)) as connection, connection:
        keys = connection.execute("SELECT key FROM embeddings").fetchall()
        short = [(_sealed(key, bytes(8)), key) for (key,) in keys]
        connection.executemany("UPDATE embeddings SET vector = ? WHERE key = ?", short)
    connection.close()
    with pytest.raises(ModelFailure, match="of 2 dimensions; earlier ones had 6"):
        again.embed(["tin"])
