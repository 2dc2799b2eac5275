"""What holds of every kind, a new one and a user's own too: a kind is covered by being there."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import ragstone
from ragstone.annotation import LabelTable, agreement_of, labels_of, read_label_table, write_labels
from ragstone.annotation.label_export import Layout
from ragstone.cli.app import app
from ragstone.data.record_labels import FIELDS, LABELS
from ragstone.judgements import (
    ASKS,
    KINDS,
    VIEWS,
    Agreement,
    AnswerSentences,
    Ask,
    Column,
    Importance,
    Kind,
    Preference,
    View,
    instructions_for_people,
    values_of,
)
from ragstone.judges import Block, Filled, RowBuilder, fingerprint
from ragstone.judges.llm.llm_judge import vote
from ragstone.judges.llm.prompts import asked_kinds, load_prompts
from ragstone.metrics import Metric, metric, metric_types, needed_asks, parse_metric, wanted_topics
from ragstone.metrics import user_metrics as loading
from ragstone.run.folder.folder import Folder
from ragstone.run.judging.evaluation import Evaluation
from ragstone.run.judging.sharding import cut
from ragstone.run.request import Request
from ragstone.run.run_plan import prepare
from tests.registries import NEED_A_PARAMETER

SIZE = 8
"""Examples. Of every second one all is yes, of the others all is no."""
ROWS: list[dict[str, Any]] = [
    {
        "id": f"e{number}",
        "system": "a",
        "question": f"How long is pier {number}?",
        "answer": "It is 90 m long. It is of iron.",
        "contexts": ["The pier is 90 m long.", "It is of iron."],
        "reference": "It is 90 m long. It is of iron.",
        "evidence": ["The pier is 90 m long."],
        "criteria": ["Says how long it is.", "Names what it is of."],
    }
    for number in range(SIZE)
]
EVEN = [f"e{number}" for number in range(0, SIZE, 2)]
EACH = (0, 1)
"""Claims, statements, markers, probes and sentences of an example."""
TEXTS = ("It is 90 m long.", "It is of iron.")


@metric(over=AnswerSentences)
def short_sentences() -> pl.Expr:
    """The share of the answer's sentences that have up to 20 letters: none of ours needs them."""
    return (AnswerSentences.text.str.len_chars() <= 20).mean()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of labels is of the kinds that people label, any other of all."""
    if "kind" in metafunc.fixturenames:
        of_labels = "labels" in metafunc.fixturenames
        names = [name for name, kind in KINDS.items() if labelled(kind) or not of_labels]
        metafunc.parametrize("kind", [*names, "tone"], indirect=True, scope="module")


def labelled(kind: type[Kind]) -> list[tuple[Ask, list[Column]]]:
    """What people are asked about units of an example, and the columns that they label."""
    asks = [ask for ask in kind.asks if "people" in ask.by and ask.over is not None]
    columns = [[one for one in kind.filled_by(ask) if one.label] for ask in asks]
    return [(ask, them) for ask, them in zip(asks, columns, strict=True) if them]


def is_yes(example: str) -> bool:
    return int(example[1:]) % 2 == 0


def cell(column: Column, ask: Ask, *, yes: bool) -> Any:
    """What stands for yes, or for no, in a column."""
    if column.dtype == pl.Boolean:
        return yes
    if column.dtype in (pl.Float64, pl.Float32):
        return 1.0 if yes else 0.0
    if column.values and column.role == "grade":
        return (max if yes else min)(map(int, column.values))
    if column.values:
        return (ask.values or tuple(map(str, column.values)))[0 if yes else -1]
    return {pl.String: column.name, pl.List: [] if column.role == "evidence" else None}.get(
        column.dtype.base_type(), 1
    )


def view_of(ask: Ask) -> type[View] | None:
    """The view that its rows enter."""
    entered = (
        view for view in VIEWS.values() if ask.name in {asked for asked, *_ in view.taken.values()}
    )
    return ask.over or next(entered, None)


@dataclass(frozen=True)
class Typical:
    """A judge of everything, who says yes or no by the number of the example."""

    metrics: Sequence[Metric]
    name: str = "typical"
    about: str = "yes or no"

    @property
    def asks(self) -> frozenset[str]:
        return frozenset(ASKS)

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(ask, self.name)
        for row in rows:
            example = block.examples[row]
            subject = fingerprint(ask, example.id)
            sheet.done(row, subject)
            for unit in self._units(ASKS[ask], sheet.kind, block, row):
                said = {
                    column.name: cell(column, ASKS[ask], yes=is_yes(example.id))
                    for column in sheet.kind.filled_by(ASKS[ask])
                    if column.name not in unit
                }
                sheet.add(subject, **unit, **said, reason=f"as {ask} has it")
        return sheet.filled()

    def _units(
        self, ask: Ask, kind: type[Kind], block: Block, row: int
    ) -> Iterator[Mapping[str, Any]]:
        view = view_of(ask)
        if ask.origin:
            for one in block.propositions(ask.name).get(row, ()):
                yield {"origin": ask.origin, "author": one.author, "reference": one.reference,
                       "index": one.index}  # fmt: skip
        elif view is not None and view.unit == "context":
            for context in block.examples[row].contexts or ():
                yield {"rank": context.rank, "measure": ask.part, "index": context.rank}
        elif kind.made or (view is not None and "index" in view.keys):
            for index in EACH:
                yield {
                    "index": index,
                    "reference": 0,
                    "sentence": index,
                    "marker": f"[{index + 1}]",
                    "context": f"{index + 1}",
                    "text": TEXTS[index],
                    "measure": ask.part,
                }
        elif kind.having("topic"):
            for topic in wanted_topics(self.metrics):
                if topic.ask == ask.name:
                    for vote_ in EACH if kind.having("vote") else (0,):
                        yield {**dict.fromkeys(kind.having("topic"), topic.name or "b"),
                               **dict.fromkeys(kind.having("vote"), vote_)}  # fmt: skip
        else:
            yield {"reference": 0, "measure": ask.part, "index": 0}


def metrics_over(kind: type[Kind]) -> list[Metric]:
    """For each ask a metric that rests on it, and on as little else as any does."""
    names = [*metric_types(), *loading._OWN]
    known = [parse_metric(name) for name in names if name not in NEED_A_PARAMETER]
    known += [parse_metric(f'abstention(by="{by}")') for by in ("phrases_8", "phrases_12")]
    known += [parse_metric('nugget_score(kind="weighted")'), short_sentences]
    known.append(parse_metric('context_entity_recall(by="model")'))
    found = {}
    for ask in kind.asks:
        resting = [one for one in known if ask.name in one.asks]
        if resting:
            least = min(resting, key=lambda one: len(needed_asks([one])))
            found[str(least)] = least
    return list(found.values())


def in_a_file(kind: type[Kind], flipped: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """One row a unit: what the judge says too, but for the examples that are flipped."""
    for row in ROWS:
        for ask, columns in labelled(kind):
            unit = ask.over.unit if ask.over else "answer"
            said = {
                column.label: cell(column, ask, yes=is_yes(row["id"]) != (row["id"] in flipped))
                for column in columns
            }
            if unit == "answer":
                yield {"id": row["id"], **said}
            for place in EACH if unit != "answer" else ():
                yield {"id": row["id"], unit: place + 1, **said}


def in_the_data(kind: type[Kind]) -> Iterator[dict[str, Any]]:
    """Records that carry the same labels."""
    for row in ROWS:
        labels: dict[str, Any] = {}
        for ask, columns in labelled(kind):
            said = {column.label: cell(column, ask, yes=is_yes(row["id"])) for column in columns}
            unit = ask.over.unit if ask.over else "answer"
            if unit == "answer":
                whole = {name: said[name] for name in said if name in LABELS["record"]}
                parts = {name: said[name] for name in said if name not in whole}
                labels |= whole | {"answer": labels.get("answer", {}) | parts}
            else:
                units = labels.setdefault(FIELDS[unit], [{"text": "It is so."} for _ in EACH])
                for one in units:
                    one |= said
        yield row | {"labels": labels}


def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A file of labels."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def labels(kind: type[Kind], tmp_path_factory: pytest.TempPathFactory) -> LabelTable:
    """What people say; they say as the judge does."""
    path = tmp_path_factory.mktemp(kind.name) / "labels.jsonl"
    return read_label_table(written(path, in_a_file(kind)))


@pytest.fixture(scope="module")
def run(kind: type[Kind], tmp_path_factory: pytest.TempPathFactory) -> ragstone.Run:
    """A run whose judge says yes or no."""
    metrics = metrics_over(kind)
    assert metrics, f"no metric rests on {kind.name}"
    path = tmp_path_factory.mktemp(kind.name) / "run"
    prepared = prepare(Request(ROWS, metrics=metrics, judge="human", offline=True))
    spec = replace(prepared.spec, judges=(Typical(metrics),))
    folder = Folder(path)
    with folder.locked():
        folder.prepare(spec.settings)
        evaluation = Evaluation(folder, folder.parts, spec)
        evaluation.begin()
        evaluation.judge(cut(prepared.examples, prepared.label_files, folder.parts), lambda _: None)
        evaluation.finish({"source": "-", "format": "ragstone", "fingerprint": spec.settings.data,
                           "rejected": 0, "rejected_for": [], "label_violations": {},
                           "label_ties": 0, "labels_of_nothing": []}, 0.0)  # fmt: skip
    return ragstone.Run.open(path)


def test_what_was_judged_reads_back(kind: type[Kind], run: ragstone.Run) -> None:
    rows = run.judgements(kind.name)
    assert rows.height
    asks = [ask for ask in kind.asks if ask.name in needed_asks(metrics_over(kind))]
    assert set(rows["reason"]) == {f"as {ask.name} has it" for ask in asks}
    for ask in asks:
        mine = rows.filter(reason=f"as {ask.name} has it")
        for column in kind.filled_by(ask):
            if column.role in ("verdict", "grade"):
                for yes in (True, False):
                    ids = [row["id"] for row in ROWS if is_yes(row["id"]) is yes]
                    said = mine.filter(pl.col("example_id").is_in(ids))[column.name].unique()
                    assert said.to_list() == [cell(column, ask, yes=yes)]


def test_a_metric_counts_it_through_its_view(kind: type[Kind], run: ragstone.Run) -> None:
    scores = run.scores().filter(status="value")
    assert set(scores["metric"]) == {str(one) for one in metrics_over(kind)}
    same = scores.group_by("metric", pl.col("example_id").is_in(EVEN)).agg(
        pl.col("value").n_unique()
    )
    assert set(same["value"]) == {1}


def test_it_is_shown_with_the_example(kind: type[Kind], run: ragstone.Run) -> None:
    asks = [ask for ask in kind.asks if ask.name in needed_asks(metrics_over(kind))]
    record = CliRunner().invoke(app, ["show", str(run.path), "e0", "--json"]).stdout
    for ask in asks:
        assert f"as {ask.name} has it" in record
    shown = [ask for ask in asks if "counting" not in ask.by] if kind.decides else []
    if shown and not kind.made:
        wide = {"COLUMNS": "300"}
        page = CliRunner().invoke(app, ["show", str(run.path), "e0"], env=wide).stdout
        for ask in shown:
            assert f"as {ask.name} has it" in page


def test_of_a_panel_the_majority_speaks(kind: type[Kind]) -> None:
    ask = kind.asks[0]
    own = [column for column in kind.filled_by(ask) if column.role != "about"]
    said = [[{one.name: cell(one, ask, yes=yes) for one in own}] for yes in (True, True, False)]
    for rows in said:
        rows[0] |= {name: said[0][0][name] for name in kind.key or ()}
    if kind.made:
        pytest.skip("what is made is not voted on")
    (row,) = vote(kind, said, 3)
    for column in own:
        if column.role in ("verdict", "grade"):
            assert row[column.name] == cell(column, ask, yes=True)
        if column.role == "number":
            assert row[column.name] == pytest.approx(2 / 3)


def test_a_model_is_told_what_each_word_means(kind: type[Kind]) -> None:
    name = kind.asked_with or kind.name
    if name not in asked_kinds():
        pytest.skip("no model is asked about it")
    if kind in (Agreement, Preference):
        pytest.skip("a model says A or B, and of claims what it says of statements")
    text = load_prompts().texts[name]
    for column in kind.columns.values():
        for means in column.values.values() if column.role in ("verdict", "grade") else ():
            assert means in text


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_its_labels_are_written_and_read_back(
    kind: type[Kind], labels: LabelTable, tmp_path: Path, layout: Layout
) -> None:
    columns = {column.name for _, them in labelled(kind) for column in them}
    assert set(labels.frame.select("kind", "column").iter_rows()) == {
        (kind.name, column) for column in columns
    }
    write_labels(labels, tmp_path / "out.jsonl", layout=layout)
    assert read_label_table(tmp_path / "out.jsonl").frame.equals(labels.frame)


def test_labels_in_the_data_are_those_in_a_file(kind: type[Kind], labels: LabelTable) -> None:
    found = labels_of(ragstone.read(list(in_the_data(kind)))).frame
    keys = ["example_id", "kind", "column", "unit"]
    assert (
        found.select(*keys, "value")
        .sort(keys)
        .equals(labels.frame.select(*keys, "value").sort(keys))
    )


def test_annotators_agree_on_what_both_say(
    kind: type[Kind], labels: LabelTable, tmp_path: Path
) -> None:
    """On half of the examples the second says the contrary."""
    one, other = in_a_file(kind), in_a_file(kind, [row["id"] for row in ROWS[: SIZE // 2]])
    rows = [{**row, "annotator": "ann"} for row in one] + [
        {**row, "annotator": "ben"} for row in other
    ]
    found = agreement_of(read_label_table(written(tmp_path / "two.jsonl", rows)))
    assert len(found) == labels.frame.select("kind", "column").n_unique()
    assert {one.coefficients["percent"].value for one in found} == {0.5}


def test_people_check_and_correct_the_judge(
    kind: type[Kind], labels: LabelTable, run: ragstone.Run, tmp_path: Path
) -> None:
    """They say otherwise of the first example, and so of one in eight."""
    file = written(tmp_path / "labels.jsonl", in_a_file(kind, ["e0"]))
    found = ragstone.calibrate(run, file).to_dict()
    checked = {(one["kind"], one["column"]): one for one in found["agreement"]}
    for key in set(labels.frame.select("kind", "column").iter_rows()):
        assert checked[key]["accuracy"] == pytest.approx(7 / 8)
    scores = run.scores().filter(status="value")
    for one in found["estimates"]:
        mine = scores.filter(metric=one["metric"])
        yes, no = (mine.filter(example_id=name)["value"].item() for name in ("e0", "e1"))
        moved = one["corrected"]["value"] - one["judge"]["value"]
        assert moved == pytest.approx((no - yes) / 8)
    # What a nugget is worth counts only with whether the answer has it, on which they say nothing.
    assert bool(found["estimates"]) == (kind is not Importance)


def test_a_sheet_asks_people_for_it(
    kind: type[Kind], labels: LabelTable, run: ragstone.Run, tmp_path: Path
) -> None:
    assert labels.frame.height
    for number, one in enumerate(metrics_over(kind)):
        out = tmp_path / f"{number}.csv"
        given = ["sample", str(run.path), "--n", "4", "--metric", str(one), "--out", str(out)]
        printed = CliRunner().invoke(app, given)
        assert printed.exit_code == 0, printed.stderr
        asks = [them for ask, them in labelled(kind) if ask.name in one.asks]
        asked = {column.label for them in asks for column in them}
        assert not asked or asked & set(pl.read_csv(out).columns)
    told = instructions_for_people(kind)
    for ask, columns in labelled(kind):
        for column in columns:
            assert f"`{column.label}`" in told
            assert all(str(value) in told for value in values_of(ask, column))
