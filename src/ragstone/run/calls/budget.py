"""Budget: limits on the calls and cost of a run, with token prices from a file or genai-prices."""

import asyncio
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import argument, reason
from ragstone.data.json_text import shown
from ragstone.data.sources import read_toml
from ragstone.models.chat import ChatRequest, Usage
from ragstone.models.chat.model import MOST_TOKENS

MILLION = 1_000_000
CHARACTERS_A_TOKEN = 4
FIELDS = ("input", "cached", "output", "batch")
# Names of the providers in genai-prices.
PROVIDERS = {
    "openai": "openai",
    "azure": "azure",
    "anthropic": "anthropic",
    "gemini": "google",
    "bedrock": "aws",
}

# US dollars per million tokens; more is a slip.
MOST = 1e9

EXAMPLE = '["openai:gpt-5-mini"]\ninput = 0.25\ncached = 0.025\noutput = 2.0'


# What a token costs that the server writes to its cache for five minutes, as a multiple of a plain
# one. Anthropic's models alone say how many they were.
WRITTEN = 1.25


# What a batch costs at OpenAI, Anthropic and Google, as a share of single questions.
HALF = 0.5


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


def counted(usage: Usage, request: ChatRequest, reply: str) -> Usage:
    """The tokens that a call is charged for: the server's, if they can be.

    A server that counts less than half of what was sent or came back by our own estimate, such as
    nothing at all, would never reach a budget: there the estimate counts.

    Args:
        usage: The server's counts.
        request: What was sent.
        reply: The text that came back.
    """
    sent = sum(map(len, (request.system, *request.parts))) // CHARACTERS_A_TOKEN
    received = len(reply) // CHARACTERS_A_TOKEN
    prompt, completion = usage.prompt, usage.completion
    if prompt is not None and 2 * prompt < sent:
        prompt = sent
    if completion is not None and 2 * completion < received:
        completion = received
    return replace(usage, prompt=prompt, completion=completion)


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
        calculated = package.calc_price(
            package.Usage(**usage), model_ref=model, provider_id=PROVIDERS[provider]
        )
        return float(calculated.total_price) * MILLION / 1000

    try:
        return Price(
            thousand(input_tokens=1000),
            thousand(input_tokens=1000, cache_read_tokens=1000),
            thousand(output_tokens=1000),
        )
    except LookupError:
        return None


# The code of the reason for questions that were not asked.
BUDGET = "budget"

# Reply tokens to reserve before any reply to the same task is known.
AT_FIRST = 8_000
# Least reply tokens to reserve if the budget allows, because reasoning varies in length.
ROOM = 4_000
# The same before the first reply, for a call that is sent alone with all that is left.
AT_LEAST = 400


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Estimates of a call's cost, in US dollars."""

    careful: float
    least: float


class TokenHistory:
    """Token counts of one task so far: the longest reply, and the most underestimated question.

    The high estimate of the next reply is twice the longest so far, and at least ``ROOM``.
    """

    def __init__(self, first: int = AT_FIRST) -> None:
        self._first = first
        self._replies = 0
        self.longest = 0
        self._ratio = 1.0

    def learn(self, prompt: int, usage: Usage) -> None:
        if usage.completion is not None:
            self._replies += 1
            self.longest = max(self.longest, usage.completion)
        if usage.prompt is not None:
            self._ratio = max(self._ratio, usage.prompt / max(prompt, 1))

    def careful(self, prompt: int) -> Usage:
        """A high estimate of a call's tokens, the whole question being written to a cache."""
        sent = self._prompt(prompt)
        completion = max(ROOM, 2 * self.longest) if self._replies else self._first
        return Usage(sent, min(completion, MOST_TOKENS), written=sent)

    def least(self, prompt: int) -> Usage:
        """A low estimate of a call's tokens: a reply as long as the longest so far."""
        sent = self._prompt(prompt)
        return Usage(sent, self.longest if self._replies else AT_LEAST, written=sent)

    def _prompt(self, prompt: int) -> int:
        return min(int(prompt * self._ratio) + 1, MOST_TOKENS)


class Budget:
    """The remaining budget of the whole run, including what was spent before it was resumed.

    The estimated cost of calls in flight is reserved. A call that does not fit waits until another
    is settled, in the order of turn; the limit is reached when a call does not fit even alone. Used
    from one event loop.

    Args:
        spent: US dollars spent so far.
    """

    def __init__(
        self, usd: float | None = None, max_calls: int | None = None, *, spent: float = 0.0,
        calls: int = 0,
    ) -> None:  # fmt: skip
        self.usd, self.max_calls = usd, max_calls
        self.spent, self.calls = spent, calls
        self.set_aside = 0.0
        self.reached: str | None = None
        self._in_flight = 0
        self._waiting: list[
            tuple[int, int, Callable[[], CostEstimate], asyncio.Future[float | None]]
        ] = []
        self._arrival = count()

    def count(self) -> bool:
        """Count a call, without a limit in USD; False once the limit on calls is reached."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            self._all_made(self.max_calls)
        if self.reached is not None:
            return False
        self.calls += 1
        return True

    def reserve(self, estimate: Callable[[], CostEstimate]) -> float | None:
        """Reserve the estimated cost of a call and count the call; None if it has to ``wait``."""
        return None if self._waiting or self.reached is not None else self._granted(estimate())

    async def wait(self, turn: int, estimate: Callable[[], CostEstimate]) -> float | None:
        """Wait for room in the budget, then reserve it; None once a limit is reached."""
        room: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (turn, next(self._arrival), estimate, room))
        self._serve()
        try:
            return await room
        except asyncio.CancelledError:
            # Cancelled after the sum was granted but before this task ran: nobody else returns it.
            if room.done() and not room.cancelled() and (reserved := room.result()) is not None:
                self.give_back(reserved)
            raise

    def settle(self, reserved: float, spent: float | None) -> None:
        """Replace the sum reserved for a call by its actual cost.

        Args:
            spent: The actual cost; None: unknown, so the reserved sum counts.
        """
        self._in_flight -= 1
        # Reset when nothing is in flight: rounding errors of sums would otherwise accumulate.
        self.set_aside = self.set_aside - reserved if self._in_flight else 0.0
        self.spent += reserved if spent is None else spent
        if self._waiting:
            self._serve()

    def give_back(self, reserved: float) -> None:
        self.calls -= 1
        self.settle(reserved, 0.0)

    def _serve(self) -> None:
        # Strictly in order, so that what a budget pays for does not depend on the clock.
        while self._waiting:
            _, _, estimate, room = self._waiting[0]
            if not room.done():
                reserved = None if self.reached is not None else self._granted(estimate())
                if reserved is None and self.reached is None:
                    return
                room.set_result(reserved)
            heappop(self._waiting)

    def _granted(self, estimate: CostEstimate) -> float | None:
        """Reserve a sum; None if it does not fit now or, if ``reached`` is set, ever."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            self._all_made(self.max_calls)
            return None
        reserved = estimate.careful
        if self.usd is not None and self.spent + self.set_aside + reserved > self.usd:
            if self.spent + estimate.least > self.usd:
                self.reached = reason(BUDGET, usd=f"{self.usd:g}")
                return None
            if self._in_flight:
                return None
            reserved = self.usd - self.spent
        self.set_aside += reserved
        self._in_flight += 1
        self.calls += 1
        return reserved

    def _all_made(self, calls: int) -> None:
        self.reached = reason(BUDGET, max_calls=calls)
