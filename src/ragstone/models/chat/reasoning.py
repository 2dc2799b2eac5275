"""Reasoning: the assumed number of reasoning tokens per call, before any call was made."""

from typing import cast, get_args

from .gemini import BUDGETS
from .names import split_settings
from .settings import Effort

ASSUMED: dict[Effort, int] = {**BUDGETS, "xhigh": 32_768, "max": 32_768}
"""Tokens by effort: the budgets that Google gives for Gemini 2.5
(ai.google.dev/gemini-api/docs/openai), and its maximum for efforts above ``high``. Other providers
publish none."""


def effort_in(name: str) -> Effort | None:
    """The effort that a judge's name sets; None if it sets none."""
    for part in split_settings(name)[1].split("&"):
        setting, _, value = (word.strip() for word in part.partition("="))
        if setting == "effort" and value in get_args(Effort):
            return cast(Effort, value)
    return None


def assumed_reasoning(name: str) -> int:
    """Reasoning tokens per call, by the effort in the name; 0 if it sets none."""
    effort = effort_in(name)
    return 0 if effort is None else ASSUMED[effort]
