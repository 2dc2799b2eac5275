"""The app as files."""

import re
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from shutil import copytree
from urllib.parse import unquote, urlsplit

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import ragstone
from ragstone.cli.app import app
from ragstone.core.errors import InputError
from ragstone.web import static_site as static_files
from ragstone.web.page_request import run_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.static_site import static_page, write_static
from ragstone.web.web_app import make_app

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(1)> ../../x \u202e'


def nowhere(_: str) -> str:
    return ""


def record(at: int, system: str = "a") -> dict[str, object]:
    return {
        "id": f"{at} {EVIL} {system}",
        "question_id": f"q{at}",
        "system": system,
        "question": f"{at}? {EVIL}",
        "answer": f"90 {EVIL}" if at % 2 else "90",
        "reference": "90",
        "contexts": [{"id": "c", "text": f"It is 90. {EVIL}"}],
    }


class Read(HTMLParser):
    """The tags of a file with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static") / "runs"
    rows = [record(at, system) for at in range(3) for system in ("a", "b")]
    ragstone.evaluate(rows, metrics=["exact_match"], out=folder / "first")
    return folder


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with claims of two systems."""
    folder = tmp_path_factory.mktemp("judged") / "runs"
    rows = [
        {
            "id": f"e{at}", "question_id": f"q{at // 2}", "system": "ab"[at % 2],
            "question": "How tall?", "answer": f"Tower {at} is 90 m tall.", "reference": "90 m",
            "contexts": [{"id": "c", "text": f"Tower {at} is 90 m tall."}],
        }
        for at in range(4)
    ]  # fmt: skip
    ragstone.evaluate(rows, metrics=["faithfulness", "exact_match"], out=folder / "judged")
    return folder


@pytest.fixture(scope="module")
def site(runs: Path) -> Path:
    write_static(runs, runs.parent / "site")
    return runs.parent / "site"


def test_every_link_leads_to_a_file_that_is_there(site: Path) -> None:
    tags = {file: Read(file.read_text("utf-8")).tags for file in site.rglob("*.html")}
    assert len(tags) > 6
    ids = {file: {of["id"] for _, of in here if "id" in of} for file, here in tags.items()}
    for file, here in tags.items():
        for link in (of[name] for _, of in here for name in ("href", "src") if name in of):
            where = urlsplit(link)
            assert not where.scheme, link
            assert not where.netloc, link
            assert not where.path.startswith("/"), link
            target = (file.parent / unquote(where.path)).resolve() if where.path else file
            assert target.is_file(), link
            if where.fragment:
                assert where.fragment.partition("?")[0] in ids[target], link


def test_nothing_asks_a_server_and_no_page_has_a_form(site: Path) -> None:
    for file in site.rglob("*.html"):
        for tag, of in Read(file.read_text("utf-8")).tags:
            assert tag != "form" or of.get("method") == "dialog" or of.get("id") == "filter"
            assert not [name for name in of if name.startswith(("hx-", "on"))]
            assert tag != "meta" or of.get("name") != "secret"
            assert "htmx" not in of.get("src", "")


def test_each_page_forbids_what_is_not_beside_it(site: Path) -> None:
    for file in site.rglob("*.html"):
        policies = [of["content"] for _, of in Read(file.read_text("utf-8")).tags
                    if "http-equiv" in of]  # fmt: skip
        assert len(policies) == 1
        assert policies[0].startswith("default-src 'none'")
        assert "http" not in policies[0]


def test_hostile_ids_make_plain_names_and_stay_text(site: Path) -> None:
    names = [file.name for file in (site / "pages").iterdir()]
    assert all(re.fullmatch(r"[a-z0-9-]+\.html", name) for name in names)
    examples = [file for file in (site / "pages").iterdir() if "examples" in file.name]
    assert len(examples) == 6
    for file in examples:
        text = file.read_text("utf-8")
        assert "<script>alert" not in text
        assert "\u202e" not in text
        assert "<script>alert(1)</script>" in unescape(text)


def test_of_many_examples_the_worst_have_a_page(runs: Path, tmp_path: Path) -> None:
    found = write_static(runs, tmp_path / "site", most=5, worst=2)
    names = [file.name for file in (tmp_path / "site" / "pages").iterdir()]
    assert sum("examples" in name for name in names) == 2
    assert "first: the 2 worst of 6 answers have a page." in found.left_out
    whole = write_static(runs, tmp_path / "whole", most=6, worst=2)
    assert not any("worst" in line for line in whole.left_out)


def test_a_run_has_so_many_pages_of_comparisons_and_says_when_some_are_left_out(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_files, "COMPARISONS", 0)
    written = write_static(runs, tmp_path / "site")
    assert "first: only 0 of its comparisons have a page." in written.left_out
    assert not list((tmp_path / "site").glob("pages/compare*"))


