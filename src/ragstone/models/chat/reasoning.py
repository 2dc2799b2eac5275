"""Reasoning: how many tokens a model is taken to think for a question before it has replied."""

from typing import cast, get_args

from .gemini import BUDGETS
from .names import split_settings
from .settings import Effort

ASSUMED: dict[Effort, int] = {**BUDGETS, "xhigh": 32_768, "max": 32_768}
"""Tokens by effort: what Google allows Gemini 2.5 (ai.google.dev/gemini-api/docs/openai), its most
beyond ``high``. Other servers do not say how many their models take."""


def effort_in(name: str) -> Effort | None:
    """The effort that a judge's name sets; None where it sets none."""
    for part in split_settings(name)[1].split("&"):
        setting, _, value = (word.strip() for word in part.partition("="))
        if setting == "effort" and value in get_args(Effort):
            return cast(Effort, value)
    return None


def assumed_reasoning(name: str) -> int:
    """Tokens of reasoning a call, by the effort in the name; 0 where it sets none."""
    effort = effort_in(name)
    return 0 if effort is None else ASSUMED[effort]
