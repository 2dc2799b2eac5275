"""Prices: prices of tokens, from the user's file or from genai-prices."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.data.json_text import shown
from ragstone.data.sources import read_toml
from ragstone.models.chat import Usage

MILLION = 1_000_000
FIELDS = ("input", "cached", "output", "batch")
PROVIDERS = {
    "openai": "openai",
    "azure": "azure",
    "anthropic": "anthropic",
    "gemini": "google",
    "bedrock": "aws",
}
"""What genai-prices calls them."""

MOST = 1e9
"""US dollars per million tokens; more is a slip."""

EXAMPLE = '["openai:gpt-5-mini"]\ninput = 0.25\ncached = 0.025\noutput = 2.0'


WRITTEN = 1.25
"""What a token costs that the server writes to its cache for five minutes, as a multiple of a plain
one. Anthropic's models alone say how many they were."""


HALF = 0.5
"""What a batch costs at OpenAI, Anthropic and Google, as a share of single questions."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        input: Tokens sent.
        cached: Those of them that the server had in its cache.
        output: Tokens that came back.
        batch: What a batch costs, as a share of these.
    """

    input: float
    cached: float
    output: float
    batch: float = HALF


@dataclass(frozen=True)
class Prices:
    """The prices of models: from the file, otherwise from genai-prices if it is installed."""

    file: Mapping[str, Price] = field(default_factory=dict)

    def of(self, name: str) -> Price | None:
        """The price of a model; None if it is not known.

        Args:
            name: Such as ``openai:gpt-5-mini?seed=7``; with or without its parameters.
        """
        bare = name.split("?")[0]
        return self.file.get(name) or self.file.get(bare) or _from_package(bare)


def load_prices(file: Path | None = None) -> Prices:
    """The prices of a TOML file: a table a model, in US dollars per million tokens.

        ["openai:gpt-5-mini"]
        input = 0.25
        cached = 0.025      # absent: as input
        output = 2.0
        batch = 0.5         # of these prices, in a batch; absent: 0.5

    Raises:
        InputError: The file does not exist, is not TOML or has invalid prices; lists every fault.
    """
    if file is None:
        return Prices()
    tables = read_toml(file, argument("prices", file))
    faults = [fault for name, table in tables.items() for fault in _faults(name, table)]
    if not tables:
        faults = ["it holds no model"]
    if faults:
        raise InputError(
            f"{argument('prices', file)}: {'; '.join(faults)}. A model's prices, in US dollars "
            f"per million tokens, are written so:\n{EXAMPLE}"
        )
    return Prices(
        {
            name: Price(
                float(table["input"]),
                float(table.get("cached", table["input"])),
                float(table["output"]),
                float(table.get("batch", HALF)),
            )
            for name, table in tables.items()
        }
    )


def cost(usage: Usage, price: Price | None) -> float | None:
    """The cost of a call in US dollars; None, never 0, if price or usage is not known.

    A server that does not say how much was cached is taken to have cached nothing.
    """
    if price is None or usage.prompt is None or usage.completion is None:
        return None
    cached = min(usage.cached or 0, usage.prompt)
    written = min(usage.written or 0, usage.prompt - cached)
    return (
        (usage.prompt - cached + (WRITTEN - 1) * written) * price.input
        + cached * price.cached
        + usage.completion * price.output
    ) / MILLION


def batch_cost(usage: Usage, price: Price | None) -> float | None:
    """The cost of a question in a batch; None if price or usage is not known."""
    usd = cost(usage, price)
    return None if usd is None or price is None else usd * price.batch


def no_price(name: str) -> InputError:
    """The error if a budget is set and a model has no price; says what to do."""
    example = EXAMPLE.replace("openai:gpt-5-mini", name.split("?")[0])
    return InputError(
        f"For {argument('budget')} it must be known what {name} costs. Give its prices, in US "
        f"dollars per million tokens, in a file: {argument('prices', 'FILE')}\n{example}\n"
        "or install those of many models: pip install 'ragstone[prices]'. "
        f"{argument('max_calls')} needs no prices."
    )


def _faults(name: str, table: object) -> list[str]:
    if not isinstance(table, dict):
        return [f"{name!r} is no table, but {shown(table)}"]
    faults = [
        f"[{name!r}] {field}: expected a number from 0, got {shown(value)}"
        for field, value in table.items()
        if field in FIELDS and not _is_price(value)
    ]
    faults += [f"[{name!r}] has no {field}" for field in ("input", "output") if field not in table]
    unknown = [field for field in table if field not in FIELDS]
    return faults + [f"[{name!r}] {field} is not known" for field in unknown]


def _is_price(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= MOST


def _from_package(name: str) -> Price | None:
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS:
        return None
    try:
        package: Any = importlib.import_module("genai_prices")
    except ImportError:
        return None

    def thousand(**usage: int) -> float:
        found = package.calc_price(
            package.Usage(**usage), model_ref=model, provider_id=PROVIDERS[provider]
        )
        return float(found.total_price) * MILLION / 1000

    try:
        return Price(
            thousand(input_tokens=1000),
            thousand(input_tokens=1000, cache_read_tokens=1000),
            thousand(output_tokens=1000),
        )
    except LookupError:
        return None
