import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.cli.evaluate import _sides, _why_taken
from ragstone.core.errors import RunConflict
from ragstone.report.run_notes import notes_on_data
from ragstone.run.folder.schemas import NO_DATA

Command = Callable[..., Any]

OWN = '''
from ragstone.judgements import Claims
from ragstone.metrics import metric


@metric(over=Claims)
def share_of_factual_claims():
    """Share of the claims that are factual."""
    return (Claims.text.str.len_chars() > 0).mean()
'''


TALKS = '''
from ragstone.data import Example
from ragstone.metrics import Range, metric


@metric(over=Example, range=Range(0, float("inf"), better="0"))
def length(example):
    """Characters of the answer."""
    print("look at me")
    return float(len(example.answer))
'''


def test_the_table_names_systems_values_and_the_run(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    outcome = ragstone("evaluate", data, "-m", "token_f1", "--out", tmp_path / "run")
    assert outcome.status == 0
    assert "6 answers" in outcome.out
    assert "token_f1" in outcome.out
    assert "1.000" in outcome.out
    assert "ragstone show" in outcome.out
    assert "\x1b" not in outcome.out, "no colours in a pipe"


def test_json_is_one_strict_object(ragstone: Command, data: Path, tmp_path: Path) -> None:
    outcome = ragstone("evaluate", data, "--by", "topic", "--out", tmp_path / "run", "--json")
    found = outcome.json
    assert found["run"] == str(tmp_path / "run")
    assert found["exit_status"] == outcome.status == 0
    assert found["signature"]
    assert {"metric", "group", "value", "low", "high", "level", "method", "n", "n_undefined",
            "n_missing", "worst", "best"} <= set(found["estimates"][0])  # fmt: skip
    groups = [one["group"] for one in found["estimates"] if one["metric"] == "token_f1"]
    assert {"system": "a"} in groups
    assert {"system": "a", "topic": "mine"} in groups
    assert any("local" in warning for warning in found["warnings"])


def test_exit_status_4_when_too_much_is_missing(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    outcome = ragstone("evaluate", data, "-m", "helpfulness", "--out", tmp_path / "run")
    assert outcome.status == 4
    assert "missing" in outcome.out
    assert "6 of 6 scores are missing" in outcome.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "faithfulnes"], "Did you mean faithfulness"),
        (["-m", "precision(k="], "is not a metric"),
        (["-m", "precision(j=3)"], "has no parameter j"),
        (["-m", "faithfulnes", "-m", "nonsense", "--suite", "graphrg"], "'nonsense'"),
        (["--criterion", ""], "A criterion is empty"),
        (["--yes-no", "  "], "A criterion is empty"),
        (["--suite", "graphrg"], "graphrag"),
        (["--judge", "nobody"], "nobody"),
        (["--by", "colour"], "colour"),
        (["--map", "answer"], "FIELD=COLUMN"),
        (["--metrics-from", "nowhere.py"], "nowhere.py"),
        (["--limit", "0"], "limit"),
        (["--embedder", "no-such-encoder"], "no-such-encoder"),
        (["--embedder", "nowhere/", "--offline"], "nowhere/"),
        (["--cross-encoder", "builtin:minilm", "--offline"], "builtin:minilm"),
        (["--bertscore", "layer=last"], "layer=NUMBER"),
        (["--no-such-option"], "no-such-option"),
    ],
)
def test_bad_usage_ends_with_2_and_says_why(
    options: list[str], said: str, ragstone: Command, data: Path, tmp_path: Path
) -> None:
    outcome = ragstone("evaluate", data, "--out", tmp_path / "run", *options)
    assert outcome.status == 2
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert not outcome.out


