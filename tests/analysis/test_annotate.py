"""A queue is made of a run, of data, or of a sheet, and asks what the source can answer."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone.analysis.label_sampling.asked_labels import labels_asked, task_labels, with_choices
from ragstone.analysis.label_sampling.draw_sample import draw_sample
from ragstone.analysis.label_sampling.make_queue import annotate, more_examples
from ragstone.analysis.label_sampling.queue_items import label_sheet, write_sheet
from ragstone.analysis.scored_run import Scored
from ragstone.annotation import read_label_table
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, QueueItem, answer_faults
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import import_labels
from ragstone.core.errors import InputError, UnknownName
from ragstone.run import Run

ANSWERS = {"old": "The pier is 90 m long. It was built of oak.", "new": "It is 90 m long."}


def data() -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{n}-{system}",
            "question_id": f"q{n}",
            "system": system,
            "question": "How long is the pier?",
            "answer": answer,
            "contexts": ["The pier is 90 m long.", "It is white."],
        }
        for n in range(3)
        for system, answer in ANSWERS.items()
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "pier"
    ragstone.evaluate(data(), metrics=["faithfulness"], out=folder)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> LabelDatabase:
    return open_labels(tmp_path)


def every(queue: Queue) -> list[QueueItem]:
    queue.invite("ann")
    found = []
    one = queue.next("ann")
    while one is not None:
        found.append(one)
        one = queue.save("ann", one.item, ItemAnswers(discarded="x"), str(one.item))
    return found


def test_a_queue_of_a_run_asks_a_task_of_every_answer(run: Path, store: LabelDatabase) -> None:
    queue = annotate(run, store, tasks=["grounding"], per_item=2)
    assert queue.name == "pier-grounding"
    assert [one.label for one in queue.form.asked][:2] == [
        "support_present",
        "unsupported_claim_present",
    ]
    assert queue.form.asked[0].choices == ("yes", "no")
    assert set(queue.form.guidelines) == {"English", "German"}
    items = every(queue)
    assert sorted(one.id for one in items) == sorted(one["id"] for one in data())
    assert "old" not in json.dumps([dict(one.shown) for one in items])


def test_parts_are_labelled_one_by_one_unless_put_together(run: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    alone = every(annotate(run, open_labels(tmp_path / "one"), tasks=["retrieval"]))
    assert len(alone) == 12
    assert {len(one.parts) for one in alone} == {1}
    assert "contexts" not in alone[0].shown
    # Those of one answer follow each other.
    assert [one.id for one in alone[::2]] == [one.id for one in alone[1::2]]
    together = every(
        annotate(run, open_labels(tmp_path / "two"), tasks=["retrieval"], together=True)
    )
    assert [len(one.parts) for one in together] == [2] * 6


@pytest.mark.parametrize("together", [False, True])
def test_each_task_has_a_screen_of_its_own_that_shows_what_its_guideline_allows(
    run: Path, tmp_path: Path, store: LabelDatabase, together: bool
) -> None:
    tasks = ["retrieval", "grounding", "generation", "claims"]
    queue = annotate(run, store, tasks=tasks, n=1, together=together)
    queue.invite("ann")
    shown: dict[str, set[str]] = {}
    one = queue.next("ann")
    while one is not None:
        assert answer_faults(queue.form, one, ItemAnswers()) != []
        (task,) = {part.task for part in one.parts}
        labels: dict[tuple[str, str], dict[str, str]] = {
            (part.unit, part.name): {
                label.label: label.choices[-1] for label in queue.form.asked if part.asks(label)
            }
            for part in one.parts
        }
        shown.setdefault(task, set()).update(one.shown)
        assert answer_faults(queue.form, one, ItemAnswers(labels)) == []
        one = queue.save("ann", one.item, ItemAnswers(labels), str(one.item))
    # What shows more comes later.
    assert list(shown.items()) == [
        ("retrieval", {"question"}),
        ("generation", {"question", "answer"}),
        ("support", {"question", "contexts"}),
        ("grounding", {"question", "answer", "contexts"}),
    ]
    table = read_label_table(tmp_path / "labels.sqlite")
    assert len(table.columns) == len(queue.form.asked)
    assert table.used["value"].null_count() == 0


def test_a_label_asked_for_later_stands_on_the_screen_of_its_task(
    run: Path, store: LabelDatabase
) -> None:
    queue = annotate(run, store, asked=["helpful", "support_present"], n=1)
    (safe,) = with_choices(labels_asked(["unsafe_content"], None))
    queue.ask(safe)
    asked = [
        [label.label for label in queue.form.asked if part.asks(label)]
        for _, (part,) in queue.places().values()
    ]
    assert asked[:2] == [["helpful", "unsafe_content"], ["support_present"]]
    with pytest.raises(InputError, match="has a context to label with misleading"):
        queue.ask(with_choices(labels_asked(["misleading"], None))[0])


def test_labels_of_a_file_go_to_the_screens_of_their_tasks(
    run: Path, tmp_path: Path, store: LabelDatabase
) -> None:
    queue = annotate(run, store, asked=["helpful", "support_present"])
    file = tmp_path / "given.csv"
    file.write_text("id,annotator,helpful,support_present\nq0-old,ann,1,0\n")
    assert len(import_labels(queue, read_label_table(file))[0]) == 2
    assert [dict(one.answers.labels) for one in queue.said()] == [
        {("answer", ""): {"helpful": "yes"}},
        {("answer", ""): {"support_present": "no"}},
    ]


def test_claims_are_those_of_the_run(run: Path, store: LabelDatabase) -> None:
    items = every(annotate(run, store, tasks=["claims"]))
    texts = {part.text for one in items for part in one.parts}
    assert texts == {"The pier is 90 m long.", "It was built of oak.", "It is 90 m long."}
    assert "answer" not in items[0].shown


def test_a_metric_asks_what_it_needs_and_says_where_the_judge_is_in_doubt(
    run: Path, store: LabelDatabase
) -> None:
    queue = annotate(run, store, metric="faithfulness", n=4, route="doubt")
    assert [(one.label, one.unit) for one in queue.form.asked] == [("support", "claim")]
    found = {one.id for one in every(queue)}
    assert len(found) == 4
    # The old answers have a score of .5, right where yes becomes no; the new ones have 1.
    chances = {queue.item(n).id: p for n, p in (queue.inclusion() or {}).items()}
    assert min(chances[f"q{n}-old"] for n in range(3)) > max(chances[f"q{n}-new"] for n in range(3))


def test_the_worst_scores_come_first(run: Path, store: LabelDatabase) -> None:
    items = every(annotate(run, store, metric="faithfulness", asked=["helpful"], order="risk"))
    assert [one.id.partition("-")[2] for one in items] == ["old"] * 3 + ["new"] * 3


def test_a_null_answer_comes_last_for_there_is_nothing_to_label(
    store: LabelDatabase, tmp_path: Path
) -> None:
    rows = [{**data()[0], "id": "q0-null", "answer": None}, *data()]
    ragstone.evaluate(rows, metrics=["faithfulness"], out=tmp_path / "run")
    queue = annotate(
        tmp_path / "run", store, metric="faithfulness", asked=["helpful"], order="risk"
    )
    ids = [one.id.partition("-")[2] for one in every(queue)]
    assert (ids[:3], "null" in ids[:3]) == (["old"] * 3, False)


def test_answers_to_one_question_are_compared_blind_and_in_random_order(
    run: Path, tmp_path: Path
) -> None:
    store = open_labels(tmp_path)
    queue = annotate(run, store, tasks=["preference"], seed=2)
    queue.invite("ann")
    one = queue.next("ann")
    first = set()
    while one is not None:
        a, b = one.shown["answers"]
        assert {a["text"], b["text"]} == set(ANSWERS.values())
        assert "new" not in json.dumps([dict(one.shown), *map(str, one.parts)])
        first.add(a["text"])
        better = "A" if a["text"] == ANSWERS["new"] else "B"
        answers = ItemAnswers({("answer", ""): {"preference": better}})
        one = queue.save("ann", one.item, answers, str(one.item))
    assert len(first) == 2
    table = read_label_table(tmp_path / "labels.sqlite")
    assert table.columns == (("preference", "new"),)
    assert set(table.used["value"]) == {"loss"}
    assert set(table.used["example_id"]) == {"q0-old", "q1-old", "q2-old"}


def test_a_queue_of_data_has_the_claims_that_it_lists(tmp_path: Path, store: LabelDatabase) -> None:
    record = data()[0] | {"labels": {"claims": [{"text": "90 m."}, {"text": "Oak."}]}}
    file = tmp_path / "data.jsonl"
    file.write_text(json.dumps(record) + "\n")
    items = every(annotate(file, store, tasks=["claims"]))
    assert [(part.name, part.text) for one in items for part in one.parts] == [
        ("1", "90 m."),
        ("2", "Oak."),
    ]


def test_a_sheet_keeps_its_chances_and_what_was_filled_in(
    run: Path, tmp_path: Path, store: LabelDatabase
) -> None:
    opened = Run.open(run)
    drawn = draw_sample(Scored(opened), 3, annotators=["ann", "ben"], overlap=1.0)
    file = tmp_path / "labels.csv"
    write_sheet(label_sheet(drawn, opened, labels_asked(["helpful", "mood"], None)), file)
    frame = pl.read_csv(file)
    frame = frame.with_columns(
        helpful=pl.when(pl.arange(len(frame)) == 0).then(pl.lit("1")),
        note=pl.when(pl.arange(len(frame)) == 0).then(pl.lit("short")),
    )
    frame.write_csv(file)
    queue = annotate(file, store, name="sheet")
    assert [(one.label, one.unit, one.choices) for one in queue.form.asked] == [
        ("helpful", "answer", ("yes", "no")),
        ("mood", "answer", ()),
    ]
    (said,) = (one for one in queue.said() if one.answers.labels)
    assert (said.person, said.id) == (frame["annotator"][0], frame["id"][0])
    assert said.answers == ItemAnswers({("answer", ""): {"helpful": "yes"}}, "short")
    items = [queue.item(n) for n in queue.places()]
    assert {one.probability for one in items} == {0.5}
    shown = {one.parts[0].task: one.shown for one in items}
    assert "contexts" not in shown["generation"]
    assert [text["text"] for text in shown["own"]["contexts"]] == data()[0]["contexts"]
    table = read_label_table(tmp_path / "labels.sqlite")
    # Drawn with a half, and one of three was labelled so far.
    assert table.used["inclusion_probability"].to_list() == pytest.approx([0.5 / 3])


def test_labels_of_a_file_are_taken_over_and_the_rest_is_counted(
    run: Path, tmp_path: Path, store: LabelDatabase
) -> None:
    queue = annotate(run, store, asked=["helpful"])
    file = tmp_path / "given.csv"
    file.write_text(
        "id,annotator,helpful,discard\nq0-old,ann,1,\nq0-old,ben,0,\nq1-old,ann,,no English\n"
        "q9,ann,1,\n"
    )
    found = import_labels(queue, read_label_table(file))
    assert found == (["ann", "ben", "ann"], 1)
    assert [(one.person, one.id, dict(one.answers.labels)) for one in queue.said()] == [
        ("ann", "q0-old", {("answer", ""): {"helpful": "yes"}}),
        ("ben", "q0-old", {("answer", ""): {"helpful": "no"}}),
        ("ann", "q1-old", {}),
    ]
    assert import_labels(queue, read_label_table(file)) == ([], 1)


def test_more_examples_come_from_a_source(run: Path, store: LabelDatabase) -> None:
    queue = annotate(run, store, asked=["helpful"], examples=["q0-old", "q0-new"], name="few")
    assert more_examples(queue, run) == 4
    assert len(every(queue)) == 6
    assert more_examples(queue, run) == 0


def test_examples_that_were_chosen_do_not_stand_for_all(run: Path, store: LabelDatabase) -> None:
    queue = annotate(run, store, asked=["helpful"], examples=["q0-old"], chosen="the worst")
    every(queue)
    assert queue.inclusion() is None


def test_a_translation_of_ones_own_is_read(run: Path, tmp_path: Path, store: LabelDatabase) -> None:
    folder = tmp_path / "guidelines"
    folder.mkdir()
    (folder / "quality.french.md").write_text("# Est-ce utile ?\n\n`helpful`: oui.\n")
    queue = annotate(run, store, asked=["helpful"], guidelines=folder)
    assert queue.form.guidelines["French"].startswith("# Est-ce utile ?")


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({}, "needs to know what to ask"),
        ({"tasks": ["preference", "grounding"]}, "asked alone"),
        ({"tasks": ["claims"], "order": "risk"}, "by risk needs metric="),
        ({"tasks": ["claims"], "route": "doubt"}, "by doubt needs metric="),
        ({"asked": ["helpful"], "n": 0}, "n=0"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    run: Path, store: LabelDatabase, settings: dict[str, Any], fault: str
) -> None:
    with pytest.raises(InputError, match=fault):
        annotate(run, store, **settings)


def test_a_misspelt_task_or_label_is_told(run: Path, store: LabelDatabase) -> None:
    with pytest.raises(UnknownName, match="grounding"):
        annotate(run, store, tasks=["groundng"])
    with pytest.raises(UnknownName, match="helpful"):
        annotate(run, store, asked=["helpful"], optional=["helpfull"])


def test_tasks_name_the_labels_of_their_kinds() -> None:
    assert [(one.label, one.unit) for one in task_labels(["retrieval"])] == [
        ("topically_relevant", "context"),
        ("evidence_sufficient", "context"),
        ("misleading", "context"),
    ]
    assert [(one.label, one.unit) for one in task_labels(["statements", "claims"])] == [
        ("agreement", "statement"),
        ("support", "claim"),
    ]
    assert "response_type" in {one.label for one in task_labels(["generation"])}


def test_answers_to_one_question_belong_together(run: Path, tmp_path: Path) -> None:
    questions = annotate(run, open_labels(tmp_path), asked=["helpful"]).questions()
    assert sorted(questions) == sorted(one["id"] for one in data())
    assert all(questions[f"q{n}-old"] == questions[f"q{n}-new"] for n in range(3))
    assert len(set(questions.values())) == 3


def test_answers_of_a_sheet_to_a_question_of_the_same_words_belong_together(tmp_path: Path) -> None:
    file = tmp_path / "sheet.csv"
    rows = [("a", "How long?"), ("b", "How long?"), ("c", "How wide?")]
    lines = [f"{id},ann,{question},yes it is,,1" for id, question in rows]
    head = "id,annotator,question,answer,helpful,inclusion_probability"
    file.write_text("\n".join([head, *lines]), encoding="utf-8")
    questions = annotate(file, open_labels(tmp_path), asked=["helpful"]).questions()
    assert questions["a"] == questions["b"] != questions["c"]


def test_the_same_command_goes_on_with_its_queue(run: Path, store: LabelDatabase) -> None:
    queue = annotate(run, store, asked=["helpful"], n=4)
    every(queue)
    queue.ask(AskedLabel("mood", "answer"))
    again = annotate(run, store, asked=["helpful"], n=4)
    assert (again.name, len(again.said())) == (queue.name, 4)
    others: list[dict[str, Any]] = [{"per_item": 2}, {"n": 3}, {"asked": ["incomplete"]}]
    for other in others:
        with pytest.raises(InputError, match="Choose another name"):
            annotate(run, store, **{"asked": ["helpful"], "name": queue.name, **other})


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe# x"])
def test_a_folder_of_translations_that_cannot_be_read_is_told(
    run: Path, tmp_path: Path, content: bytes | None
) -> None:
    folder = tmp_path / "guidelines"
    if content is not None:
        folder.mkdir()
    if content:
        (folder / "quality.french.md").write_bytes(content)
    with pytest.raises(InputError, match="guidelines"):
        annotate(run, tmp_path, asked=["helpful"], guidelines=folder)
    assert not (tmp_path / "labels.sqlite").exists()


def test_what_makes_no_queue_leaves_no_store(run: Path, tmp_path: Path) -> None:
    wrongs: list[dict[str, Any]] = [{}, {"asked": ["helpful"], "n": 0}, {"tasks": ["statements"]}]
    for wrong in wrongs:
        with pytest.raises(InputError):
            annotate(run, tmp_path, **wrong)
    assert list(tmp_path.iterdir()) == []
