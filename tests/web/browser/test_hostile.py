"""Hostile and extreme data: it can be read, does nothing, and fits."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.web.page_request import run_path

from .conftest import NARROW, WIDE, Serve, Watched

Watch = Callable[..., Watched]
EVIL = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> javascript:alert(1) "
    '"><svg onload=alert(1)> {{ 99999 * 99999 }} \u202egnp.exe\u202c \x1b[31m @all '
)
METRICS = ["faithfulness", "mrr", "precision", "token_f1", "exact_match", "answer_coverage"]


def hostile(at: int, system: str) -> dict[str, Any]:
    word = "W" * 1_000_000
    return {
        "id": f"{EVIL}/{at}/../{system}",
        "question_id": f"{EVIL} {at}",
        "system": f"{system} {EVIL}",
        "question": f"{EVIL} ما هي الدَول؟ {at}",
        "answer": f"{EVIL} The pier is 90 metres long. {word if at == 0 else ''}",
        "reference": f"{EVIL} The pier is 90 metres long.",
        "contexts": [
            {"id": f"{EVIL} {rank}", "text": f"{EVIL} The pier {rank}. {word if at == 0 else ''}"}
            for rank in range(10)
        ],
        "history": [{"role": "user", "text": EVIL}, {"role": "assistant", "text": EVIL}],
        "slices": {"topic": f"{EVIL} {at % 2}"},
        "labels": {"helpful": at % 2},
        "meta": {"note": EVIL},
    }


@pytest.fixture(scope="module")
def evil_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil")
    rows = [hostile(at, system) for at in range(3) for system in ("a", "b")]
    name = "<img src=x onerror=alert(1)> run"
    ragstone.evaluate(rows, metrics=METRICS, by=["topic"], out=folder / name)
    return folder


def addresses(folder: Path) -> list[str]:
    (run,) = [one.name for one in folder.iterdir() if (one / "run.json").is_file()]
    ids = ragstone.Run.open(folder / run).examples(["id"])["id"]
    return [
        "/",
        run_path(run),
        f"{run_path(run)}?by=topic&q=alert&where=faithfulness:0..1",
        run_path(run, "examples", ids[0]),
        run_path(run, "examples", ids[2]),
        f"/compare?runs={run_path(run).removeprefix('/runs/')}",
        run_path(run, "judge"),
        run_path(run, "people"),
    ]


def test_hostile_text_is_text_on_every_page(serve: Serve, watch: Watch, evil_runs: Path) -> None:
    address, one = serve(evil_runs), watch()
    for path in addresses(evil_runs):
        answer = one.page.goto(address + path)
        assert answer is not None
        assert answer.status == 200, path
        assert len(answer.body()) <= 200_000, path
        assert one.page.locator("main script, main img").count() == 0
        assert one.page.locator("main [onload], main [onerror]").count() == 0
        assert f"{99999 * 99999}" not in one.page.locator("h1").inner_text()
        assert "\u202e" not in one.page.content()
        for wide in (WIDE, NARROW):
            one.resize(wide)
            assert one.overflow() == 0, path


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty metrics, twelve systems whose names have 200 characters."""
    folder = tmp_path_factory.mktemp("many")
    name = "retriever=hybrid/reranker=cross-encoder/chunk=512/overlap=64/prompt=final/" + "x" * 110
    rows = [
        {
            "question": f"How long is pier {at}?", "system": f"{name}/seed={1000 + system}",
            "answer": f"Pier {at} is {at + system} metres long.",
            "reference": f"Pier {at} is {at} metres long.",
            "contexts": [f"Pier {at} is {at} metres long.", "Gulls."],
            "slices": {"side": "left" if at % 2 else "right"},
        }
        for at in range(4)
        for system in range(12)
    ]  # fmt: skip
    metrics = [f"precision(k={k})" for k in range(1, 21)] + [f"hit(k={k})" for k in range(1, 21)]
    ragstone.evaluate(rows, metrics=metrics, by=["side"], out=folder / "many")
    return folder


@pytest.fixture(scope="module")
def missing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything is missing, for no judge was asked what the metric needs."""
    folder = tmp_path_factory.mktemp("missing")
    rows = [{"question": "How long?", "answer": f"{at} m.", "contexts": ["90 m."]} for at in (1, 2)]
    ragstone.evaluate(rows, metrics=["helpfulness"], judge="local", out=folder / "missing")
    return folder


@pytest.mark.parametrize("data", ["many", "missing"])
def test_extremes_fit_and_have_no_barrier(
    serve: Serve, watch: Watch, request: pytest.FixtureRequest, data: str
) -> None:
    folder = request.getfixturevalue(data)
    address = serve(folder)
    one = watch()
    for path in ("/", f"/runs/{data}", f"/runs/{data}?by=side", f"/runs/{data}/judge"):
        answer = one.page.goto(address + path)
        assert answer is not None
        assert answer.status == 200
        one.looked_at()
