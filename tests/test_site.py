"""The site of the documentation: its reference, its pages by task, and what would be wrong."""

import re
import runpy
from pathlib import Path

import pytest

import ragstone
from tests.project import ROOT

REFERENCE = runpy.run_path(str(ROOT / "docs" / "reference.py"))
SITE = runpy.run_path(str(ROOT / "docs" / "build_site.py"))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    made: dict[str, str] = REFERENCE["pages"]()
    return made


def test_the_reference_has_each_public_name_of_the_root(pages: dict[str, str]) -> None:
    lines = pages["ragstone"].splitlines()
    assert [name for name in ragstone.__all__ if f"## `{name}`" not in lines] == []


def test_the_reference_has_a_page_for_each_public_package(pages: dict[str, str]) -> None:
    assert "ragstone.stats" in pages
    assert "ragstone.core" not in pages
    assert all(text.startswith(f"# {name}\n") for name, text in pages.items())


def test_a_name_of_two_packages_is_described_once(pages: dict[str, str]) -> None:
    assert "class Context" in pages["ragstone"]
    assert "class Context:" not in pages["ragstone.data"]
    assert "See [`Context`](ragstone.md#context)." in pages["ragstone.data"]


def test_the_reference_has_signatures_arguments_and_methods(pages: dict[str, str]) -> None:
    assert "```py\n@classmethod\ndef open(cls, path: str | Path) -> 'Run': ...\n" in (
        pages["ragstone"].replace("\n    ...", " ...")
    )
    assert "**Args**\n\n- `labels`: Label files, or data that carry labels.\n" in pages["ragstone"]
    assert "\n### `Run.open`\n" in pages["ragstone"]
    assert not re.findall(r"^### `[\w.]+\._", "".join(pages.values()), flags=re.MULTILINE)


def test_the_reference_has_fields_what_each_is_and_how_an_object_is_made(
    pages: dict[str, str],
) -> None:
    assert "\nclass Context:\n    id: str\n    text: str | None\n" in pages["ragstone"]
    assert "**Attributes**\n\n- `ok`: True if no check failed, " in pages["ragstone.guard"]
    assert "**Attributes**\n\n- `family`: Its section in a report: " in pages["ragstone.metrics"]
    assert "\nclass Scored:\n    def __init__(self, run: Run, " in pages["ragstone.analysis"]
    assert "```python\nresult = assess(" in pages["ragstone.guard"]


def test_a_wrapped_function_has_its_own_name(pages: dict[str, str]) -> None:
    assert "```py\nasync def aassess(question" in pages["ragstone.guard"]


def test_a_set_has_the_same_order_in_every_process() -> None:
    names = [f"name{number}" for number in range(10, 30)]
    assert REFERENCE["constant"]("NAMES", frozenset(names)) == f"NAMES = {names}"


def test_what_is_described_elsewhere_has_its_first_sentence() -> None:
    class Pier:
        """A pier, on land. It has more to it."""

    assert REFERENCE["summary"](Pier) == "A pier, on land."


def test_a_docstring_becomes_markdown() -> None:
    docstring = """Give ``x``.

    A table:

    a      the first
    b      the second

        x = a
            b

    Args:
        a: Its text,
            on two lines.
        b: Another.

    Raises:
        InputError: It fails.
    """
    assert REFERENCE["markdown"](docstring) == "\n\n".join(
        [
            "Give `x`.",
            "A table:",
            "```text\na      the first\nb      the second\n```",
            "```text\nx = a\n    b\n```",
            "**Args**",
            "- `a`: Its text, on two lines.\n- `b`: Another.",
            "**Raises**",
            "- `InputError`: It fails.",
        ]
    )


def test_every_page_of_the_documentation_is_in_the_navigation_and_on_the_site() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = {path for pages in SITE["navigation"](index).values() for path in pages.values()}
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= listed
    assert {ROOT / path for path in listed} <= set(SITE["documents"]())


def test_the_site_has_what_its_first_page_leads_to(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "[b](b.md#part), [d](https://rag.test/d.md)\n\n```\n[c](c.md)\n```\n"
    )
    (tmp_path / "b.md").write_text("[a](a.md) ![A picture](p.png)")
    for name in ("c.md", "d.md", "p.png"):
        (tmp_path / name).touch()
    names = [file.name for file in SITE["documents"](tmp_path / "a.md")]
    assert names == ["a.md", "b.md", "p.png"]


def test_llms_txt_lists_the_markdown_of_each_page() -> None:
    lines = SITE["llms"]({"Judge": {"Use LLM judges": "docs/judge-models.md"}}).splitlines()
    assert lines[0] == "# Ragstone"
    assert lines[-3:] == ["## Judge", "", "- [Use LLM judges](docs/judge-models.md)"]


def site_of(folder: Path, page: str, style: str = "") -> Path:
    (folder / "index.html").write_text(page, encoding="utf-8")
    (folder / "README.md").write_text("# Title", encoding="utf-8")
    (folder / "style.css").write_text(style, encoding="utf-8")
    return folder


def test_a_site_that_is_as_it_should_be_has_no_fault(tmp_path: Path) -> None:
    page = """<link rel="stylesheet" href="style.css"><h1 id="title">Title</h1>
      <a href="#title">here</a> <a href="index.html#title">there</a>
      <a href="https://example.org/x.html#y">elsewhere</a> <img src="data:image/png;base64,">"""
    style = "a { background: url('style.css') }"
    assert list(SITE["faults"](site_of(tmp_path, page, style))) == []


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<link href="//fonts.example/x.css">', "loads //fonts.example/x.css"),
        ('<img srcset="//cdn.example/x.png 2x">', "loads //cdn.example/x.png 2x"),
        ('<img src="gone.png">', "gone.png does not exist"),
        ('<a href="gone.html#part">x</a>', "gone.html#part does not exist"),
        ('<a href="#gone">x</a>', "#gone has no such part"),
        ("<p>```csv labels.csv a,b```</p>", "a block of code is shown as text"),
    ],
)
def test_a_page_that_loads_from_elsewhere_leads_nowhere_or_shows_marks_is_a_fault(
    page: str, fault: str, tmp_path: Path
) -> None:
    assert list(SITE["faults"](site_of(tmp_path, page))) == [f"index.html: {fault}"]


@pytest.mark.parametrize("rule", ["@import 'https://x.example/y.css'", "a{b:url(//x.example/y)}"])
def test_a_style_that_loads_from_elsewhere_is_a_fault(rule: str, tmp_path: Path) -> None:
    [fault] = SITE["faults"](site_of(tmp_path, "", rule))
    assert fault.startswith("style.css: loads ")


def test_a_page_without_its_markdown_is_a_fault(tmp_path: Path) -> None:
    site = site_of(tmp_path, "")
    (site / "other.html").touch()
    assert list(SITE["faults"](site)) == ["other.html: no Markdown beside it"]
    (site / "other.md").touch()
    (site / "README.md").unlink()
    assert list(SITE["faults"](site)) == ["index.html: no Markdown beside it"]
