"""A finished run of the bundled data, and the app over its folder."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

import ragstone
from ragstone.data import cornwall
from ragstone.web.runs_folder import OpenRun, RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app

HOST = "testserver"
SECRET = "of these tests"


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    ragstone.evaluate(cornwall(), by=["question_type"], out=folder / "cornwall")
    return folder


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of examples is waited for, however busy the machine is."""
    monkeypatch.setattr("ragstone.web.pages.examples_view.PATIENCE", 60)


@pytest.fixture(autouse=True)
def no_background_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run is read as a whole, and no table made, behind a test that does not wait for it."""
    monkeypatch.setattr(OpenRun, "_prepare", lambda run: run.checked.set())
    monkeypatch.setattr("ragstone.web.pages.example_view.prepare_table", lambda *_: None)


@pytest.fixture
def client(app_of_runs: ASGIApp) -> TestClient:
    return TestClient(app_of_runs, follow_redirects=False)


@pytest.fixture(scope="session")
def app_of_runs(runs: Path) -> ASGIApp:
    """The app over the run; it keeps what its pages need, so that is made once."""
    return app_over(runs)


def app_over(folder: Path, token: str = "") -> ASGIApp:
    return make_app(RunsFolder(folder), Access(frozenset({HOST}), token, SECRET))


def client_of(folder: Path, token: str = "") -> TestClient:
    return TestClient(app_over(folder, token), follow_redirects=False)


MAKING = "eing computed"


def settled(client: TestClient, address: str) -> str:
    """The page once all is made that it waits for."""
    for _ in range(200):
        answer = client.get(address)
        assert answer.status_code == 200, answer.text
        if MAKING not in answer.text:
            return answer.text
    raise AssertionError(f"{address} is never made")
