"""Run folders that Ragstone 0.1.0 wrote in shards still open and go on."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragstone import compare, evaluate, rescore
from ragstone.cli.app import app
from ragstone.core.errors import DamagedRun, InputError, RunConflict
from ragstone.run import Run
from ragstone.run.folder.checksums import CHECKSUM, signed
from ragstone.run.folder.run_tally import VERSION
from ragstone.testing import ScriptedModel

KEPT = Path(__file__).parent / "kept_runs"
RELEVANT, NOT_RELEVANT = {"topically_relevant": True}, {"topically_relevant": False}
DATA: list[dict[str, Any]] = [
    {
        "id": "e1",
        "system": "a",
        "question": "Who built it?",
        "answer": "Harvey.",
        "reference": "Harvey.",
        "contexts": [{"id": "c1", "text": "Harvey built it."}, {"id": "c2", "text": "It rains."}],
        "labels": {"contexts": [RELEVANT, NOT_RELEVANT]},
    },
    {
        "id": "e2",
        "system": "a",
        "question": "When was it built?",
        "answer": "In 1859.",
        "reference": "In 1857.",
        "contexts": [{"id": "c3", "text": "It was opened in 1859."}],
        "labels": {"contexts": [RELEVANT]},
    },
]
ASKED: dict[str, Any] = {"metrics": ["precision", "exact_match"], "judge": "human", "cluster": "id"}
PRECISION, EXACT_MATCH = (1 / 2 + 1) / 2, 1 / 2


def kept(name: str, tmp_path: Path, version: str = VERSION) -> Path:
    """A copy of a folder, as if this version of Ragstone had begun it, or another one."""
    folder = shutil.copytree(KEPT / name, tmp_path / name)
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    del manifest[CHECKSUM]
    manifest["settings"]["ragstone"] = version
    (folder / "run.json").write_text(json.dumps(signed(manifest)), encoding="utf-8")
    return folder


def values(run: Run) -> dict[str, float | None]:
    return {one.metric: one.value for one in run.estimate_list if not one.group}


def test_a_kept_run_opens_and_is_shown(tmp_path: Path) -> None:
    folder = kept("finished", tmp_path)
    run = Run.open(folder)
    assert values(run) == {"precision": PRECISION, "exact_match": EXACT_MATCH}
    assert run.judgements("relevance")["judge"].unique().to_list() == ["human"]
    shown = CliRunner().invoke(app, ["show", str(folder)])
    assert shown.exit_code == 0
    assert "exact_match" in shown.output


def test_the_same_call_leaves_a_kept_run_as_it_is(tmp_path: Path) -> None:
    folder = kept("finished", tmp_path)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    run = evaluate(DATA, **ASKED, out=folder)
    assert values(run) == {"precision": PRECISION, "exact_match": EXACT_MATCH}
    assert {file: file.read_bytes() for file in before} == before


def test_a_run_of_an_earlier_version_is_read_and_not_rewritten(tmp_path: Path) -> None:
    folder = kept("finished", tmp_path, "0.0.9")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert values(Run.open(folder)) == {"precision": PRECISION, "exact_match": EXACT_MATCH}
    with pytest.raises(RunConflict, match=r'"0\.0\.9"'):
        evaluate(DATA, **ASKED, out=folder)
    assert {file: file.read_bytes() for file in before} == before


def test_a_kept_run_that_was_stopped_goes_on_behind_its_first_shard(tmp_path: Path) -> None:
    folder = kept("stopped", tmp_path)
    first = (folder / "parts" / "scores" / "000000.parquet").read_bytes()
    judged: list[int] = []

    def look(progress: Any) -> None:
        judged.append(progress.examples)
        assert (folder / "parts" / "scores" / "000000.parquet").read_bytes() == first

    run = evaluate(DATA, **ASKED, out=folder, progress=look)
    assert min(judged) == 2
    assert values(run) == {"precision": PRECISION, "exact_match": EXACT_MATCH}


def test_a_metric_can_be_added_to_a_kept_run(tmp_path: Path) -> None:
    run = rescore(kept("finished", tmp_path), metrics="mrr")
    assert values(run) == {"precision": PRECISION, "exact_match": EXACT_MATCH, "mrr": 1}


def test_a_kept_run_counted_words_otherwise_and_is_not_compared_silently(tmp_path: Path) -> None:
    old = rescore(kept("finished", tmp_path), metrics="token_f1")
    new = evaluate(DATA, metrics=["exact_match", "token_f1"], out=tmp_path / "new")
    for run, counted in ((old, "text:ascii"), (new, "text:unicode/1")):
        signatures = [one.signature for one in run.estimate_list]
        assert all(counted in one for one in signatures if not one.startswith("precision"))
        assert counted in run.signature
    assert "text:" not in evaluate(DATA, metrics="precision", judge="human").signature
    with pytest.raises(InputError, match="token_f1: text ascii in finished, unicode/1 in new"):
        compare(old, new, metrics=["token_f1"])
    assert values(old)["token_f1"] == values(new)["token_f1"]


def test_what_a_model_said_in_a_kept_run_is_there_and_scored_further(tmp_path: Path) -> None:
    folder = kept("by_model", tmp_path)
    run = Run.open(folder)
    assert values(run) == {"faithfulness": 1}
    assert [call.task for call in run.calls("e1")] == ["claims", "support"]
    assert values(rescore(folder, metrics="hallucination")) == {
        "faithfulness": 1,
        "hallucination": 0,
    }


def test_a_folder_with_one_file_a_table_is_made_anew_by_the_same_call_and_asks_no_model_again(
    tmp_path: Path,
) -> None:
    folder = kept("old_layout", tmp_path)
    with pytest.raises(DamagedRun, match=r"(?s)shards\.jsonl, got none.*makes it anew"):
        Run.open(folder).scores()
    asked: list[object] = []

    def reply(request: object) -> str:
        asked.append(request)
        return "{}"

    run = evaluate(DATA, metrics="faithfulness", judge=ScriptedModel(reply), out=folder)
    assert asked == []
    assert values(run) == {"faithfulness": 1}
    assert run.judgements("claims")["text"].to_list() == ["Harvey built it."] * 2
    assert not run.folder.damage()


@pytest.mark.parametrize("name", ["finished", "stopped"])
def test_settings_are_kept_as_they_were_written(name: str, tmp_path: Path) -> None:
    folder = kept(name, tmp_path)
    before = json.loads((folder / "run.json").read_text(encoding="utf-8"))["settings"]
    evaluate(DATA, **ASKED, out=folder)
    after = json.loads((folder / "run.json").read_text(encoding="utf-8"))["settings"]
    assert list(after.items()) == list(before.items())
    evaluate(DATA, **ASKED, out=tmp_path / "new")
    new = json.loads((tmp_path / "new" / "run.json").read_text(encoding="utf-8"))["settings"]
    assert list(new.items()) == list(before.items())


def test_a_kept_run_without_criteria_has_none(tmp_path: Path) -> None:
    """Versions before wrote no column for them."""
    folder = kept("finished", tmp_path)
    assert Run.open(folder).examples()["criteria"].to_list() == [None, None]
    run = rescore(folder, metrics="criteria")
    assert run.scores().filter(metric="criteria")["reason"].to_list() == ["no_criteria"] * 2
