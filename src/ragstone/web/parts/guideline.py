"""Guideline: what a queue tells the people who label it, in their language."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup

from ragstone.annotation.queue.form import QueueForm
from ragstone.core.escape import seen

PARSER = MarkdownIt("commonmark", {"html": False}).disable(
    ["autolink", "html_block", "html_inline", "image", "link", "reference"]
)
"""Headings, lists, emphasis and code; nothing that loads or leads anywhere."""

CODES = {"english": "en", "german": "de"}
"""What a browser calls the languages that the guidelines come in."""


@dataclass(frozen=True, slots=True)
class ShownGuideline:
    """A guideline in one language.

    Attributes:
        language: Its language; empty if there is only the queue's own instructions.
        code: What a browser calls that; empty if it is not known.
        languages: Those it could be read in.
        instructions: The queue's own.
        text: The guideline.
    """

    language: str
    code: str
    languages: tuple[str, ...]
    instructions: Markup
    text: Markup

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not (self.instructions or self.text)


def guideline_in(form: QueueForm, language: str) -> ShownGuideline:
    """The guideline of a queue in a language; in the first it comes in if that is not there."""
    known: Mapping[str, str] = {one.casefold(): one for one in form.guidelines}
    chosen = known.get(language.casefold()) or next(iter(form.guidelines), "")
    return ShownGuideline(
        chosen,
        CODES.get(chosen.casefold(), ""),
        tuple(form.guidelines),
        rendered(form.instructions),
        rendered(form.guidelines.get(chosen, "")),
    )


@lru_cache(maxsize=64)
def rendered(markdown: str) -> Markup:
    """Markdown as HTML that loads nothing and leads nowhere; headings begin at the third level."""
    made = PARSER.parse(seen(markdown))
    for token in made:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return Markup(PARSER.renderer.render(made, PARSER.options, {}))
