"""``python -m ragstone.report RUN FILE``."""

from pathlib import Path

import pytest

import ragstone
from ragstone.report.__main__ import main

ROW = {"question": "How long?", "answer": "90 m", "reference": "90 m"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report") / "run"
    return str(ragstone.evaluate([ROW], metrics=["rouge_l"], out=folder).path)


@pytest.mark.parametrize(("name", "begins"), [("p.svg", "<svg "), ("new/p.md", "# ")])
def test_the_ending_says_what_is_written(name: str, begins: str, run: str, tmp_path: Path) -> None:
    main([run, str(tmp_path / name)])
    assert (tmp_path / name).read_text(encoding="utf-8").lower().startswith(begins)


@pytest.mark.parametrize(
    ("run_folder", "file", "said"),
    [
        (None, "p.html", "a page is written as .svg, .md; `ragstone report RUN` writes HTML."),
        ("no-run", "p.svg", "There is no folder no-run: `ragstone evaluate DATA --out no-run`"),
        (None, "taken/p.svg", "taken: File exists"),
    ],
)
def test_what_cannot_be_written_is_told_in_words(
    run_folder: str | None, file: str, said: str, run: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "taken").touch()
    with pytest.raises(SystemExit) as ended:
        main([run_folder or run, str(tmp_path / file)])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
