"""The pictures that the docs show are of the pages as they are drawn now."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.project import ROOT

SCREENS = runpy.run_path(str(ROOT / "docs" / "screens.py"))
PICTURES = ROOT / "docs" / "screens"


@pytest.mark.parametrize("name", SCREENS["VIEWS"])
def test_picture_is_not_older_than_its_page(name: str) -> None:
    taken = json.loads((PICTURES / "drawn-from.json").read_text(encoding="utf-8"))
    assert taken[name] == SCREENS["drawn_from"](name), "python docs/screens.py takes them anew"


def test_every_picture_is_of_a_page_and_shown_in_the_docs() -> None:
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/gallery.md")]
    shown = re.findall(r"screens/([\w-]+)\.png", "".join(texts))
    looks = {f"{name}{look}" for name in SCREENS["IN_EACH_LOOK"] for look in ("-dark", "-phone")}
    pictures = {file.stem for file in PICTURES.glob("*.png")}
    assert pictures == set(shown) == {*SCREENS["VIEWS"], *looks}


@pytest.mark.parametrize(
    "file",
    [
        "web/pages/compare_view.py",
        "web/templates/compare.html",
        "web/templates/base.html",
        "web/static/style.css",
        "report/render/colours.css",
    ],
)
def test_a_page_is_drawn_from_its_code_templates_and_styles(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = SCREENS["drawn_from"]("compare")
    read = Path.read_bytes

    def changed(path: Path) -> Any:
        return b"changed" if path.as_posix().endswith(f"src/ragstone/{file}") else read(path)

    monkeypatch.setattr(Path, "read_bytes", changed)
    assert SCREENS["drawn_from"]("compare") != before
