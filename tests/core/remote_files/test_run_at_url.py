"""A run folder at a URL holds a finished run or none, whoever is killed when."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import s3fs
from fsspec.implementations.local import LocalFileSystem
from typer.testing import CliRunner

from ragstone import evaluate, rescore
from ragstone.cli.app import app
from ragstone.core.errors import InputError, RunConflict, StorageAway
from ragstone.core.remote_files import Remote, RemoteFile
from ragstone.data import cornwall
from ragstone.run import Run
from ragstone.run.folder.remote_folder import RemoteFolder
from ragstone.run.judging import sharding
from tests.forked import Forked

METRICS = ["token_f1", "exact_match"]
LIMIT = 20
OF_A_SHARD = 25


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> "Machines":
    return Machines(monkeypatch, tmp_path)


class Machines:
    """Machines that share nothing but the store: each has a cache folder of its own."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self._patch, self._folder, self._count = patch, folder, 0

    def another(self) -> None:
        self._count += 1
        self._patch.setenv("RAGSTONE_CACHE", str(self._folder / f"machine{self._count}"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four shards of data, each of 25 examples but for the last."""
    file = tmp_path_factory.mktemp("data") / "answers.jsonl"
    rows = (
        {"id": f"q{n}", "question": f"Q{n}?", "answer": f"a {n % 7}", "reference": f"a {n % 3}"}
        for n in range(76)
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture(scope="module")
def cornwall_on_disk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables and estimates of a run of the first bundled examples."""
    folder = tmp_path_factory.mktemp("cornwall") / "run"
    evaluate(cornwall(), metrics=METRICS, out=folder, limit=LIMIT)
    return tables(folder)


@pytest.fixture
def on_disk(data: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The tables and estimates of a run of the data that nothing stopped."""
    monkeypatch.setattr(sharding, "OF_A_SHARD", OF_A_SHARD)
    evaluate(data, metrics=METRICS, out=data.with_name("run"))
    return tables(data.with_name("run"))


def tables(folder: Path) -> dict[str, bytes]:
    """The tables and estimates in a folder."""
    files = [*folder.rglob("*.parquet"), folder / "estimates.json"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def at(s3: s3fs.S3FileSystem, url: str) -> dict[str, bytes]:
    """The tables and estimates at a URL."""
    s3.invalidate_cache()
    root = url.removeprefix("s3://")
    names = [name for name in s3.find(root) if name.endswith((".parquet", "estimates.json"))]
    return {name[len(root) + 1 :]: s3.cat_file(name) for name in names}


def names(s3: s3fs.S3FileSystem, url: str) -> set[str]:
    s3.invalidate_cache()
    root = url.removeprefix("s3://")
    return {name[len(root) + 1 :] for name in s3.find(root)}


def test_a_run_from_s3_to_s3_has_the_bytes_of_one_on_the_disk(
    s3: s3fs.S3FileSystem, bucket: str, tmp_path: Path, elsewhere: Machines
) -> None:
    s3.put_file(str(cornwall()), f"{bucket}/cornwall.jsonl")
    evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    url = f"{bucket}/runs/one"
    done = CliRunner().invoke(
        app,
        ["evaluate", f"{bucket}/cornwall.jsonl", "--out", url]
        + [part for name in METRICS for part in ("--metric", name)],
    )
    assert done.exit_code == 0, done.output
    assert at(s3, url) == tables(tmp_path / "run")
    assert not {name for name in names(s3, url) if name.startswith(("unfinished", ".lock"))}
    elsewhere.another()
    opened = Run.open(url)
    assert opened.estimate_list == Run.open(tmp_path / "run").estimate_list
    assert opened.place == url


def test_the_quick_suite_at_a_url_gives_the_same_bytes(
    s3: s3fs.S3FileSystem, bucket: str, tmp_path: Path
) -> None:
    evaluate(cornwall(), suites=["quick"], out=tmp_path / "run", limit=LIMIT)
    evaluate(cornwall(), suites=["quick"], out=f"{bucket}/run", limit=LIMIT)
    assert at(s3, f"{bucket}/run") == tables(tmp_path / "run")


@pytest.mark.parametrize("same_machine", [True, False])
def test_a_run_that_was_killed_goes_on_where_it_began_and_begins_again_elsewhere(
    same_machine: bool,
    s3: s3fs.S3FileSystem,
    bucket: str,
    data: Path,
    on_disk: dict[str, bytes],
    elsewhere: Machines,
) -> None:
    url = f"{bucket}/run"
    elsewhere.another()
    code = f"""
import os, signal
from ragstone import evaluate
from ragstone.run.folder.remote_folder import RemoteFolder
from ragstone.run.judging import sharding
sharding.OF_A_SHARD = {OF_A_SHARD}
kept = RemoteFolder.kept
def kill(self, form):
    if form.shard == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    kept(self, form)
RemoteFolder.kept = kill
evaluate({str(data)!r}, metrics={METRICS!r}, out={url!r})
"""
    killed = Forked(code, cwd=Path.cwd())
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    there = names(s3, url)
    assert "run.json" not in there
    assert {"unfinished/000000.json", "unfinished/000001.json"} <= there
    assert "unfinished/000002.json" not in there
    with pytest.raises(InputError, match="is not finished"):
        Run.open(url)
    if not same_machine:
        elsewhere.another()
        with pytest.raises(RunConflict, match="Another machine is writing"):
            evaluate(data, metrics=METRICS, out=url)
        s3.rm_file(f"{url}/.lock")
    scores = f"{url}/scores/000000.parquet"
    s3.setxattr(scores, made="first")
    evaluate(data, metrics=METRICS, out=url)
    assert at(s3, url) == on_disk
    s3.invalidate_cache()
    kept = s3.metadata(scores, refresh=True).get("made") == "first"
    assert kept == same_machine, "made again only elsewhere"
    assert not {name for name in names(s3, url) if name.startswith(("unfinished", ".lock"))}


def test_a_write_that_fails_leaves_a_run_that_goes_on(
    s3: s3fs.S3FileSystem,
    bucket: str,
    cornwall_on_disk: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"{bucket}/run"
    put = Remote.put
    for failing in range(100):
        calls = list[str]()

        def fail(self: Remote, place: str, content: bytes | Path, failing: int = failing,
                 calls: list[str] = calls) -> None:  # fmt: skip
            calls.append(place)
            if len(calls) > failing:
                raise StorageAway("The store is away.")
            put(self, place, content)

        with monkeypatch.context() as patch:
            patch.setattr(Remote, "put", fail)
            try:
                evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
            except StorageAway:
                assert "run.json" not in names(s3, url)
                continue
            break
    assert failing > 5, "each write failed once"
    assert at(s3, url) == cornwall_on_disk


def test_other_settings_and_other_files_are_refused(
    s3: s3fs.S3FileSystem, bucket: str, elsewhere: Machines
) -> None:
    url = f"{bucket}/run"
    evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    before = at(s3, url)
    elsewhere.another()
    with pytest.raises(RunConflict, match=f"^{url} holds a run with different limit"):
        evaluate(cornwall(), metrics=METRICS, out=url, limit=5)
    assert at(s3, url) == before
    s3.pipe_file(f"{bucket}/other/letters.txt", b"dear")
    with pytest.raises(RunConflict, match="is not empty and holds no run"):
        evaluate(cornwall(), metrics=METRICS, out=f"{bucket}/other", limit=LIMIT)
    assert names(s3, f"{bucket}/other") == {"letters.txt"}


def test_commands_read_a_run_at_a_url(bucket: str, tmp_path: Path, elsewhere: Machines) -> None:
    url = f"{bucket}/run"
    evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    elsewhere.another()
    first = Run.open(url).examples()["id"][0]
    for given in (
        ["show", url, first],
        ["compare", url, url],
        ["report", url, "--out", str(tmp_path / "report.html")],
        ["export", url, "--what", "scores", "--as", "csv", "--out", str(tmp_path / "s.csv")],
        ["show", url],
        ["gate", url, "--require", "token_f1>=0"],
    ):
        done = CliRunner().invoke(app, given)
        assert done.exit_code == 0, (given, done.output)
    for given in (["score", url, "-m", "recall"],):
        done = CliRunner().invoke(app, given)
        assert done.exit_code == 2
        assert f"{url} is read from a copy" in done.output
    with pytest.raises(InputError, match="is read from a copy"):
        rescore(url, metrics=["rouge_l"])


def test_a_bucket_that_is_not_there_or_not_ours_is_said_before_anything_is_judged(
    s3: s3fs.S3FileSystem, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=f"^{bucket}x/run cannot be written: there is no"):
        evaluate(cornwall(), metrics=METRICS, out=f"{bucket}x/run", limit=LIMIT)

    async def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(s3fs.S3FileSystem, "_pipe_file", refuse)
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(StorageAway, match="cannot be written: the store refuses it"):
        evaluate(cornwall(), metrics=METRICS, out=f"{bucket}/run", limit=LIMIT)
    assert names(s3, f"{bucket}/run") == set()


def test_a_changed_file_of_a_run_is_noticed(
    s3: s3fs.S3FileSystem, bucket: str, elsewhere: Machines
) -> None:
    url = f"{bucket}/run"
    evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    s3.pipe_file(f"{url}/estimates.json", b"[]")
    elsewhere.another()
    with pytest.raises(InputError, match="damaged"):
        Run.open(url).estimate_list  # noqa: B018


def test_a_damaged_run_is_made_anew_whichever_write_fails(
    s3: s3fs.S3FileSystem,
    bucket: str,
    cornwall_on_disk: dict[str, bytes],
    elsewhere: Machines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"{bucket}/run"
    evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    s3.pipe_file(f"{url}/estimates.json", b"[]")
    s3.pipe_file(f"{url}/scores/000000.parquet", b"PAR1")
    elsewhere.another()
    put = Remote.put
    for failing in range(100):
        calls = list[str]()

        def fail(self: Remote, place: str, content: bytes | Path, failing: int = failing,
                 calls: list[str] = calls) -> None:  # fmt: skip
            calls.append(place)
            if len(calls) > failing:
                raise StorageAway("The store is away.")
            put(self, place, content)

        with monkeypatch.context() as patch:
            patch.setattr(Remote, "put", fail)
            try:
                evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
            except StorageAway:
                continue
            break
    elsewhere.another()
    assert not Run.open(url).folder.damage()
    assert at(s3, url) == cornwall_on_disk
    assert not {name for name in names(s3, url) if name.startswith(("unfinished", ".lock"))}


def test_of_two_who_make_a_file_at_once_one_does(bucket: str, s3: s3fs.S3FileSystem) -> None:
    remote = Remote(f"{bucket}/run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Remote, "at", lambda *_: None)  # Neither sees the other's.
        assert remote.create("a", b"one")
        assert not remote.create("a", b"two")
    assert s3.cat_file(f"{bucket}/run/a") == b"one"


def test_the_copy_of_a_run_that_was_cut_off_is_made_anew(
    bucket: str, elsewhere: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket}/run"
    evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    elsewhere.another()
    fetch, fetched = Remote.fetch, list[str]()

    def fail(self: Remote, file: RemoteFile, into: Path) -> None:
        fetched.append(file.path)
        if len(fetched) == 3:
            raise StorageAway("The store is away.")
        fetch(self, file, into)

    with monkeypatch.context() as patch:
        patch.setattr(Remote, "fetch", fail)
        with pytest.raises(StorageAway):
            Run.open(url)
    assert not Run.open(url).folder.damage()


@pytest.mark.parametrize("name", ["", "/..", "/.", "/a/../b", "/run?signature=secret"])
def test_a_url_that_names_no_folder_is_refused(
    name: str, bucket: str, s3: s3fs.S3FileSystem, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="names no folder") as fault:
        evaluate(cornwall(), metrics=METRICS, out=f"{bucket}{name}" if name else "s3://")
    assert "secret" not in str(fault.value)
    assert names(s3, bucket) == set()
    assert not (tmp_path / "cache" / "runs").exists()


def test_what_is_not_of_the_run_is_left_alone(
    bucket: str, s3: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket}/runs"
    finish = RemoteFolder.finish

    def meanwhile(self: RemoteFolder, *given: Any) -> None:
        s3.pipe_file(f"{url}/next/run.json", b"of another run")
        s3.pipe_file(f"{url}/letters.txt", b"dear")
        finish(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(RemoteFolder, "finish", meanwhile)
        evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    assert {"next/run.json", "letters.txt", "run.json"} <= names(s3, url)


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_a_run_is_kept_whole_wherever_fsspec_writes(
    scheme: str, tmp_path: Path, cornwall_on_disk: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    url = f"{scheme}://{tmp_path}/there/run"
    evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    assert not (tmp_path / "there" / "run" / "unfinished").exists()
    (tmp_path / "cache").rename(tmp_path / "away")
    assert tables(Run.open(url).path) == cornwall_on_disk


def test_what_lies_beside_a_finished_run_is_no_fault_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = RemoteFolder.finish

    def meanwhile(self: RemoteFolder, *given: Any) -> None:
        (tmp_path / "run" / "unfinished" / "of a sync client").mkdir()
        finish(self, *given)

    monkeypatch.setattr(RemoteFolder, "finish", meanwhile)
    url = f"file://{tmp_path}/run"
    evaluate(cornwall(), metrics=METRICS, out=url, limit=LIMIT)
    assert Run.open(url).form.finished


def test_a_file_is_in_its_place_only_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = Remote(f"file://{tmp_path}/there")
    remote.put("run.json", b"old")

    def killed(*_: object, **__: object) -> None:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(LocalFileSystem, "mv", killed)
        with pytest.raises(StorageAway):
            remote.put("run.json", b"new")
    assert remote.read("run.json") == b"old"
