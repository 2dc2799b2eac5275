"""On continuous integration nothing that tests need is skipped silently."""

import pytest

from tests import availability


@pytest.fixture
def on_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "ON_CI", True)
    monkeypatch.delenv("RAGSTONE_PEERS", raising=False)


@pytest.mark.usefixtures("on_ci")
def test_what_is_absent_fails_on_ci() -> None:
    with pytest.raises(pytest.fail.Exception, match="no_such_module"):
        availability.import_or_skip("no_such_module")


@pytest.mark.usefixtures("on_ci")
def test_peers_that_could_not_be_installed_are_skipped_on_ci(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(pytest.fail.Exception):
        availability.import_or_skip("torch.no_such_module")
    monkeypatch.setenv("RAGSTONE_PEERS", "none")
    with pytest.raises(pytest.skip.Exception):
        availability.import_or_skip("torch.no_such_module")


def test_elsewhere_it_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "ON_CI", False)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        availability.unavailable("no browser")
