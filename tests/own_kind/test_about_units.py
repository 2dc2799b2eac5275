"""Kinds of a user's own about parts of an example: claims that a model made, references."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import ragstone
from ragstone.analysis.calibration.people_scores import labelled_in_part
from ragstone.cli.app import app
from ragstone.data import Context, Example
from ragstone.judgements import Ask, Column, Contexts, Guideline, Kind, References, load_kinds
from ragstone.judges.judge import HumanJudge
from ragstone.judges.llm.kind_task import KindTask, item_of
from ragstone.judges.llm.prompts import asked_kinds, prompt
from ragstone.judges.llm.task import Target, TaskReply
from ragstone.metrics import load_metrics
from ragstone.models.chat import ChatRequest
from ragstone.report import dossier
from ragstone.testing import ScriptedModel, asked, reply_to

KIND = '''"""Vague: is it said without a number?"""

import polars as pl

from ragstone.analysis.calibration.people_scores import labelled_in_part
from ragstone.judgements import Ask, Claims, Column, Kind


class Vague(Kind):
    """One row per claim."""

    name = "vague"
    asks = (Ask(over=Claims, requires=("answer",), after=("claims",)),)

    vague = Column(pl.Boolean, "it has no number", role="verdict", label="vague")
'''
METRIC = '''"""A metric over it."""

import polars as pl

from ragstone import metric
from ragstone.judgements import Claims


@metric(over=Claims)
def vagueness() -> pl.Expr:
    """The share of claims without a number."""
    return Claims.vague.mean()
'''
SAID = ("The pier is long.", "It is of iron.", "It opened in 1859.")


def reply(request: ChatRequest) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for id, words in asked(request).items():
        if id == "a01":
            details = [f"s{place}: {text}" for place, text in enumerate(SAID, 1)]
            said[id] = {"verdict": "answer", "reason": "-", "details": details}
        else:
            said[id] = {"verdict": "no" if "opened" in words else "yes", "reason": "-"}
    return reply_to(request, said)


@pytest.mark.usefixtures("registries")
def test_a_model_is_asked_about_each_claim_that_it_made(tmp_path: Path) -> None:
    (tmp_path / "vague.py").write_text(KIND)
    (tmp_path / "vague_metrics.py").write_text(METRIC)
    (tmp_path / "vague.md").write_text("# Vague: is it said without a number?")
    load_kinds(tmp_path / "vague.py")
    metrics = [str(one) for one in load_metrics(tmp_path / "vague_metrics.py")]
    row = {"id": "1", "question": "How long is the pier?", "answer": " ".join(SAID)}
    found = ragstone.evaluate(
        [row], metrics=metrics, judge=ScriptedModel(reply, name="m"), out=tmp_path / "run"
    )
    rows = found.judgements("vague").sort("index")
    assert rows["vague"].to_list() == [True, True, False]
    (estimate,) = [one for one in found.estimate_list if not one.group]
    assert estimate.value == pytest.approx(2 / 3)
    record = dossier(found, "1").to_dict()
    assert [claim["vague"]["vague"] for claim in record["claims"]] == [True, True, False]
    shown = CliRunner().invoke(app, ["show", str(found.path), "1"]).stdout
    assert "vague: vague" in shown
    labels = tmp_path / "labels.csv"
    labels.write_text("id,claim,vague\n1,1,yes\n1,2,no\n1,3,yes\n")
    (check,) = ragstone.calibrate(found, labels).to_dict()["agreement"]
    assert (check["kind"], check["n"], check["accuracy"]) == ("vague", 3, pytest.approx(1 / 3))


LOUD = '''"""Loud: does it shout?"""

import polars as pl

from ragstone.analysis.calibration.people_scores import labelled_in_part
from ragstone.judgements import Ask, Column, Contexts, Kind


class Loud(Kind):
    """One row per context."""

    name = "loud"
    asks = (Ask(over=Contexts, requires=("contexts",)),)

    loud = Column(pl.Boolean, "it shouts", role="verdict", label="loud")
'''
LOUDNESS = '''"""A metric over it."""

import polars as pl

from ragstone import metric
from ragstone.judgements import Contexts


@metric(over=Contexts)
def loudness() -> pl.Expr:
    """The share of contexts that shout."""
    return Contexts.loud.mean()
'''


@pytest.mark.usefixtures("registries")
def test_of_contexts_a_judge_speaks_for_those_that_people_left_open(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    (tmp_path / "loud_metrics.py").write_text(LOUDNESS)
    (tmp_path / "loud.md").write_text("# Loud: does it shout?")
    load_kinds(tmp_path / "loud.py")
    metrics = [str(one) for one in load_metrics(tmp_path / "loud_metrics.py")]
    row: dict[str, Any] = {"id": "1", "answer": "-", "contexts": ["Oh.", "HEY!"]}
    row["labels"] = {"contexts": [{"loud": True}, {}]}
    no = ScriptedModel(
        lambda request: reply_to(request, {id: {"verdict": "no"} for id in asked(request)})
    )
    found = ragstone.evaluate([row], metrics=metrics, judge=["human", no])
    (estimate,) = [one for one in found.estimate_list if not one.group]
    assert estimate.value == 1 / 2
    (example,) = ragstone.read([row])
    assert labelled_in_part(example) == {"loud"}


@pytest.mark.usefixtures("registries")
def test_each_system_is_judged_by_the_contexts_that_it_retrieved(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD.replace("asks", "shows = ('question',)\n    asks"))
    (tmp_path / "loud_metrics.py").write_text(LOUDNESS)
    (tmp_path / "loud.md").write_text("# Loud: does it shout?")
    load_kinds(tmp_path / "loud.py")
    metrics = [str(one) for one in load_metrics(tmp_path / "loud_metrics.py")]
    retrieved = {"a": ["HEY!", "OI!"], "b": ["Oh."]}
    rows = [
        {"id": system, "system": system, "question": "Who shouts?", "contexts": contexts}
        for system, contexts in retrieved.items()
    ]
    by_ear = ScriptedModel(
        lambda request: reply_to(
            request,
            {id: {"verdict": "yes" if text.isupper() else "no"}
             for id, text in asked(request).items()},
        )
    )  # fmt: skip
    found = ragstone.evaluate(rows, metrics=metrics, judge=by_ear)
    assert found.scores().sort("example_id")["value"].to_list() == [1, 0]


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize(
    ("said", "expected", "reason"),
    [
        ([False, True, False], True, "c02"),
        ([False, False, False], False, "c01"),
        ([False, None, True], True, "c03"),
        ([False, None, False], None, "cut off"),
        ([None, None, None], None, "cut off"),
    ],
)
def test_of_the_parts_of_a_context_the_strongest_verdict_counts_where_no_part_could_change_it(
    said: list[bool | None], expected: bool | None, reason: str
) -> None:
    class Loud(Kind):
        name = "loud"
        asks = (Ask(over=Contexts, requires=("contexts",)),)

        loud = Column(pl.Boolean, "it shouts", role="verdict", label="loud")

    three_parts = Context("c", "Oh dear. Hey you. Oh well.", 7)
    names = ("c01", "c02", "c03")
    reply = TaskReply(
        {
            name: [item_of(Loud).model_validate({"reason": name, "counted": [], "loud": loud})]
            for name, loud in zip(names, said, strict=True)
            if loud is not None
        },
        {name: "cut off" for name, loud in zip(names, said, strict=True) if loud is None},
        room=12,
    )
    target = Target(Example("1", "q", "s", contexts=(three_parts,)))
    (row,) = KindTask(Loud).rows("loud", target, reply)
    assert (row["rank"], row.get("loud"), row["reason"]) == (7, expected, reason)
    if expected is None:
        (row,) = KindTask(Loud).rows("loud", target, replace(reply, lacking={}))
        assert (row.get("loud"), row["reason"]) == (None, "not_in_reply")


@pytest.mark.usefixtures("registries")
def test_of_grades_a_model_is_named_the_highest_first() -> None:
    class Depth(Kind):
        name = "depth"
        asks = (Ask(over=Contexts, requires=("contexts",)),)

        depth = Column(
            pl.Int8, "how deep", role="grade", label="depth", values={0: "flat", 1: "low", 2: "far"}
        )

    assert item_of(Depth).verdicts() == ("2", "1", "0")


@pytest.mark.usefixtures("registries")
def test_a_prompt_says_how_a_kind_without_a_format_of_its_own_is_answered() -> None:
    class Style(Kind):
        name = "style"
        asks = (Ask(over=Contexts, requires=("contexts",)),)

        clear = Column(pl.Boolean, "it is clear", role="verdict", label="clear")
        brief = Column(pl.Boolean, "it is brief", role="verdict", label="brief")
        depth = Column(
            pl.Int8, "how deep", role="grade", label="depth", values={0: "flat", 1: "deep"}
        )
        ease = Column(
            pl.Float64, "how easy", role="number", label="ease", values={0: "hard", 1: "easy"}
        )
        sure = Column(pl.Float64, "how sure it is", role="number")
        seen = Column(pl.Boolean, "it was seen before")
        words = Column(pl.Int64, "how many", role="count", label="words")

    written = prompt(Style, Guideline.read("# Style: how is it written?\n\nLook at it."))
    assert written == (
        "# Task style: how is it written?\n\nLook at it.\n\n"
        "`verdict`: `yes` if it is clear; else `no`.\n"
        "`details`, as `brief: …`:\n"
        "- `brief`: yes if it is brief, else no\n"
        "- `depth`: 0 flat, 1 deep\n"
        "- `ease`: 0 hard, 1 easy\n"
    )
    assert item_of(Style).example == ("brief: yes", "depth: 1", "ease: 0")


@pytest.mark.usefixtures("registries")
def test_a_kind_has_a_prompt_where_a_model_answers_one_of_its_asks() -> None:
    class Mixed(Kind):
        name = "mixed"
        asks = (
            Ask("text", over=Contexts, requires=("contexts",), by=("people",)),
            Ask("said", over=References, requires=("reference",)),
        )

        mixed = Column(pl.Boolean, "it is mixed", role="verdict", label="mixed")

    class Known(Kind):
        name = "known"
        asks = (Ask(over=Contexts, requires=("contexts",), by=("people",)),)

        known = Column(pl.Boolean, "it is known", role="verdict", label="known")

    assert {"mixed", "known"} & {*asked_kinds()} == {"mixed"}


@pytest.mark.usefixtures("registries")
def test_a_kind_is_put_without_texts_of_contexts_where_one_of_its_asks_needs_none() -> None:
    class Fluent(Kind):
        name = "fluent"
        asks = (
            Ask("text", over=Contexts, requires=("contexts",)),
            Ask("said", over=References, requires=("reference",)),
        )

        fluent = Column(pl.Boolean, "it is fluent", role="verdict", label="fluent")

    assert KindTask(Fluent).lacks(Example("1", "q", "s", contexts=(Context("c", None, 1),))) is None


@pytest.mark.usefixtures("registries")
def test_people_do_not_label_units_that_labels_have_no_place_for() -> None:
    class Terse(Kind):
        name = "terse"
        asks = (Ask(over=References),)

        terse = Column(pl.Boolean, "it is short", role="verdict", label="terse")

    assert Terse.name not in HumanJudge().asks
