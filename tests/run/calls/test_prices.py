"""What is not known is not free."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.models.chat import Usage
from ragstone.run.calls.budget import Price, Prices, cost, load_prices

PRICE = Price(2.0, 0.5, 10.0)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(1_000_000, 0, 0), 2.0),
        (Usage(1_000_000, 0, 1_000_000), 0.5),
        (Usage(1_000_000, 100_000, 500_000, 50_000), 1.0 + 0.25 + 1.0),
        (Usage(1_000_000, 0), 2.0),
        (Usage(None, 10), None),
        (Usage(10, None), None),
        (Usage(0, 0), 0.0),
    ],
)
def test_cached_tokens_have_their_own_price_and_unknown_ones_none(
    usage: Usage, usd: float | None
) -> None:
    assert cost(usage, PRICE) == usd
    assert cost(usage, None) is None


def test_a_file_has_a_table_for_each_model(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(
        '["openai:gpt-5-mini"]\ninput = 0.25\ncached = 0.025\noutput = 2\n'
        '["http://localhost:8000/v1#m"]\ninput = 0\noutput = 0\n'
    )
    prices = load_prices(file)
    assert prices.of("openai:gpt-5-mini?seed=7") == Price(0.25, 0.025, 2.0)
    assert prices.of("http://localhost:8000/v1#m") == Price(0.0, 0.0, 0.0)
    assert prices.of("my_function") is None


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (
            '["a"]\ninput = -1\n["b"]\ninput = "x"\noutput = true\nper = 1\n',
            [
                "['a'] input: expected a number from 0, got -1 (a number)",
                "['a'] has no output",
                "['b'] input: expected a number from 0, got the text 'x'",
                "['b'] output: expected a number from 0, got true (a truth value)",
                "['b'] per is not known",
            ],
        ),
        ("a = 1\n", ["'a' is no table, but 1 (a number)"]),
        ("", ["it holds no model"]),
        ("[", ["is not valid TOML"]),
    ],
)
def test_every_fault_of_a_file_is_told(tmp_path: Path, text: str, faults: list[str]) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_prices(file)
    for fault in faults:
        assert fault in str(caught.value)


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_prices(tmp_path / "none.toml")


def test_without_a_file_prices_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def calc_price(usage: dict[str, int], *, model_ref: str, provider_id: str) -> Any:
        if (model_ref, provider_id) != ("gemini-9", "google"):
            raise LookupError(model_ref)
        cached = usage.get("cache_read_tokens", 0)
        tokens = usage.get("input_tokens", 0) - cached
        return SimpleNamespace(
            total_price=tokens * 3e-6 + cached * 1e-6 + usage.get("output_tokens", 0) * 15e-6
        )

    package = SimpleNamespace(Usage=dict, calc_price=calc_price)
    monkeypatch.setitem(sys.modules, "genai_prices", package)
    price = Prices().of("gemini:gemini-9?temperature=0")
    assert price is not None
    assert (price.input, price.cached, price.output) == pytest.approx((3.0, 1.0, 15.0))
    assert Prices().of("openai:unheard-of") is None
    assert Prices().of("http://localhost/v1#gemini-9") is None


def test_without_file_and_package_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert Prices().of("openai:gpt-5-mini") is None


def test_tokens_written_to_a_servers_cache_cost_a_quarter_more() -> None:
    usage = Usage(prompt=1_500, completion=50, cached=1_000, written=300)
    assert cost(usage, Price(4.0, 0.4, 20.0)) == pytest.approx(
        (200 * 4.0 + 300 * 5.0 + 1_000 * 0.4 + 50 * 20.0) / 1e6
    )