@pytest.mark.parametrize(
    "content",
    [b"", b"{not json}\n", b"\x00\xff\xfe\x01binary", b'{"question": 3}\n', b"[" * 100_000],
    ids=["empty", "broken", "binary", "wrong types", "nested"],
)
def test_bad_data_ends_with_2_and_no_traceback(
    content: bytes, ragstone: Command, tmp_path: Path
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    outcome = ragstone("evaluate", path, "--out", tmp_path / "run")
    assert outcome.status == 2
    assert "bad.jsonl" in outcome.err
    assert "Traceback" not in outcome.err


def test_every_fault_is_told_at_once(
    ragstone: Command, write: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [{"id": "x", "answer": "a"}, {"id": "x", "answer": "b"}, {"id": "y", "answer": True}]
    outcome = ragstone("evaluate", write(tmp_path / "d.jsonl", rows), "--out", tmp_path / "run")
    assert outcome.status == 2
    assert "d.jsonl:2" in outcome.err
    assert "d.jsonl:3" in outcome.err


def test_a_missing_file_ends_with_2(ragstone: Command, tmp_path: Path) -> None:
    outcome = ragstone("evaluate", tmp_path / "none.jsonl", "--out", tmp_path / "run")
    assert outcome.status == 2
    assert "none.jsonl" in outcome.err


def test_skip_bad_goes_on_and_says_where_the_rejected_lie(
    ragstone: Command, write: Callable[..., Path], rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = write(tmp_path / "d.jsonl", [*rows, {"id": "bad", "answer": {}}])
    outcome = ragstone("evaluate", path, "--skip-bad", "-m", "token_f1", "--out", tmp_path / "run")
    assert outcome.status == 0
    assert "1 bad row" in outcome.err
    rejected = tmp_path / "run" / "rejected.jsonl"
    assert str(rejected) in outcome.err
    assert len(rejected.read_text(encoding="utf-8").splitlines()) == 1


def test_labels_that_break_a_rule_are_told(
    ragstone: Command, write: Callable[..., Path], rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    broken = {"contexts": [{"topically_relevant": 0, "evidence_sufficient": 1}, {}]}
    path = write(tmp_path / "d.jsonl", [rows[0] | {"labels": broken}, *rows[1:]])
    outcome = ragstone("evaluate", path, "-m", "precision", "--out", tmp_path / "run")
    assert outcome.status == 0
    assert "contradicts another of the same answer" in outcome.err
    assert (tmp_path / "run" / "label_violations.jsonl").is_file()


def test_an_old_name_is_explained(ragstone: Command, data: Path, tmp_path: Path) -> None:
    outcome = ragstone("evaluate", data, "-m", "ragas_faithfulness", "--out", tmp_path / "run")
    assert outcome.status == 0
    assert "ragas_faithfulness is faithfulness here" in outcome.err


def test_columns_can_be_mapped(
    ragstone: Command, write: Callable[..., Path], rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    renamed = [
        {("my_words" if key == "answer" else key): value for key, value in row.items()}
        for row in rows
    ]
    path = write(tmp_path / "d.jsonl", renamed)
    outcome = ragstone("evaluate", path, "--map", "answer=my_words", "-m", "token_f1",
                       "--out", tmp_path / "run", "--json")  # fmt: skip
    assert outcome.status == 0
    assert outcome.json["estimates"][0]["n"] == 6


def test_limit_reads_the_first_rows(ragstone: Command, data: Path, tmp_path: Path) -> None:
    outcome = ragstone("evaluate", data, "--limit", 2, "--offline", "--json", "--out",
                       tmp_path / "run", "-m", "token_f1")  # fmt: skip
    assert outcome.json["data"]["examples"] == 2


def test_without_an_encoder_what_needs_one_is_missing_and_it_is_said_what_to_do(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    outcome = ragstone("evaluate", data, "-m", "semantic_similarity", "-m", "token_f1", "--offline",
                       "--out", tmp_path / "run")  # fmt: skip
    assert outcome.status == 4
    assert "1.000" in outcome.out
    assert "ragstone[local]" in outcome.out
    assert "No encoder" in outcome.err
    assert "ragstone models pull" in outcome.err


def test_the_suite_for_embeddings_has_all_its_values(
    ragstone: Command, data: Path, tmp_path: Path, minilm_by_name: Path
) -> None:
    assert minilm_by_name.is_dir()
    run = tmp_path / "run"
    outcome = ragstone("evaluate", data, "--suite", "embedding", "-m", "bertscore_f1", "--offline",
                       "--out", run, "--json")  # fmt: skip
    assert outcome.status == 0, outcome.err
    found = outcome.json
    assert all(one["n"] == 6 for one in found["estimates"] if not one["group"])
    assert "encoder:builtin:minilm@" in found["signature"]
    outcome = ragstone("score", run, "-m", "answer_correctness", "-m", "bertscore_recall", "--json",
                       "--offline")  # fmt: skip
    recall = [one for one in outcome.json["estimates"] if one["metric"] == "bertscore_recall"]
    assert recall[0]["n"] == 6


@pytest.mark.usefixtures("registries")
def test_values_outside_of_the_range_of_a_metric_are_said_to_be_missing(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from ragstone.data import Example\n"
        "from ragstone.metrics import metric\n\n\n"
        "@metric(over=Example)\n"
        "def letters_of_a(example):\n"
        '    return len(example.answer) if example.system == "a" else 1\n',
        encoding="utf-8",
    )
    outcome = ragstone("evaluate", data, "--metrics-from", own, "-m", "token_f1", "--out",
                       tmp_path / "run")  # fmt: skip
    said = "letters_of_a: 3 scores lie outside of the metric's range, so missing."
    assert said in " ".join(outcome.err.split())


@pytest.mark.usefixtures("registries")
def test_metrics_of_ones_own_are_scored(ragstone: Command, data: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN, encoding="utf-8")
    outcome = ragstone("evaluate", data, "-m", "token_f1", "--metrics-from", own, "--json",
                       "--out", tmp_path / "run")  # fmt: skip
    assert outcome.status == 0, outcome.err
    found = {one["metric"] for one in outcome.json["estimates"]}
    assert found == {"token_f1", "share_of_factual_claims"}


@pytest.mark.usefixtures("registries")
def test_what_a_metric_of_ones_own_prints_is_none_of_the_results(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(TALKS, encoding="utf-8")
    outcome = ragstone("evaluate", data, "--metrics-from", own, "-m", "length", "--json",
                       "--out", tmp_path / "run")  # fmt: skip
    assert outcome.json["estimates"]
    assert "look at me" in outcome.err
    own = tmp_path / "own_too.py"
    own.write_text(f'print("loaded")\n{TALKS}', encoding="utf-8")
    ragstone("evaluate", data, "-m", "token_f1", "--out", tmp_path / "other")
    outcome = ragstone("score", tmp_path / "other", "--metrics-from", own, "-m", "length", "--json")
    assert outcome.json["estimates"]
    assert "loaded" in outcome.err
    assert "look at me" in outcome.err


def test_a_run_is_not_put_where_it_ends_with_the_command(ragstone: Command, data: Path) -> None:
    outcome = ragstone("evaluate", data, "-m", "token_f1", "--out", "memory://there/run")
    assert outcome.status == 2
    assert "in the memory of this command alone" in outcome.err


def test_the_same_command_goes_on_with_its_run(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    command = ("evaluate", data, "-m", "token_f1", "--out", tmp_path / "run")
    assert ragstone(*command).out == ragstone(*command).out


def test_a_named_run_of_other_settings_is_refused(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    assert ragstone("evaluate", data, "-m", "token_f1", "--out", tmp_path / "run").status == 0
    outcome = ragstone("evaluate", data, "-m", "rouge_l", "--out", tmp_path / "run")
    assert outcome.status == 2
    assert "metrics" in outcome.err


def test_without_out_the_run_is_named_after_the_data(
    ragstone: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = ragstone("evaluate", data, "-m", "token_f1", "--json")
    other = ragstone("evaluate", data, "-m", "rouge_l", "--json")
    again = ragstone("evaluate", data, "-m", "rouge_l", "--json")
    assert Path(first.json["run"]) == Path("runs/answers")
    assert Path(other.json["run"]) == Path("runs/answers-2")
    assert Path(again.json["run"]) == Path("runs/answers-2")
    told = (
        f"note: This run is in {Path('runs/answers-2')}, for {Path('runs/answers')} has other "
        "metrics (only there: token_f1, only here: rouge_l). `ragstone runs` lists them."
    )
    assert told in " ".join(other.err.split())
    assert "This run is in" not in first.err


def test_a_note_says_what_the_runs_beside_have_instead(
    ragstone: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "answers").mkdir(parents=True)
    (tmp_path / "runs" / "answers" / "mine.txt").touch()
    ragstone("evaluate", data, "-m", "token_f1", "--limit", 5)
    ragstone("evaluate", data, "-m", "token_f1", "--by", "topic")
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:4]))
    outcome = ragstone("evaluate", data, "-m", "token_f1")
    told = " ".join(outcome.err.split())
    assert (
        "This run is in runs/answers-4, for runs/answers is not empty and holds no run; "
        "runs/answers-2 has other data, limit (there 5, here none); runs/answers-3 has other data, "
        "by (only there: topic). `ragstone runs` lists them."
    ) in told
    assert "ragstone show runs/answers-4" in " ".join(outcome.out.split())


def test_of_many_runs_beside_the_last_three_are_told(
    ragstone: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for limit in range(1, 6):
        ragstone("evaluate", data, "-m", "token_f1", "--limit", limit)
    told = " ".join(ragstone("evaluate", data, "-m", "token_f1").err.split())
    assert (
        "This run is in runs/answers-6, for runs/answers-3 has other limit (there 3, here none); "
        "runs/answers-4 has other limit (there 4, here none); "
        "runs/answers-5 has other limit (there 5, here none); and 2 more. `ragstone runs`"
    ) in told


TOLD = ("metrics", "suites", "judges", "by", "cluster", "limit", "skip_bad", "columns")


@pytest.mark.parametrize("name", TOLD)
def test_what_a_user_chose_is_told_with_both_values(name: str) -> None:
    conflict = RunConflict("", differing={name: (1, None)})
    told = f"runs/x has other {name} (there 1, here none)"
    assert _why_taken(Path("runs/x"), conflict) == told


@pytest.mark.parametrize("name", ["data", "metrics", "suites", "judges"])
def test_what_follows_from_other_data_metrics_or_judges_is_not_told(name: str) -> None:
    for also, told in (("prompts", False), ("limit", True)):
        conflict = RunConflict("", differing={name: (1, 2), also: (1, 2)})
        assert (also in _why_taken(Path("runs/x"), conflict)) == told


def test_of_other_settings_and_of_the_data_the_name_is_told() -> None:
    conflict = RunConflict("", differing={"prompts": (1, 2), "limit": (1, 2), "level": (1, 2)})
    told = "runs/x has other prompts, limit (there 1, here 2), level"
    assert _why_taken(Path("runs/x"), conflict) == told
    conflict = RunConflict("", differing={"data": (1, 2)})
    assert _why_taken(Path("runs/x"), conflict) == "runs/x has other data"


def test_of_a_folder_without_a_run_the_first_sentence_is_told() -> None:
    told = _why_taken(Path("runs/x"), RunConflict("runs/x is not empty. Name another."))
    assert told == "runs/x is not empty"


@pytest.mark.parametrize(
    ("there", "here", "told"),
    [
        (["mrr"], [], "only there: mrr"),
        ([], ["mrr", "ndcg"], "only here: mrr, ndcg"),
        (list("abc"), list("wxyz"), "only there: a, b, c, only here: w, x, y and 1 more"),
        ({}, {"answer": "mine"}, "only here: answer=mine"),
        ({"answer": "mine"}, None, "there {'answer': 'mine'}, here none"),
        (None, ["mrr"], "there none, here ['mrr']"),
        (5, 6, "there 5, here 6"),
    ],
)
def test_a_setting_differs_by_its_values_or_by_what_one_side_has(
    there: object, here: object, told: str
) -> None:
    assert _sides(there, here) == told


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, []),
        (
            {"rejected": 1, "rejected_for": ["no id", "no answer"]},
            ["1 bad row was left out and lies in run/rejected.jsonl. The first: no id."],
        ),
        (
            {"rejected": 2000, "rejected_for": ["no id"]},
            ["2,000 bad rows were left out and lie in run/rejected.jsonl. The first: no id."],
        ),
        (
            {"label_violations": {"fabricated_requires_cited": 1,
                                  "evidence_excludes_misleading": 5}},
            ["1 label contradicts another of the same answer; all were kept: "
             "run/label_violations.jsonl."],
        ),
        (
            {"label_violations": {"answer_as_its_claims": 1, "fabricated_requires_cited": 1,
                                  "evidence_requires_relevance": 1}},
            ["3 labels contradict others of the same answer; all were kept: "
             "run/label_violations.jsonl."],
        ),
        ({"label_violations": {"evidence_excludes_misleading": 5}}, []),
        (
            {"label_ties": 1},
            ["1 label stays open, for annotators are split: run/label_ties.jsonl."],
        ),
        (
            {"label_ties": 2},
            ["2 labels stay open, for annotators are split: run/label_ties.jsonl."],
        ),
        (
            {"labels_of_nothing": ["q7", "q9"]},
            ["label files name examples that are not there, such as q7, q9."],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_data_is_counted_and_its_place_told(
    data: dict[str, Any], told: list[str]
) -> None:
    assert list(notes_on_data(NO_DATA.model_copy(update=data), Path("run"))) == told


def test_debug_shows_each_example_as_it_is_judged(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    given = ("evaluate", data, "-m", "faithfulness", "--judge", "local")
    assert ragstone(*given, "--debug", "--out", tmp_path / "a").err.count("question  How") == 6
    assert "question  How" not in ragstone(*given, "--out", tmp_path / "b").err


def test_a_file_in_place_of_the_folder_of_runs_ends_the_search(
    ragstone: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").touch()
    outcome = ragstone("evaluate", data, "-m", "token_f1")
    assert outcome.status == 2
    assert "inside a file" in outcome.err


def test_score_adds_metrics_to_a_run(ragstone: Command, data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert ragstone("evaluate", data, "-m", "faithfulness", "--out", run).status == 0
    outcome = ragstone("score", run, "-m", "hallucination", "--by", "topic", "--json")
    assert outcome.status == 0, outcome.err
    assert "hallucination" in {one["metric"] for one in outcome.json["estimates"]}
    stored = json.loads((run / "estimates.json").read_text(encoding="utf-8"))
    assert {"faithfulness", "hallucination"} <= {one["metric"] for one in stored}


def test_score_without_a_metric_says_what_is_missing(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert ragstone("evaluate", data, "-m", "token_f1", "--out", run).status == 0
    outcome = ragstone("score", run)
    assert outcome.status == 2
    assert "--metric" in outcome.err


@pytest.mark.parametrize("command", ["score", "show", "export"])
def test_a_folder_that_is_no_run_ends_with_2(
    command: str, ragstone: Command, tmp_path: Path
) -> None:
    options = ["-m", "token_f1"] if command == "score" else []
    outcome = ragstone(command, tmp_path, *options)
    assert outcome.status == 2
    assert "no run" in outcome.err
