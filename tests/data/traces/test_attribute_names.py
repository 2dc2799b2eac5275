"""The table of names: one place, which the page shows."""

import runpy

from ragstone.data.traces.attribute_names import FACTS, ROLES
from ragstone.data.traces.spans import SpanLimits
from tests.project import ROOT

DOCS = ROOT / "docs"


def test_the_page_shows_the_names_that_are_read() -> None:
    page = runpy.run_path(str(DOCS / "trace_names.py"))["page"]()
    shown = (DOCS / "trace-attributes.md").read_text(encoding="utf-8")
    assert shown == page, "python docs/trace_names.py writes it anew"


def test_no_attribute_says_two_things() -> None:
    names = [name for fact in FACTS for name in fact.names]
    assert len(names) == len(set(names))


def test_names_of_roles_are_in_small_letters() -> None:
    assert all(name == name.lower() for name in ROLES)


def test_a_text_is_cut_after_a_million_characters_as_the_page_says() -> None:
    page = (DOCS / "trace-attributes.md").read_text(encoding="utf-8")
    assert SpanLimits().attribute_length == 1_000_000
    assert "A text of more than 1,000,000 characters is cut" in page
