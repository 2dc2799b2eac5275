"""Changes: the questions of a comparison, those where a system is worst against the other first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from ragstone.analysis.comparison.compared_systems import run_labels
from ragstone.analysis.comparison.paired_scores import question_changes
from ragstone.report import charts
from ragstone.report.number_format import number, scale_for, short_name
from ragstone.report.page import Tone
from ragstone.report.reason_words import words
from ragstone.run import Run
from ragstone.web.background_cache import SOON
from ragstone.web.page_request import Asked, run_path
from ragstone.web.parts.highlight import LONGEST, word_diff
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, drawn

A_PAGE = 50
QUESTION = 200
"""Characters of a question in the table."""

COLUMNS = ["id", "question_id", "question", "answer"]
TONES: Mapping[str, Tone] = {"better": "good", "worse": "bad"}
SHOWN = ("changed", "worse", "better", "same", "failed")
NOTHING = "-"
"""The value of ``open`` where nothing is to be open."""


def questions_of(
    folder: RunsFolder, request: Asked, runs: Sequence[str], pair: tuple[str, str], metric: str
) -> View | None:
    """Return the questions that match; None while they are being computed."""
    opened = [folder.run(name) for name in runs]
    key = ("changes", folder.stamp(*runs), pair, metric)
    changes = folder.later.get(
        key, lambda: question_changes(*opened, a=pair[0], b=pair[1], metric=metric), SOON
    )
    if changes is None:
        return None
    counts = Counter[str](changes["outcome"].to_list())
    counts["changed"] = counts["worse"] + counts["better"]
    show = request.one("show")
    show = show if show in SHOWN else "changed" if counts["changed"] else "same"
    matching = changes.filter(pl.col("outcome").is_in(_outcomes(show)))
    search = request.one("q").strip()
    texts = _Texts(opened, pair)
    if search:
        matching = matching.filter(pl.col("question_id").is_in(texts.with_words(search).implode()))
    page = request.list_page(len(matching), A_PAGE, open=None)
    rows = matching[page.rows]
    open_ = request.one("open") or (rows["question_id"][0] if len(rows) else "")
    alone = changes.filter(pl.col("question_id") == open_)
    alone = alone if open_ not in rows["question_id"] else alone[:0]
    here = _Here(request, pair, metric, open_, texts)
    views = here.rows(pl.concat([rows, alone]))
    return {
        "rows": views[: len(rows)],
        "apart": views[-1] if len(alone) else None,
        "tabs": [
            (code, request.but(show=code, page=None, open=None), counts[code]) for code in SHOWN
        ],
        "show": show,
        "search": search,
        "found": len(matching),
        "page": page,
    }


def _outcomes(show: str) -> list[str]:
    return ["worse", "better"] if show == "changed" else [show]


class _Texts:
    def __init__(self, runs: Sequence[Run], pair: tuple[str, str]) -> None:
        self._sides = list(zip((runs[0], runs[-1]), _systems(runs, pair), strict=True))

    def of(self, questions: Sequence[str]) -> list[dict[str, list[dict[str, str | None]]]]:
        by_side = []
        for run, system in self._sides:
            mine = (pl.col("system") == system) & pl.col("question_id").is_in(list(questions))
            rows = run.examples(COLUMNS, where=mine)
            by_question: dict[str, list[dict[str, str | None]]] = {}
            for row in rows.iter_rows(named=True):
                by_question.setdefault(row["question_id"], []).append(row)
            by_side.append(by_question)
        return by_side

    def with_words(self, search: str) -> pl.Series:
        text = pl.concat_str("question", "answer", separator=" ", ignore_nulls=True)
        text = text.str.to_lowercase()
        every = [text.str.contains(word, literal=True) for word in search.lower().split()]
        holds = pl.all_horizontal(pl.lit(value=True), *every)
        found_ids = [
            run.examples(["question_id"], where=(pl.col("system") == system) & holds)
            for run, system in self._sides
        ]
        return pl.concat(found_ids)["question_id"].unique()

    def path(self, side: int, example: str) -> str:
        return run_path(self._sides[side][0].path.name, "examples", example)


def _systems(runs: Sequence[Run], pair: tuple[str, str]) -> list[str]:
    if len(runs) == 1:
        return list(pair)
    labels = run_labels(runs[0].path, runs[1].path)
    return [name.removeprefix(f"{label}/") for name, label in zip(pair, labels, strict=True)]


@dataclass(frozen=True, slots=True)
class _Here:
    asked: Asked
    pair: tuple[str, str]
    metric: str
    open: str
    texts: _Texts

    def rows(self, questions: pl.DataFrame) -> tuple[View, ...]:
        of_a, of_b = self.texts.of(questions["question_id"].to_list())
        views = []
        for row in questions.iter_rows(named=True):
            name = row["question_id"]
            mine, other = of_a.get(name, []), of_b.get(name, [])
            text = next((row["question"] for row in (*other, *mine) if row["question"]), None)
            opened = name == self.open
            views.append(
                {
                    "id": name,
                    "text": (text or name)[:QUESTION],
                    "a": _side(row, "a"),
                    "b": _side(row, "b"),
                    "change": row["change"],
                    "outcome": row["outcome"],
                    "picture": self._picture(row),
                    "path": self.asked.but(open=NOTHING if opened else name),
                    "sides": self._opened(mine, other) if opened else (),
                }
            )
        return tuple(views)

    def _picture(self, row: Mapping[str, Any]) -> Markup | str:
        scale = scale_for(self.metric)
        if row["change"] is None or scale is None or not scale.drawable:
            return ""
        title = f"{short_name(self.metric)}: {number(row['b'])} to {number(row['a'])}"
        tone = TONES.get(row["outcome"], "")
        return drawn(charts.change(row["b"], row["a"], scale, tone, title))

    def _opened(
        self, mine: Sequence[Mapping[str, str | None]], other: Sequence[Mapping[str, str | None]]
    ) -> tuple[View, ...]:
        answers = [(ones[0]["answer"] or "") if ones else "" for ones in (mine, other)]
        left, right = word_diff(answers[1], answers[0])
        columns = ((1, other, left), (0, mine, right))
        return tuple(
            {
                "system": self.pair[index],
                "path": self.texts.path(index, ones[0]["id"] or ""),
                "answer": answer,
                "length": len(answers[index]) if len(answers[index]) > LONGEST else 0,
                "more": len(ones) - 1,
            }
            for index, ones, answer in columns
            if ones
        )


def _side(row: Mapping[str, Any], name: str) -> View:
    why = row[f"{name}_why"]
    return {"value": row[name], "status": row[f"{name}_is"], "why": words(why) if why else ""}
