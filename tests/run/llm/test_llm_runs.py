"""Runs judged by a model: what is asked, what comes of it, and what is asked once only."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import in_shell
from ragstone.core.parquet import scan_parquet
from ragstone.models.chat import ChatFailure, ChatReply, ChatRequest
from ragstone.report.reason_words import words
from ragstone.run import Instructions, Limits
from ragstone.run.forecast import forecast
from ragstone.testing import ScriptedEncoder, ScriptedModel, asked, reply_to

from .conftest import item

Model = Callable[..., ScriptedModel]
Rows = list[dict[str, Any]]

METRICS = (
    "faithfulness",
    "context_precision",
    "context_recall",
    "answer_correctness(factual=1.0)",
    'critique(aspect="conciseness")',
)


def tasks(model: ScriptedModel) -> Counter[str]:
    return Counter(request.name for request in model.requests)


def values(run: ragstone.Run) -> dict[tuple[str, str], float | None]:
    return {
        (row["example_id"], row["metric"]): row["value"]
        for row in run.scores().iter_rows(named=True)
    }


def encoder() -> ScriptedEncoder:
    return ScriptedEncoder({})


@pytest.mark.parametrize("plan", ["isolated", "lean"])
@pytest.mark.parametrize("suite", ["taxonomy", "triad", "rubric", "quick"])
def test_every_metric_of_a_suite_has_a_value(
    scripted: Model, pier: Rows, suite: str, plan: str, tmp_path: Path
) -> None:
    run = ragstone.evaluate(
        pier,
        suites=suite,
        judge=scripted(),
        instructions=Instructions(plan=plan),
        out=tmp_path / "r",
    )
    missing = {row.metric: row.reasons for row in run.estimate_list if row.n_missing}
    assert missing == {}
    assert run.exit_status == 0


def test_what_systems_share_is_asked_once(scripted: Model, pier: Rows) -> None:
    model = scripted()
    run = ragstone.evaluate(pier, metrics=METRICS, judge=model)
    assert tasks(model) == {
        "claims": 2,
        "statements": 1,
        "relevance": 1,
        "support": 1,
        "agreement": 2,
        "critique": 2,
    }
    assert values(run)["1", "faithfulness"] == 1
    assert values(run)["2", "answer_correctness(factual=1.0)"] == 1


def test_the_lean_plan_asks_less(scripted: Model, pier: Rows) -> None:
    model = scripted()
    lean = ragstone.evaluate(
        pier[:1], metrics=METRICS, judge=model, instructions=Instructions(plan="lean")
    )
    assert tasks(model) == {
        "claims_and_critique": 1,
        "statements": 1,
        "relevance_and_support": 1,
        "agreement": 1,
    }
    isolated = ragstone.evaluate(pier[:1], metrics=METRICS, judge=scripted())
    assert values(lean) == values(isolated)
    assert "plan:lean" in lean.signature


@pytest.mark.parametrize("answers_all", [True, False])
def test_a_model_that_answers_one_task_of_several_is_told_of(
    scripted: Model, pier: Rows, answers_all: bool
) -> None:
    """Of relevance and support in one question, it answers support alone."""

    def reply(request: ChatRequest) -> Any:
        left_out = "c" if request.name == "relevance_and_support" and not answers_all else ""
        ids = [name for name in asked(request) if not left_out or name[0] != left_out]
        return reply_to(request, {name: item(name) for name in ids})

    lean = ragstone.evaluate(
        pier, metrics=METRICS, judge=ScriptedModel(reply), instructions=Instructions(plan="lean")
    )
    said = [words(note) for note in lean.manifest["remarks"] if "answered_in_part" in note]
    assert said == ([] if answers_all else [
        "1 question that put several tasks together was answered in part, and the rest was asked "
        "again, so the lean plan saved little or nothing there."
    ])  # fmt: skip
    assert values(lean) == values(ragstone.evaluate(pier, metrics=METRICS, judge=scripted()))


def test_contexts_stand_before_everything_else(scripted: Model, pier: Rows) -> None:
    model = scripted()
    ragstone.evaluate(pier, metrics=METRICS, judge=model)
    shown = {one.name: one for one in model.requests}
    relevance, support = shown["relevance"], shown["support"]
    assert relevance.system == support.system
    assert relevance.parts[0] == support.parts[0]
    assert "The pier is 90 m long." in relevance.parts[0]


def test_relevance_sees_neither_answer_nor_reference(scripted: Model, pier: Rows) -> None:
    model = scripted()
    ragstone.evaluate(pier, metrics="context_precision", judge=model)
    (request,) = model.requests
    assert "Ninety" not in request.text
    assert "It is 90 m long" not in request.text


def test_the_same_run_asks_nothing_again(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    first = ragstone.evaluate(pier, metrics=METRICS, judge=scripted(), out=tmp_path / "run")
    again = scripted()
    second = ragstone.evaluate(pier, metrics=METRICS, judge=again, out=tmp_path / "run")
    assert again.requests == []
    assert values(first) == values(second)


def test_another_run_takes_replies_from_the_cache(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    ragstone.evaluate(pier, metrics=METRICS, judge=scripted(real=True), out=tmp_path / "one")
    again = scripted(real=True)
    run = ragstone.evaluate(pier, metrics=METRICS, judge=again, out=tmp_path / "two")
    assert again.requests == []
    assert any(
        "had been answered before" in in_shell(words(remark)) for remark in run.manifest["remarks"]
    )
    not_cached = scripted(real=True)
    ragstone.evaluate(
        pier, metrics=METRICS, judge=not_cached, out=tmp_path / "three", limits=Limits(cached=False)
    )
    assert len(not_cached.requests) == 9


def test_a_model_by_script_says_what_its_own_script_says(scripted: Model, pier: Rows) -> None:
    def no(_: str, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "verdict": "absent"} if reply["verdict"] == "supported" else reply

    scores = {}
    for say in (lambda _, reply: reply, no):
        model = scripted(say)
        run = ragstone.evaluate(pier, metrics="faithfulness", judge=model)
        scores[say] = values(run)["1", "faithfulness"]
        assert tasks(model) == {"claims": 2, "support": 1}
    assert list(scores.values()) == [1.0, 0.0]


def test_a_failure_is_missing_and_the_same_command_asks_again(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    def refuses(request: ChatRequest) -> ChatFailure | None:
        return ChatFailure("rejected", "not today") if request.name == "support" else None

    run = ragstone.evaluate(
        pier, metrics=METRICS, judge=scripted(fails=refuses), out=tmp_path / "run"
    )
    scores = run.scores().filter(metric="faithfulness")
    assert scores["status"].to_list() == ["missing", "missing"]
    assert "not today" in in_shell(words(scores["reason"][0]))
    assert values(run)["1", "context_precision"] is not None
    assert run.exit_status == 4

    mended = scripted()
    run = ragstone.evaluate(pier, metrics=METRICS, judge=mended, out=tmp_path / "run")
    assert tasks(mended) == {"support": 1}
    assert values(run)["1", "faithfulness"] == 1
    assert run.exit_status == 0
    assert run.manifest["unheard"] == 0


def test_one_verdict_that_is_left_out_costs_no_other(scripted: Model, pier: Rows) -> None:
    def silent_on(name: str, reply: dict[str, Any]) -> dict[str, Any] | None:
        return None if name == "c02" else reply

    model = scripted(silent_on)
    run = ragstone.evaluate(pier[:1], metrics=["precision", "mrr"], judge=model)
    assert tasks(model)["relevance"] == 6
    assert values(run)["1", "mrr"] == 1
    assert values(run)["1", "precision"] is None
    assert run.scores().filter(metric="precision")["status"].to_list() == ["missing"]


def test_calls_end_at_their_limit_and_go_on_with_more(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    model = scripted()
    run = ragstone.evaluate(
        pier, metrics=METRICS, judge=model, out=tmp_path / "run", limits=Limits(max_calls=3)
    )
    assert len(model.requests) == 3
    missing = run.scores().filter(status="missing")
    assert missing.height
    assert all("--max-calls" in in_shell(words(reason)) for reason in missing["reason"])
    more = scripted()
    run = ragstone.evaluate(
        pier, metrics=METRICS, judge=more, out=tmp_path / "run", limits=Limits(max_calls=20)
    )
    assert len(more.requests) == 6
    assert run.exit_status == 0


def test_a_budget_needs_a_price(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="price"):
        ragstone.evaluate(pier, metrics=METRICS, judge=scripted(), limits=Limits(budget=1.0))
    prices = tmp_path / "prices.toml"
    prices.write_text('["scripted"]\ninput = 1.0\noutput = 1.0\n')
    run = ragstone.evaluate(
        pier, metrics=METRICS, judge=scripted(), limits=Limits(budget=0.0, prices=prices)
    )
    assert run.scores()["status"].unique().to_list() == ["missing"]


def test_people_come_first_and_the_model_fills_what_they_left_open(
    scripted: Model, pier: Rows
) -> None:
    pier[0]["labels"] = {"contexts": [{"topically_relevant": 1}, {"topically_relevant": 0}]}
    pier[1]["contexts"] = ["The pier is 90 m long."]
    model = scripted()
    run = ragstone.evaluate(pier, metrics="context_precision", judge=["human", model])
    assert tasks(model) == {"relevance": 1}
    said = run.judgements("relevance").select("example_id", "judge").unique().sort("example_id")
    assert said.rows() == [("1", "human"), ("2", "scripted")]


def test_a_second_model_judges_what_the_first_did_not(scripted: Model, pier: Rows) -> None:
    first = scripted(name="first", fails=lambda _: ChatFailure("rejected", "no"))
    second = scripted(name="second")
    run = ragstone.evaluate(pier, metrics="faithfulness", judge=[first, second])
    assert values(run)["1", "faithfulness"] == 1
    assert set(run.judgements("claims")["judge"]) == {"second"}
    assert set(run.judgements("support")["author"]) == {"second"}


def test_the_local_judge_can_stand_in_for_a_model(scripted: Model, pier: Rows) -> None:
    def no_claims(request: ChatRequest) -> ChatFailure | None:
        return ChatFailure("rejected", "no") if request.name == "claims" else None

    model = scripted(fails=no_claims)
    run = ragstone.evaluate(pier[:1], metrics="faithfulness", judge=[model, "local:strings"])
    support = run.judgements("support")
    assert support.select("judge", "author").rows() == [("scripted", "local:strings")]
    assert values(run)["1", "faithfulness"] == 1


def test_contexts_that_do_not_fit_are_split_and_none_is_lost(scripted: Model, pier: Rows) -> None:
    pier[0]["contexts"] = [f"{word} " * 400 for word in ("pier", "beach", "harbour", "lighthouse")]
    model = scripted(window=6_000)
    run = ragstone.evaluate(pier[:1], metrics=["context_precision", "faithfulness"], judge=model)
    asked = [one for one in model.requests if one.name == "relevance"]
    assert len(asked) > 1
    together = "".join(one.parts[0] for one in asked)
    for word in ("pier", "beach", "harbour", "lighthouse"):
        assert together.count(word) == 400
    assert sorted(run.judgements("relevance")["rank"]) == [1, 2, 3, 4]
    assert values(run)["1", "context_precision"] == 1


def test_a_server_that_finds_a_question_too_long_gets_smaller_ones(
    scripted: Model, pier: Rows
) -> None:
    pier[0]["contexts"] = [f"{word} " * 900 for word in ("pier", "beach", "harbour", "lighthouse")]

    def too_long(request: ChatRequest) -> ChatFailure | None:
        length = len(request.text)
        return ChatFailure("too_long", "8k at the most") if length > 20_000 else None

    model = scripted(fails=too_long)
    run = ragstone.evaluate(pier[:1], metrics="context_precision", judge=model)
    assert values(run)["1", "context_precision"] == 1


def test_as_many_items_are_asked_about_at_once_as_the_user_says(
    scripted: Model, pier: Rows
) -> None:
    pier[0]["contexts"] = [f"The pier {word}." for word in ("is long", "is old", "is red")]
    model = scripted()
    model.items = 2
    run = ragstone.evaluate(pier[:1], metrics=["context_precision"], judge=model)
    questions = [list(asked(one)) for one in model.requests if one.name == "relevance"]
    assert sorted(questions) == [["c01"], ["c02", "c03"]]
    assert values(run)["1", "context_precision"] == 1


def test_a_panel_votes_and_its_members_are_kept(scripted: Model, pier: Rows) -> None:
    def absent(name: str, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "verdict": "absent"} if name.startswith("p") else reply

    members = [scripted(name="one"), scripted(name="two"), scripted(absent, name="three")]
    run = ragstone.evaluate(pier[:1], metrics="faithfulness", judge=[members])
    assert values(run)["1", "faithfulness"] == 1
    said = run.judgements("support").select("judge", "verdict")
    assert dict(said.rows()) == {
        "one,two,three": "supported",
        "one": "supported",
        "two": "supported",
        "three": "absent",
    }
    assert run.excerpt(["1"]).judgements("support").equals(run.judgements("support"))
    assert [tasks(one)["claims"] for one in members] == [1, 0, 0]


def test_answers_are_compared_in_both_orders(scripted: Model, pier: Rows) -> None:
    model = scripted()
    run = ragstone.evaluate(pier, metrics="win_rate", judge=model)
    assert tasks(model) == {"preference": 2}
    assert values(run) == {("1", "win_rate"): 0.5, ("2", "win_rate"): 0.5}


def test_a_dry_run_counts_what_a_run_asks(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    model = scripted()
    expected = forecast(pier, metrics=METRICS, judge=model)
    assert model.requests == []
    ragstone.evaluate(pier, metrics=METRICS, judge=model, out=tmp_path / "run")
    assert expected.total.calls == pytest.approx(len(model.requests), abs=1)
    after = forecast(pier, metrics=METRICS, judge=model, out=tmp_path / "run")
    assert after.total.known > 0


def test_each_example_can_be_watched(scripted: Model, pier: Rows) -> None:
    seen = []

    def watch(block: Any, example: str) -> None:
        seen.append((example, block.scores().height, len(block.calls(example))))

    ragstone.evaluate(pier, metrics=["faithfulness", "mrr"], judge=scripted(), debug=watch)
    assert [example for example, *_ in seen] == ["1", "2"]
    assert all(scores == 2 and calls >= 3 for _, scores, calls in seen)


def test_a_run_that_is_watched_keeps_the_same_rows(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    kept = []
    for name, debug in (("watched", lambda *_: None), ("alone", None)):
        out = tmp_path / name
        ragstone.evaluate(pier, metrics=METRICS, judge=[scripted(), "local"], debug=debug, out=out)
        kept.append({file.name: file.read_bytes() for file in out.rglob("*.parquet")})
    assert kept[0] == kept[1]


def test_what_was_asked_and_said_is_kept_with_each_example(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    run = ragstone.evaluate(pier, metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    calls = ragstone.Run.open(run.path).calls("1")
    assert [call.task for call in calls] == ["claims", "support"]
    assert "Ninety" not in "".join(calls[0].parts)
    assert calls[1].attempts[0].reply


def test_faults_of_the_data_come_before_any_call(scripted: Model, pier: Rows) -> None:
    model = scripted()
    with pytest.raises(InputError, match="1 fault"):
        ragstone.evaluate([*pier, {"question": "Only this"}], metrics=METRICS, judge=model)
    assert model.requests == []


def test_an_unknown_criterion_comes_before_any_call(scripted: Model, pier: Rows) -> None:
    model = scripted()
    with pytest.raises(UnknownName, match="criterion"):
        ragstone.evaluate(pier, metrics='rating(criterion="tone")', judge=model)
    assert model.requests == []


def test_the_wrong_key_ends_the_run_at_once_and_leaves_nothing(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    def denied(_: ChatRequest) -> ChatFailure:
        return ChatFailure("not_allowed", "the key is wrong", http=401)

    with pytest.raises(InputError, match="key"):
        ragstone.evaluate(pier, metrics=METRICS, judge=scripted(fails=denied), out=tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()


BY_MODEL_AND_ENCODER = ("faithfulness", "embedding_context_relevance", "semantic_similarity")


def test_a_judge_and_an_encoder_of_one_name_each_do_their_work(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    out = tmp_path / "r"
    run = ragstone.evaluate(
        pier,
        metrics=BY_MODEL_AND_ENCODER,
        judge=scripted(name="both"),
        embedder=ScriptedEncoder(name="both"),
        out=out,
    )
    assert {row.metric: row.reasons for row in run.estimate_list if row.n_missing} == {}
    kinds = [(judge["name"], judge["kinds"]) for judge in run.manifest["judges"]]
    assert kinds[:2] == [("both", ["claims", "response", "support"]), ("both", ["similarity"])]
    again = ragstone.rescore(
        out, metrics="embedding_answer_relevance", embedder=ScriptedEncoder(name="both")
    )
    assert again.manifest["judges"] == run.manifest["judges"]
    assert {row.metric: row.reasons for row in again.estimate_list if row.n_missing} == {}


@pytest.mark.parametrize("name", ["both", "another"])
def test_who_is_asked_first_speaks_though_an_encoder_has_the_name(
    scripted: Model, pier: Rows, name: str
) -> None:
    def first_context_only(one: str, reply: dict[str, Any]) -> dict[str, Any] | None:
        return None if one == "c02" else {**reply, "verdict": "0", "details": []}

    run = ragstone.evaluate(
        pier,
        metrics=("precision(k=1)", "embedding_context_relevance"),
        judge=[scripted(first_context_only, name="both"), "local:strings"],
        embedder=ScriptedEncoder(name=name),
    )
    assert {row["judge"] for row in run.judgements("relevance").to_dicts()} == {
        "both",
        "local:strings",
    }
    assert values(run)["1", "precision(k=1)"] == 0


@pytest.mark.parametrize("name", ["local", "local:strings", "human", "ids", "rules", "nli:x"])
def test_a_model_cannot_be_called_like_another_judge(
    scripted: Model, pier: Rows, name: str
) -> None:
    for judge in (scripted(name=name), [[scripted(name=name), scripted(name="other")]]):
        with pytest.raises(InputError, match=f"A model cannot be called {name}"):
            ragstone.evaluate(pier, metrics="faithfulness", judge=judge)


def test_a_judge_that_takes_long_for_the_first_block_changes_no_shard(
    scripted: Model, pier: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.run.judging.prefetch.PREFETCHED", 2)
    monkeypatch.setattr("ragstone.run.judging.sharding.OF_A_SHARD", 3)
    rows = [{**pier[0], "id": str(one), "question": f"Pier {one}?"} for one in range(7)]

    def shards(name: str, seconds: float) -> list[tuple[str, int]]:
        model = scripted()
        at_once = model.reply

        async def reply(request: ChatRequest) -> ChatReply:
            if any(f"Pier {one}?" in request.text for one in range(2)):
                await asyncio.sleep(seconds)
            return await at_once(request)

        model.reply = reply  # type: ignore[method-assign]
        ragstone.evaluate(rows, metrics="mrr", judge=model, out=tmp_path / name)
        files = sorted((tmp_path / name / "examples").iterdir())
        return scan_parquet(files).select("id", "shard").collect().rows()

    expected = [(str(one), one // 3) for one in range(7)]
    assert shards("quick", 0.0) == shards("slow", 1.0) == expected


def test_a_rubric_under_the_name_of_a_built_in_one_stands_in_for_it(tmp_path: Path) -> None:
    """The second of three points is .5, where the built-in scale has .3."""
    file = tmp_path / "mine.toml"
    file.write_text(
        '[faithfulness]\nabout = "Whether ANSWER keeps to CONTEXTS."\n'
        'sees = ["contexts", "answer"]\npoints = [{ value = 0, means = "No." },\n'
        '{ value = 0.5, means = "In part." }, { value = 1, means = "Yes." }]\n',
        encoding="utf-8",
    )
    row = {"id": "1", "question": "How long?", "contexts": ["It is 90 m."], "answer": "90 m."}

    def reply(request: ChatRequest) -> dict[str, Any]:
        said = {item: {"verdict": "2", "reason": "Half."} for item in asked(request)}
        return reply_to(request, said)

    def rated(**given: Any) -> tuple[Any, list[str], str]:
        name = 'rating(criterion="faithfulness")'
        run = ragstone.evaluate([row], metrics=name, judge=ScriptedModel(reply), **given)
        notes = [ragstone.explain(text) for text in run.manifest["remarks"]]
        own = [text for text in notes if "stand in for the built-in ones" in text]
        return run.scores()["value"][0], own, run.manifest["settings"]["llm"]["rubrics"]

    value, notes, fingerprint = rated(instructions=Instructions(rubrics=file))
    assert (value, len(notes)) == (0.5, 1)
    assert notes[0].endswith("faithfulness.")
    there, none, other = rated()
    assert (there, none) == (0.3, [])
    assert fingerprint != other
