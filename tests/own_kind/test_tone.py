"""A kind of a user's own is judged, voted on, labelled, calibrated, gated and shown like ours."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import ragstone
from ragstone.analysis.calibration.people_scores import judged_units
from ragstone.analysis.label_sampling.sample_designs import among_votes
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.read_labels import read_label_table
from ragstone.cli.app import app
from ragstone.core.errors import DataError
from ragstone.data.record_labels import LABELS
from ragstone.judgements import ASKS, KINDS, VIEWS, Kind, answered_by, guideline_of, load_kinds
from ragstone.judgements.guideline import instructions_for_people
from ragstone.judges.judge import HumanJudge
from ragstone.judges.judge_names import who_fills
from ragstone.judges.llm.prompts import prompt
from ragstone.metrics import load_metrics, parse_metric
from ragstone.models.chat import ChatRequest
from ragstone.report.__main__ import main
from ragstone.report.notebook import page_of
from ragstone.report.page import Facts, parts
from ragstone.testing import ScriptedModel, asked, reply_to

HERE = Path(__file__).parent
CASUAL, PLAIN = "Wow, 90 metres, mate!", "It is 90 metres long."
ROWS = [
    {
        "id": f"{number}",
        "question": f"How long is pier {number}?",
        "answer": CASUAL if number % 3 == 0 else PLAIN,
        "contexts": ["The pier is 90 metres long."],
    }
    for number in range(12)
]


def judge(name: str, verdict: Callable[[str], str]) -> ScriptedModel:
    """A model that says of each answer what it is told to say."""

    def reply(request: ChatRequest) -> dict[str, Any]:
        (id,) = asked(request)
        return reply_to(request, {id: {"verdict": verdict(request.text), "reason": "By ear."}})

    return ScriptedModel(reply, name=name)


def by_ear(text: str) -> str:
    return "casual" if "mate!" in text else "neutral"


@pytest.fixture
def metrics(tone: type[Kind]) -> list[str]:
    assert tone.name in KINDS
    return [str(one) for one in load_metrics(HERE / "tone_metrics.py")]


@pytest.fixture
def run(metrics: list[str], tmp_path: Path) -> ragstone.Run:
    model = judge("ear", by_ear)
    return ragstone.evaluate(ROWS, metrics=metrics, judge=model, out=tmp_path / "run")


def test_the_page_about_kinds_of_ones_own_shows_these_files() -> None:
    page = (HERE.parents[1] / "docs" / "own-questions.md").read_text(encoding="utf-8")
    for name in ("tone.py", "tone.md", "tone_metrics.py"):
        assert (HERE / name).read_text(encoding="utf-8") in page


def test_it_is_there_with_all_that_follows_from_it(tone: type[Kind]) -> None:
    assert tone.key == ()
    assert tone.labels() == {"tone": "tone"}
    assert "tone" in answered_by("model") & answered_by("people")
    assert "tone" in HumanJudge().asks
    assert who_fills("tone") == ["human", "LLM"]
    assert VIEWS["answers"].columns["tone"].needs == ("tone",)
    assert guideline_of(tone).title == "Tone: how does the answer speak?"


def test_a_model_judges_it_and_a_metric_counts_it(run: ragstone.Run) -> None:
    rows = run.judgements("tone").sort("example_id")
    some = run.excerpt(["3"]).judgements("tone")
    assert some.equals(run.judgements("tone").filter(pl.col("example_id") == "3"))
    assert dict(rows.select("example_id", "tone").iter_rows()) == {
        row["id"]: "casual" if row["answer"] == CASUAL else "neutral" for row in ROWS
    }
    assert set(rows["reason"]) == {"By ear."}
    (estimate,) = [one for one in run.estimate_list if not one.group]
    assert estimate.value == pytest.approx(4 / 12)
    assert estimate.n == 12


def test_a_model_is_told_the_guideline_and_shown_what_the_kind_shows(metrics: list[str]) -> None:
    model = judge("ear", by_ear)
    ragstone.evaluate(ROWS[:1], metrics=metrics, judge=model)
    (request,) = model.requests
    for words in ("# Task tone: how does the answer speak?", "- `casual`: slang", "- A quotation"):
        assert words in request.text
    assert "verdict: formal | neutral | casual" in request.text
    assert CASUAL in request.text
    assert "The pier is 90" not in request.text


def test_a_verdict_that_it_does_not_have_is_missing(metrics: list[str]) -> None:
    found = ragstone.evaluate(ROWS[:2], metrics=metrics, judge=judge("ear", lambda _: "rude"))
    (estimate,) = [one for one in found.estimate_list if not one.group]
    assert (estimate.value, estimate.n_missing) == (None, 2)


def test_a_panel_votes_on_it(metrics: list[str]) -> None:
    said = [by_ear, by_ear, lambda _: "formal"]
    panel = [judge(f"m{place}", one) for place, one in enumerate(said)]
    found = ragstone.evaluate(ROWS[:2], metrics=metrics, judge=[panel])
    rows = found.judgements("tone").filter(pl.col("judge").str.contains(","))
    assert sorted(rows["tone"]) == ["casual", "neutral"]
    assert found.judgements("tone").height == 2 + 3 * 2


def test_people_label_it_in_the_data_and_in_files(metrics: list[str], tmp_path: Path) -> None:
    labelled = [row | {"labels": {"answer": {"tone": "formal"}}} for row in ROWS[:2]]
    found = ragstone.evaluate(labelled, metrics=metrics, judge="human")
    assert found.judgements("tone").select("tone", "judge").unique().rows() == [("formal", "human")]
    file = tmp_path / "labels.csv"
    file.write_text("id,annotator,tone\n0,ann,casual\n0,ben,casual\n0,cy,formal\n1,ann,neutral\n")
    found = ragstone.evaluate(ROWS[:2], metrics=metrics, judge=f"human:{file}")
    assert sorted(found.judgements("tone")["tone"]) == ["casual", "neutral"]


def test_a_label_that_it_does_not_have_is_a_fault(metrics: list[str], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="one of formal, neutral, casual"):
        ragstone.evaluate([ROWS[0] | {"labels": {"answer": {"tone": "rude"}}}], metrics=metrics)
    file = tmp_path / "labels.csv"
    file.write_text("id,tone\n0,rude\n")
    with pytest.raises(DataError, match="one of formal, neutral, casual"):
        read_label_table(file)


@pytest.mark.usefixtures("tone")
def test_annotators_agree_on_it_or_not(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    words = ("formal", "casual")
    said = "".join(f"{n},{who},{words[n % 2]}\n" for n in range(8) for who in "ab")
    file.write_text("id,annotator,tone\n" + said)
    printed = CliRunner().invoke(app, ["agreement", str(file), "--json"])
    assert printed.exit_code == 0, printed.stderr
    (label,) = json.loads(printed.stdout)["labels"]
    assert (label["kind"], label["column"], label["n_items"]) == ("tone", "tone", 8)
    assert (label["percent"]["value"], label["cohen_kappa"]["value"]) == (1.0, 1.0)


def test_people_correct_the_judge(run: ragstone.Run, tmp_path: Path) -> None:
    units = judged_units(run)
    assert set(units.select("kind", "column").iter_rows()) == {("tone", "tone")}
    file = tmp_path / "labels.csv"
    said = [("formal" if row["id"] == "1" else by_ear(str(row["answer"]))) for row in ROWS]
    lines = [f"{row['id']},{word}\n" for row, word in zip(ROWS, said, strict=True)]
    file.write_text("id,tone\n" + "".join(lines))
    found = ragstone.calibrate(run, file)
    (check,) = found.to_dict()["agreement"]
    assert (check["kind"], check["n"], check["accuracy"]) == ("tone", 12, pytest.approx(11 / 12))
    (estimate,) = found.to_dict()["estimates"]
    assert (estimate["metric"], estimate["corrected"]["n_labels"]) == ("casual", 12)


def test_a_gate_holds_it_to_a_bar(run: ragstone.Run) -> None:
    assert ragstone.gate(run, ["casual <= 0.9"]).decision == "pass"
    assert ragstone.gate(run, ["casual >= 0.9"]).decision == "fail"


def test_it_is_shown(run: ragstone.Run) -> None:
    shown = CliRunner().invoke(app, ["show", str(run.path), "0"]).stdout
    assert "tone: sounds casual" in shown
    assert "By ear." in shown
    record = CliRunner().invoke(app, ["show", str(run.path), "0", "--json"]).stdout
    assert json.loads(record)["judgements"]["tone"][0]["tone"] == "casual"


def test_a_sheet_asks_people_what_the_model_was_asked(run: ragstone.Run, tmp_path: Path) -> None:
    out = tmp_path / "sheet.csv"
    given = ["sample", str(run.path), "--n", "4", "--metric", "casual", "--out", str(out)]
    printed = CliRunner().invoke(app, given)
    assert printed.exit_code == 0, printed.stderr
    frame = pl.read_csv(out)
    assert "tone" in frame.columns
    assert {"question", "answer"} <= set(frame.columns)
    assert "contexts" not in frame.columns
    told = (tmp_path / "sheet.guideline.md").read_text(encoding="utf-8")
    assert "`tone`:\n- `formal`: full sentences" in told
    assert "- A quotation in slang" in told


@pytest.mark.usefixtures("tone")
def test_the_command_line_takes_it_along() -> None:
    """Loaded already, the file is not run again."""
    printed = CliRunner().invoke(app, ["judges", "tone", "--kinds", str(HERE / "tone.py")])
    assert printed.exit_code == 0
    assert "# Tone: how does the answer speak?" in printed.stdout


def test_a_run_of_a_kind_that_is_not_loaded_says_so(run: ragstone.Run) -> None:
    del KINDS["tone"], ASKS["tone"]
    with pytest.raises(ragstone.InputError, match="tone, a kind of your own") as raised:
        ragstone.Run.open(run.path)
    assert str(raised.value).endswith("has to be loaded: an import of their file.")
    shown = CliRunner().invoke(app, ["show", str(run.path)])
    assert shown.exit_code == 2
    assert "damaged" not in shown.stderr
    assert "--kinds FILE" in shown.stderr
    page = run.path.with_name("page.md")
    with pytest.raises(SystemExit):
        main([str(run.path), str(page)])
    for name in [one for one in sys.modules if one.startswith("ragstone_own_")]:
        del sys.modules[name]
    VIEWS["answers"].columns.pop("tone")
    main([str(run.path), str(page), "--kinds", str(HERE / "tone.py")])
    assert page.exists()


@pytest.mark.usefixtures("run")
def test_the_command_that_comes_next_can_be_pasted(tmp_path: Path) -> None:
    """It loads the kinds again, and metrics where it takes them; blanks in paths are quoted."""
    load_kinds(HERE / "tone.py")
    load_metrics(HERE / "tone_metrics.py")
    run = ragstone.evaluate(
        ROWS, metrics=["casual"], judge=judge("e", by_ear), out=tmp_path / "a b"
    )
    kinds = ["--kinds", str(HERE / "tone.py")]
    page = page_of(run).sections[-1].blocks[0]
    assert isinstance(page, Facts)
    said = "".join(one.text for one in parts(page.rows[-1].words))
    assert f"  next: {shlex.join(['ragstone', 'show', str(run.path), *kinds])}  (" in said
    shown = CliRunner().invoke(app, ["show", str(run.path)], env={"COLUMNS": "400"}).stdout
    assert shlex.join(["ragstone", "show", str(run.path), "EXAMPLE", *kinds]) in shown
    sheet = str(tmp_path / "sheet.csv")
    given = ["sample", str(run.path), "--n", "4", "--metric", "casual", "--out", sheet]
    printed = CliRunner().invoke(app, given, env={"COLUMNS": "400"}).stdout
    own = [*kinds, "--metrics-from", str(HERE / "tone_metrics.py")]
    assert shlex.join(["ragstone", "calibrate", str(run.path), "--labels", sheet, *own]) in printed


def test_a_kind_that_was_changed_after_the_run_is_no_damage(
    run: ragstone.Run, tmp_path: Path
) -> None:
    VIEWS["answers"].columns.pop("tone")
    VIEWS["answers"].taken.clear()
    del KINDS["tone"], ASKS["tone"]
    file = tmp_path / "tone.py"
    file.write_text((HERE / "tone.py").read_text().replace('"neutral":', '"plain":'))
    file.with_name("tone.md").write_text((HERE / "tone.md").read_text())
    LABELS["answer"].pop("tone")
    load_kinds(file)
    with pytest.raises(ragstone.InputError) as raised:
        ragstone.Run.open(run.path).judgements("tone")
    first, fault, last = str(raised.value).splitlines()
    assert first == "tone, a kind of your own, was another when the run judged it:"
    assert "'plain'" in fault
    assert "'neutral'" in fault
    assert last == "Load it as it was then, or evaluate again into another folder."


def test_disagreement_in_a_panel_draws_what_people_should_see(
    metrics: list[str], tmp_path: Path
) -> None:
    panel = [judge("a", by_ear), judge("b", by_ear), judge("c", lambda _: "neutral")]
    found = ragstone.evaluate(ROWS, metrics=metrics, judge=[panel], out=tmp_path / "p")
    outvoted = among_votes(Scored(found), str(parse_metric("casual")))
    assert sorted(set(outvoted.to_list())) == [0.0, pytest.approx(1 / 3)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "defines no kind"),
        ("1 / 0", "ZeroDivisionError while it ran"),
        ("import nowhere", "ModuleNotFoundError while it ran: No module named 'nowhere'"),
        (
            "from ragstone.judgements import *\n"
            "class Two(Kind):\n    name = 'Two Words'\n    asks = ()\n",
            "must be a word of lower-case letters.*nothing is decided.*no judge is asked",
        ),
        (
            "from ragstone.judgements import *\nimport polars as pl\n"
            "class Own(Kind):\n    name = 'own_kind'\n    shows = ('picture',)\n"
            "    asks = (Ask(over=Answers, requires=('smell',), by=('local',), after=('taste',)),)"
            "\n"
            "    own = Column(pl.Boolean, 'it is', role='verdict')\n",
            "requires smell.*answered by local.*shows picture",
        ),
        ("\n1 / 0", "own.py:2: ZeroDivisionError"),
        (
            "from ragstone.judgements import *\n"
            "class Own(Kind):\n    name = 'own_kind'\n    shows = 'answer'\n"
            "    asks = (Ask(over='Answers', columns=('b',), values=('c',)),)\n"
            "    own = Column(None, '', values=['a'], role='verdikt', positive=('d',))\n"
            "    reason = Column(None, '', role='verdict')\n",
            "role verdikt; the roles are unit.*need their meanings.*counts d as yes.*"
            "already has a column reason.*neither a type nor values.*fills b.*verdicts c.*"
            "over 'Answers', which is not a view.*shows must be a tuple",
        ),
        (
            "from ragstone.judgements import *\n"
            "class Own(Kind):\n    asks = Ask(over=Answers)\n"
            "    helpful = Column(None, '', values={'a': 'b'}, role='verdict', label='helpful')\n",
            "the name must be a word.*asks must be a tuple",
        ),
        (
            "from ragstone.judgements import *\n"
            "class Own(Kind):\n    name = 'own_kind'\n    asks = (Ask(over=Answers),)\n"
            "    one = Column(None, '', values={'a': 'b'}, role='verdict', label='l')\n"
            "    two = Column(None, '', values={'a': 'b'}, role='verdict', label='l',\n"
            "        fact='one')\n",
            "already has a column 'one'.*several columns have the label l",
        ),
        (
            "from ragstone.judgements import *\nimport polars as pl\n"
            "class Support(Kind):\n    name = 'support'\n    asks = ()\n",
            "already a kind called support",
        ),
        (
            "from ragstone.judgements import *\nimport polars as pl\n"
            "class Own(Kind):\n    name = 'own_kind'\n    asks = (Ask(over=Answers),)\n"
            "    helpful = Column(pl.Boolean, 'it is', role='verdict')\n",
            "already has a column 'helpful'",
        ),
        (
            "from ragstone.judgements import *\n"
            "class Own(Kind):\n    name = 'own_kind'\n    asks = (Ask(over=Answers),)\n"
            "    own = Column(None, '', values={'a': 'b'}, role='verdict', label='helpful')\n",
            "the label helpful of answers is yes, no, not a",
        ),
        (
            "from ragstone.judgements import *\nimport polars as pl\n"
            "class Own(Kind):\n    name = 'own_kind'\n    rules = ('none',)\n"
            "    asks = (Ask(over=Answers, requires='answer', after='claims'),)\n"
            "    own = Column('str', 3, role='verdict', label=5)\n"
            "    two = Column(None, '', values={1: 'a', None: 3, '': 'b'}, phrase=3, tones=4)\n"
            "    three = Column(None, '', values={1: 'a', 2: 'b'}, role='grade')\n"
            "    four = Column(pl.Int32, '', values={'a': 'b'}, role='grade')\n"
            "    five = Column(pl.Float64, '', values={1: 'b', 2: 'c'}, role='number')\n"
            "    six = Column(None, '', values={'a': 'b'}, tones={'a': 'nice', 'z': 'good'},\n"
            "        phrase={'q': 'is'})\n",
            "doc and label of own must be text.*own has the type 'str', which is no type of.*"
            "meanings of the values of two must be text.*of two must all be words, or all be.*"
            "tones of two must be a mapping.*phrase of two must be a mapping.*"
            "three are numbers, so it needs a type.*four is a number, but not all.*"
            "five must be the steps 0, 1, 2.*tones of six name z.*phrase of six name q.*"
            "tone nice; the tones are good.*requires must be a tuple.*after must be a tuple.*"
            "rules must be a tuple",
        ),
    ],
)
@pytest.mark.usefixtures("registries")
def test_a_file_without_a_kind_that_can_be_judged_is_refused(
    text: str, fault: str, tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(ragstone.InputError, match=f"(?s){fault}"):
        load_kinds(file)


DECLARED = (
    "from ragstone.judgements import *\nimport polars as pl\n"
    "class Own(Kind):\n    name = 'own_kind'\n    asks = (Ask(over=Answers, after=('taste',)),)\n"
    "    own = Column(pl.Boolean, 'it is', role='verdict')\n"
)


@pytest.mark.parametrize(
    ("guideline", "fault"),
    [
        (None, "no guideline: write what is judged, and how, in own_kind.md"),
        (b" ", "own_kind.md is empty"),
        (b"\xff", "own_kind.md cannot be read"),
        (b"# Own\n{own} {no} {own.no}", "a placeholder {no}.*a placeholder {own.no}"),
    ],
)
@pytest.mark.usefixtures("registries")
def test_a_kind_without_a_guideline_to_be_told_is_refused(
    guideline: bytes | None, fault: str, tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    file.write_text(DECLARED)
    if guideline is not None:
        file.with_name("own_kind.md").write_bytes(guideline)
    with pytest.raises(ragstone.InputError, match=f"(?s)comes after taste.*{fault}"):
        load_kinds(file)


@pytest.mark.usefixtures("registries")
def test_a_kind_that_was_refused_can_be_declared_again(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    good = DECLARED.replace(", after=('taste',)", "")
    file.write_text(good.replace("verdict", "verdikt"))
    file.with_name("own_kind.md").write_text("# Own: is it?")
    with pytest.raises(ragstone.InputError, match="role verdikt"):
        load_kinds(file)
    file.write_text(good + "# mended\n")
    (kind,) = load_kinds(file)
    assert kind.name == "own_kind"


@pytest.mark.usefixtures("registries")
def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    """Else a kind had the guideline, and a metric the kind, of the file that came last."""
    good = DECLARED.replace(", after=('taste',)", "")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        text = good.replace("own_kind", f"kind_{name}").replace("own =", f"own_{name} =")
        (tmp_path / name / "mine.py").write_text(text)
        (tmp_path / name / f"kind_{name}.md").write_text(f"# {name}: is it?")
    metrics = tmp_path / "mine.py"
    metrics.write_text(
        (HERE / "tone_metrics.py")
        .read_text()
        .replace('Answers.tone == "casual"', "Answers.own_one")
    )
    one, two = (load_kinds(tmp_path / name / "mine.py")[0] for name in ("one", "two"))
    (metric,) = load_metrics(metrics)
    assert [guideline_of(kind).title for kind in (one, two)] == ["one: is it?", "two: is it?"]
    assert load_kinds(tmp_path / "one" / "mine.py") == [one]
    assert metric.name == "casual"


@pytest.mark.usefixtures("registries")
def test_braces_in_a_meaning_are_no_placeholder(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from ragstone.judgements import *\n"
        "class Own(Kind):\n    name = 'own_kind'\n    asks = (Ask(over=Answers),)\n"
        "    own = Column(None, '', values={'a': 'JSON such as {x}'}, role='verdict',\n"
        "        label='own')\n"
    )
    file.with_name("own_kind.md").write_text("# Own: is it?\n\nIt is.")
    (kind,) = load_kinds(file)
    assert "- `a`: JSON such as {x}\n" in prompt(kind, guideline_of(kind))
    assert "- `a`: JSON such as {x}\n" in instructions_for_people(kind)
