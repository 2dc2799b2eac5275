"""The page on guarding a request: its snippets run, one after the other, as a reader types them."""

import re
from pathlib import Path
from typing import Any

from ragstone.guard import Guard
from tests.project import ROOT

PAGE = (ROOT / "docs" / "guard.md").read_text(encoding="utf-8")


def test_the_snippets_run_one_after_the_other(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "snippet"}
    snippets = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert sum("assert" in one for one in snippets) >= 4
    for number, snippet in enumerate(snippets):
        file = tmp_path / f"snippet_{number}.py"
        file.write_text(snippet, encoding="utf-8")
        exec(compile(snippet, str(file), "exec"), names)


def test_every_check_is_told_and_no_other() -> None:
    heads = re.findall(r"^\| (`.*?) \| `.*?` \| ", PAGE.partition("## Before")[0], re.MULTILINE)
    told = [one.strip("`") for head in heads for one in head.split(", ")]
    assert told == [one.check for one in Guard().assess("Q?", "A.", ["C."]).checks]