def test_a_copy_has_no_page_for_an_order_a_filter_or_a_group(tmp_path: Path) -> None:
    """A page for each example, and a few for each run however many metrics it has."""
    rows = [record(at, system) for at in range(10) for system in ("a", "b")]
    metrics = ["exact_match", "token_f1", "rouge_l", "faithfulness", "answer_outcome", "recall"]
    for name in ("first", "second"):
        ragstone.evaluate(rows, metrics=metrics, by=["question_id"], out=tmp_path / "runs" / name)
    written = write_static(tmp_path / "runs", tmp_path / "site")
    files = [file for file in (tmp_path / "site").rglob("*") if file.is_file()]
    pages = [file for file in files if file.suffix == ".html"]
    examples = [file for file in pages if "examples" in file.name]
    assert written.pages == len(pages)
    assert len(examples) == 2 * 20
    # For each run: itself, the judge, the report, and comparisons without and with a system.
    assert len(pages) - len(examples) - 1 <= 2 * 6
    # What pages share is a file of its own: a small page of an example stays small.
    assert max(file.stat().st_size for file in examples) < 20_000
    assert sum(file.stat().st_size for file in files) < 40 * 25_000
    for page in pages:
        text = page.read_text("utf-8")
        assert "<style" not in text
        assert "data:font" not in text
        assert "<script>" not in text.replace("&lt;", "<<")


def test_an_example_of_a_copy_shows_what_the_app_shows(judged: Path, tmp_path: Path) -> None:
    write_static(judged, tmp_path / "site")
    app = make_app(RunsFolder(judged), Access(frozenset({"testserver"})))
    shown = TestClient(app).get(run_path("judged", "examples", "e1")).text
    (file,) = (tmp_path / "site" / "pages").glob("*examples-e1-*")
    written = file.read_text("utf-8")
    for start, end in [
        ('<h2 class="ask"', "</section>"),
        ('<p class="read kept" id="answer"', "</section>"),
        ('<p class="facts" id="first-scores">', "</p>"),
        ('<div class="scoreline">', "</section>"),
        ('<div class="read small"', "</div>"),
    ]:
        part = shown.partition(start)[2].partition(end)[0]
        assert part
        assert f"{start}{part}{end}" in written
    others = [
        re.sub(r' href="[^"]*"', "", text.partition('id="systems"')[2].partition("</section>")[0])
        for text in (shown, written)
    ]
    assert others[0] == others[1] != ""
    assert ("Copy as Markdown" in shown, "Copy as Markdown" in written) == (True, False)


def test_a_copy_shows_who_corrected_a_judgement(judged: Path, tmp_path: Path) -> None:
    copytree(judged / "judged", tmp_path / "runs" / "judged")
    run = ragstone.Run.open(tmp_path / "runs" / "judged")
    run.correct("e1", "support", {"verdict": "absent"}, unit=1, author="Ada", reason="it is not")
    write_static(tmp_path / "runs", tmp_path / "site")
    pages = {file.name: file.read_text("utf-8") for file in tmp_path.glob("site/pages/*examples*")}
    (corrected,) = [text for text in pages.values() if "Ada" in text]
    assert "<s>supported</s>" in corrected
    # The score by the judge alone stands beside the one that holds.
    assert '<s>1.000</s> <span class="by">corrected</span>' in corrected


def test_files_that_are_there_are_not_written_over(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(InputError, match="not an empty folder"):
        write_static(runs, tmp_path)


def test_a_single_run_is_written_from_the_command_line(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "first", tmp_path / "one")
    out = tmp_path / "site"
    result = CliRunner().invoke(app, ["view", str(tmp_path / "one"), "--static", str(out)])
    assert result.exit_code == 0, result.output
    assert f"Open {out / 'index.html'}" in result.output.replace("\n", "")
    assert (out / "static" / "style.css").is_file()
    assert list((out / "static" / "fonts").glob("*.woff2"))
    assert "<title>one" in (out / "index.html").read_text("utf-8")
    assert sum("examples" in file.name for file in (out / "pages").iterdir()) == 6


def test_how_far_it_is_counts_the_examples_from_the_start(runs: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = write_static(
        runs, tmp_path / "site", progress=lambda number, of: told.append((number, of))
    )
    assert [number for number, _ in told] == list(range(1, found.pages + 1))
    assert told[0][1] >= 7
    assert told[-1] == (found.pages, found.pages)


def test_a_form_goes_with_its_controls_but_for_the_table_that_it_holds() -> None:
    page = (
        '<form method="post" action="/"><button>Save</button></form>'
        '<form class="filters" action="/"><label for="q">find</label><input id="q">'
        "<table><tr><td><input name=run><b>1</b></td></tr></table></form>"
    )
    assert static_page(page, nowhere, "") == "<div><table><tr><td><b>1</b></td></tr></table></div>"


def test_a_link_without_a_file_is_text_and_a_button_without_one_goes() -> None:
    page = '<a href="/x?q=1">words</a><a class="btn" href="/y">next</a><a href="#here">here</a>'
    assert static_page(page, nowhere, "") == '<a>words</a><a href="#here">here</a>'


def test_a_link_is_read_as_a_browser_reads_it() -> None:
    asked: list[str] = []

    def link(address: str) -> str:
        asked.append(address)
        return "p/a&b.html#x"

    page = '<a class="c" href="/runs/a?x=1&amp;y=2#z" hx-get="/runs/a">&lt;b&gt; &amp; <i>c</i></a>'
    assert static_page(page, link, "") == (
        '<a class="c" href="p/a&amp;b.html#x">&lt;b&gt; &amp; <i>c</i></a>'
    )
    assert asked == ["/runs/a?x=1&y=2#z"]


def test_what_corrects_a_verdict_shows_the_verdict_alone() -> None:
    page = (
        '<details class="over" name="o"><summary class="set v good"><svg/><b>yes</b></summary>'
        '<div class="sheet"><div><button form="f">no</button></div></div></details><p>x</p>'
    )
    assert static_page(page, nowhere, "") == (
        '<span class=""><span class="good v"><svg/><b>yes</b></span></span><p>x</p>'
    )
