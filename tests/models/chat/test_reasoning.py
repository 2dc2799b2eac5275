"""What a model is taken to write for itself, before it was asked."""

import pytest

from ragstone.models.chat.chat_names import assumed_reasoning, effort_in


@pytest.mark.parametrize(
    ("name", "effort", "tokens"),
    [
        ("openai:m", None, 0),
        ("openai:m?seed=7", None, 0),
        ("gemini:m?effort=none", "none", 0),
        ("gemini:m?effort=low", "low", 1_024),
        ("openai:m?seed=7&effort=medium", "medium", 8_192),
        ("openai:m? effort = high &seed=7", "high", 24_576),
        ("anthropic:m?effort=max", "max", 32_768),
        ("http://host/v1#effort=high?effort=xhigh", "xhigh", 32_768),
        ("openai:m?effort=huge", None, 0),
        ("openai:m?seed=high", None, 0),
    ],
)
def test_an_effort_stands_for_the_tokens_that_google_gives_it(
    name: str, effort: str | None, tokens: int
) -> None:
    """ai.google.dev/gemini-api/docs/openai; its greatest budget for what is above high."""
    assert effort_in(name) == effort
    assert assumed_reasoning(name) == tokens
