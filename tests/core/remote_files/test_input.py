"""Data at a URL is read as if it lay on the disk."""

import gzip
import json
import os
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import fsspec
import polars as pl
import pytest
import s3fs
from typer.testing import CliRunner

import ragstone
from ragstone import evaluate, read
from ragstone.cli.app import app
from ragstone.core.errors import InputError, MissingDependency, NothingThere, StorageAway
from ragstone.core.remote_files import Remote, RemoteFile, copy_of, is_url, shown_url
from ragstone.data import cornwall, to_frame

ROWS = [{"id": f"q{n}", "question": "Q?", "answer": f"é{n}", "reference": "A"} for n in range(3)]


def put(s3: s3fs.S3FileSystem, url: str, content: bytes) -> str:
    s3.pipe_file(url, content)
    return url


def lines(rows: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "json", "csv", "parquet"])
def test_each_format_is_read_from_s3_as_from_the_disk(
    ending: str, s3: s3fs.S3FileSystem, bucket: str, tmp_path: Path
) -> None:
    file = tmp_path / f"answers.{ending}"
    match ending:
        case "jsonl":
            file.write_bytes(lines(ROWS))
        case "jsonl.gz":
            file.write_bytes(gzip.compress(lines(ROWS)))
        case "json":
            file.write_text(json.dumps(ROWS))
        case "csv":
            pl.DataFrame(ROWS).write_csv(file)
        case _:
            pl.DataFrame(ROWS).write_parquet(file)
    url = put(s3, f"{bucket}/a b/answers.{ending}", file.read_bytes())
    here, there = read(str(file)), read(url)
    assert to_frame(list(there)).equals(to_frame(list(here)))
    assert there.fingerprint() == here.fingerprint()
    assert there.source == url


