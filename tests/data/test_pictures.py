"""Contexts that are pictures are told, and are no words for a judge."""

import base64
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.data import read
from ragstone.data.pictures import is_picture
from ragstone.guard import Checks, Guard
from ragstone.report.reason_words import explain

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(200)).decode()
PICTURES = (
    "chart.png",
    " Umsätze/2024/Bericht.JPG\n",
    "图表.webp",
    "https://example.org/a/chart.svg?width=90#top",
    "s3://bucket/chart.tiff",
    f"data:image/png;base64,{PNG}",
    PNG,
    "![](chart.gif)",
    '![](https://example.org/chart.png "Umsatz")',
    '<img src="chart.png" alt="" width=90>',
    "C:\\Berichte\\Umsatz 2024.png",
    "/data/sales chart.jpg",
    "chart.png\nlegend.png",
    base64.encodebytes(b"\x89PNG\r\n\x1a\n" + bytes(200)).decode(),
    base64.b64encode(b"RIFF\0\0\0\0WEBPVP8 " + bytes(100)).decode(),
)


@pytest.mark.parametrize("text", PICTURES)
def test_a_file_name_an_address_and_data_are_pictures(text: str) -> None:
    assert is_picture(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "png",
        ".png",
        "The chart is in chart.png",
        "chart.png shows the sales.",
        "https://example.org/chart.png.html",
        "report.pdf",
        "![Sales rose by 5 %](chart.png)",
        '<img src="chart.png" alt="Sales rose">',
        "/data lists what chart.png shows.",
        "chart.png\nThe sales.",
        "iVBORw0KGgo is how a PNG begins in base 64, " + "whatever it shows " * 9,
        "Node.js",
        "data:text/plain,Sales",
    ],
)
def test_what_has_words_beside_a_picture_is_none(text: str) -> None:
    assert not is_picture(text)


RECORD: dict[str, Any] = {
    "question": "How long is the pier?",
    "answer": "The pier is 90 m long.",
    "reference": "The pier is 90 m long.",
    "evidence": ["The pier is 90 m long."],
    "contexts": [{"id": "a", "text": PICTURES[0]}, {"id": "b", "text": PICTURES[5]}],
    "reference_context_ids": ["b"],
}
OF_TEXTS = (
    "faithfulness",
    "context_recall",
    "evidence_recall",
    "context_entity_recall",
    "context_utilization",
)


def test_metrics_that_need_texts_are_undefined_and_others_are_not() -> None:
    metrics = [*OF_TEXTS, "recall", "mrr", "exact_match", "token_f1"]
    run = evaluate([RECORD], metrics=metrics)
    scores = {row["metric"]: row for row in run.scores().iter_rows(named=True)}
    for name in OF_TEXTS:
        outcome = scores[name]["status"], scores[name]["reason"]
        assert outcome == ("undefined", "contexts_are_pictures"), name
    assert [scores[name]["value"] for name in metrics[len(OF_TEXTS) :]] == [1, 0.5, 1, 1]
    (note,) = [note for note in run.form.remarks if note.startswith("pictures")]
    assert explain(note).startswith("1 example has contexts that are pictures")


def test_pictures_among_texts_are_told_and_the_texts_are_judged() -> None:
    record = RECORD | {"contexts": ["chart.png", "The pier is 90 m long."]}
    examples = read([record])
    (example,) = examples
    assert [one.text for one in example.contexts or ()] == [None, "The pier is 90 m long."]
    assert example.meta["pictures"] == ["chart.png"]
    assert examples.notes == ["pictures_not_read?n=1"]
    assert evaluate([record], metrics="faithfulness").scores()["value"].to_list() == [1]


def test_a_guard_does_not_judge_by_pictures() -> None:
    guard = Guard(Checks(citations=False), deadline=60)
    found = guard.assess(RECORD["question"], RECORD["answer"], list(PICTURES))
    assert found.ok is None
    assert found.judged == ()
