"""Picture: a page as SVG, for a README: ``python -m ragstone.report RUN FILE.svg``."""

from io import StringIO

from rich.cells import cell_len
from rich.terminal_theme import TerminalTheme

from .console import Terminal
from .page import Page
from .render.terminal import Shown, as_text

THEME = TerminalTheme(
    (22, 27, 34),
    (214, 221, 229),
    [(22, 27, 34), (255, 123, 114), (126, 231, 135), (242, 204, 96),
     (121, 192, 255), (210, 168, 255), (86, 212, 221), (214, 221, 229)],
    [(125, 136, 147), (255, 161, 152), (165, 240, 172), (255, 223, 140),
     (165, 214, 255), (226, 197, 255), (140, 234, 240), (255, 255, 255)],
)  # fmt: skip

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" xml:space="preserve">
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
    font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""The SVG template; it loads no external resources."""


def picture(page: Page, *, width: int = 116, title: str = "ragstone evaluate") -> str:
    """A page as SVG, ``width`` characters wide, or wider if a line needs more."""
    # Rich's SVG export cuts off whatever is beyond the width of the console.
    needed = max(map(cell_len, as_text(page, width).splitlines()), default=0)
    console = Terminal(
        record=True, file=StringIO(), width=max(width, needed), highlight=False, emoji=False,
        markup=False, force_terminal=True, color_system="truecolor",
    )  # fmt: skip
    console.print(Shown(page))
    return console.export_svg(title=title, theme=THEME, code_format=SVG, unique_id="ragstone")