def test_a_folder_of_a_data_set_is_read_from_s3(s3: s3fs.S3FileSystem, bucket: str) -> None:
    put(s3, f"{bucket}/set/corpus.jsonl", b'{"_id": "d1", "title": "", "text": "Ice."}\n')
    put(s3, f"{bucket}/set/queries.jsonl", b'{"_id": "q1", "text": "What?"}\n')
    put(s3, f"{bucket}/set/qrels/test.tsv", b"query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    put(s3, f"{bucket}/set/bm25.trec", b"q1 Q0 d1 1 2.5 bm25\n")
    (example,) = read(f"{bucket}/set")
    assert example.question == "What?"
    assert [one.text for one in example.contexts or ()] == ["Ice."]


def test_a_changed_file_is_copied_anew_and_an_unchanged_one_is_not(
    s3: s3fs.S3FileSystem, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = put(s3, f"{bucket}/answers.jsonl", lines(ROWS))
    fetched = list[RemoteFile]()
    fetch = Remote.fetch

    def counted(self: Remote, file: RemoteFile, into: Path) -> None:
        fetched.append(file)
        fetch(self, file, into)

    monkeypatch.setattr(Remote, "fetch", counted)
    assert copy_of(url) == copy_of(url)
    assert len(fetched) == 1
    put(s3, url, lines(ROWS).replace(b"q1", b"z1"))  # Of the same size.
    assert [one.id for one in read(url)] == ["q0", "z1", "q2"]


def test_a_copy_is_forgotten_a_day_after_its_last_use(s3: s3fs.S3FileSystem, bucket: str) -> None:
    first = copy_of(put(s3, f"{bucket}/one.jsonl", lines(ROWS)))
    old = first.parent.with_name("of-a-command-that-ended")
    old.mkdir()
    past = time.time() - 25 * 3600
    for folder in (first.parent, old):
        os.utime(folder, (past, past))
    copy_of(put(s3, f"{bucket}/two.jsonl", lines(ROWS)))
    assert not old.exists()
    assert first.is_file(), "this process may read it again"


def test_data_on_s3_gives_the_run_that_the_same_data_on_the_disk_gives(
    s3: s3fs.S3FileSystem, bucket: str, tmp_path: Path
) -> None:
    url = put(s3, f"{bucket}/cornwall.jsonl", Path(cornwall()).read_bytes())
    evaluate(cornwall(), metrics=["token_f1"], out=tmp_path / "run")
    again = evaluate(url, metrics=["token_f1"], out=tmp_path / "run")
    assert again.form.data.source == str(cornwall()), "the finished run was printed again"
    done = CliRunner().invoke(
        app, ["evaluate", url, "-m", "token_f1", "--out", str(tmp_path / "new")]
    )
    assert done.exit_code == 0
    assert (tmp_path / "new/estimates.json").read_bytes() == (
        tmp_path / "run/estimates.json"
    ).read_bytes()


def test_labels_are_read_from_a_url(s3: s3fs.S3FileSystem, bucket: str) -> None:
    url = put(s3, f"{bucket}/labels.csv", b"id,correct\nq0,true\n")
    table = ragstone.annotation.read_label_table(url)
    assert table.frame["example_id"].to_list() == ["q0"]


@pytest.mark.parametrize("in_bucket", [True, False])
def test_what_is_not_there_is_said_in_one_line(bucket: str, in_bucket: bool) -> None:
    url = f"{bucket if in_bucket else bucket + 'x'}/none.jsonl"
    with pytest.raises(InputError) as error:
        read(url)
    assert str(error.value) == f"There is nothing at {url}."


def test_a_store_that_cannot_be_reached_or_refuses_is_said_in_one_line_without_secrets(
    s3: s3fs.S3FileSystem, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = put(s3, f"{bucket}/a.jsonl", lines(ROWS))

    async def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied very-secret")

    with monkeypatch.context() as patch:
        patch.setattr(s3fs.S3FileSystem, "_info", refuse)
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(StorageAway) as error:
            read(url)
    assert str(error.value) == (f"{url} cannot be read: the store refuses it to these credentials.")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(StorageAway, match="does not answer as it should") as away:
        read(url)
    assert "\n" not in str(away.value)
    assert "very-secret" not in str(away.value)


def test_credentials_in_a_url_are_refused_and_a_signature_is_not_shown() -> None:
    for url in ("s3://key:very-secret@bucket/a.jsonl", "https://token@host/a.jsonl"):
        with pytest.raises(InputError, match="There are credentials") as error:
            read(url)
        assert "token" not in str(error.value)
        assert "very-secret" not in str(error.value)
    assert shown_url("https://host/a.jsonl?X-Amz-Signature=1") == "https://host/a.jsonl?…"
    assert shown_url("abfs://box@account.dfs.core.windows.net/a").startswith("abfs://box@account")


def test_a_path_is_no_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_url("s3://bucket/a")
    assert not is_url("s3:/bucket/a")
    assert not is_url("C:\\a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:" / "a.jsonl").write_bytes(lines(ROWS))
    assert len(list(read("s3:/a.jsonl"))) == 3


def test_without_fsspec_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[s3\]'"):
        list(read("s3://bucket/rows.jsonl"))
    with pytest.raises(InputError, match=r"opens sftp:// for it: .* such as pip install 'ragston"):
        list(read("sftp://host/rows.jsonl"))


def test_a_url_that_nothing_reads_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(InputError, match=r"nothing reads this kind of URL\. Give a path, or a URL"):
        read("nosuch://place/a.jsonl")
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[gs\]'"):
        read("gs://bucket/a.jsonl")


def test_a_copy_that_is_not_whole_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path))
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/half/a.jsonl", lines(ROWS))
    monkeypatch.setattr(
        type(memory), "get_file", lambda _, __, to: Path(to).write_bytes(b"{}") and None
    )
    for _ in range(2):
        with pytest.raises(StorageAway, match="2 of"):
            read("memory://half/a.jsonl")
    assert list((tmp_path / "inputs").iterdir()) == []


def test_a_folder_of_very_many_files_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path))
    memory = fsspec.filesystem("memory")
    memory.pipe({f"/many/{n}.txt": b"1" for n in range(1001)})
    with pytest.raises(InputError, match="more than 1,000 files"):
        read("memory://many")


def test_a_name_that_leaves_its_folder_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Remote, "files", lambda _: [RemoteFile("/out/../../../../escaped", 1, "")])
    fsspec.filesystem("memory").pipe_file("/out/a", b"1")
    with pytest.raises(InputError, match="lies outside"):
        read("memory://out")
    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.parametrize(
    ("status", "error"), [(404, NothingThere), (503, StorageAway), (403, StorageAway)]
)
def test_a_fault_of_a_web_server_is_not_taken_for_a_file_that_is_not_there(
    status: int, error: type[InputError]
) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(error):
            read(f"http://127.0.0.1:{server.server_port}/a.jsonl")
        server.shutdown()


def test_a_server_that_is_away_is_not_taken_for_a_file_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(StorageAway, match="does not answer as it should"):
            read(f"http://127.0.0.1:{taken.getsockname()[1]}/a.jsonl")


def test_data_is_followed_where_it_redirects_also_to_this_machine() -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            inside = self.path == "/inside.jsonl"
            self.send_response(200 if inside else 302)
            self.send_header("content-length", str(len(content)) if inside else "0")
            if not inside:
                here = f"http://127.0.0.1:{server.server_port}"
                self.send_header("location", f"{here}/inside.jsonl")
            self.end_headers()
            if inside and self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing."""

    content = lines(ROWS)
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        rows = list(read(f"http://127.0.0.1:{server.server_port}/outside.jsonl"))
        server.shutdown()
    assert len(rows) == len(ROWS)
