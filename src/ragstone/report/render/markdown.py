"""Markdown: a page for a pull request, a build summary or a file."""

from collections.abc import Iterator

from ragstone.core.escape import html, markdown, on_one_line, seen
from ragstone.core.messages import in_shell, throughout
from ragstone.report import page as pages
from ragstone.report.figures import ARROWS, percent
from ragstone.report.page import parts, plain
from ragstone.report.words import words

from .cells import value_of, written

MARKS: dict[pages.Tone, str] = {"good": "✅", "bad": "❌", "caution": "❔", "missing": "⚠️"}
"""The mark before a verdict, by tone."""

MOST_DETAILS = 10
"""The details of at most this many rows are shown; JSON has them all."""

RIGHT = (pages.IntervalCell, pages.Number, pages.Count, pages.P, pages.Share)


def as_markdown(page: pages.Page) -> str:
    """The page below its title or verdict, with details collapsed and small print in small type."""
    page = throughout(page, in_shell)
    bannered = any(isinstance(block, pages.Banner) for one in page.sections for block in one.blocks)
    lines = [] if bannered else [f"# {markdown(page.title)}", ""]
    lines += [line for one in page.sections for line in _section(one, page)]
    lines += [f"- {markdown(in_shell(words(note)))}" for note in page.notes]
    return "\n".join(lines).rstrip() + "\n"


def _section(section: pages.Section, page: pages.Page) -> Iterator[str]:
    if plain(section.title):
        yield from (f"## {_words(section.title)}", "")
    for block in section.blocks:
        if isinstance(block, pages.Banner):
            yield from _banner(block, page)
        elif isinstance(block, pages.Paragraphs):
            yield from (line for words in block.lines for line in (_words(words), ""))
        elif isinstance(block, pages.Verbatim):
            yield from (*(f"    {seen(line)}" for line in block.lines), "")
        elif isinstance(block, pages.Facts):
            yield from _small(block) if block.small else _facts(block)
        elif isinstance(block, pages.Table):
            yield from (line for group in block.groups for line in _table(block, group))
            yield from _details(block)
        elif isinstance(block, pages.Outline):
            yield from (markdown(block.title), "") if block.title else ()
            yield from (line for item in block.items for line in _item(item, 0))
            yield ""


def _banner(banner: pages.Banner, page: pages.Page) -> Iterator[str]:
    mark = f"{MARKS[banner.tone]} " if banner.tone in MARKS else ""
    yield f"## {mark}{markdown(banner.word)}: {markdown(page.title)}"
    yield ""
    first, *more = banner.lines
    yield " ".join([f"**{markdown(first)}.**", *map(markdown, more)])
    yield ""


def _facts(facts: pages.Facts) -> Iterator[str]:
    yield from ("| | |", "|---|---|")
    for one in facts.rows:
        yield f"| {markdown(one.name)} | {_words(one.words)} |"
    yield ""


def _small(facts: pages.Facts) -> Iterator[str]:
    said = (f"{one.name[:1].upper()}{one.name[1:]}: {plain(one.words)}." for one in facts.rows)
    yield f"<sub>{markdown(' '.join(said))}</sub>"
    yield ""


def _table(table: pages.Table, group: pages.Group) -> Iterator[str]:
    """One table for each group, so that its title can be shown above it."""
    shown = [at for at, column in enumerate(table.columns)]
    if group.title:
        yield from (f"**{markdown(group.title)}**", "")
    yield f"| {' | '.join(_head(table.columns[at]) for at in shown)} |"
    right = (any(isinstance(row.cells[at], RIGHT) for row in group.rows) for at in shown)
    yield f"|{'|'.join('--:' if one else '---' for one in right)}|"
    for row in group.rows:
        yield f"| {' | '.join(_cell(row.cells[at]) for at in shown)} |"
    yield ""
    for row in group.rows:
        yield from (f"- {markdown(' '.join(row.names))}: {_words(words)}" for words in row.below)
    if any(row.below for row in group.rows):
        yield ""


def _head(column: pages.Heading) -> str:
    level = "" if column.level is None else f" ({percent(column.level)} interval)"
    return markdown(column.head + level)


def _cell(cell: pages.Cell) -> str:
    if isinstance(cell, pages.RowName):
        return markdown(f"{cell.text} {ARROWS[cell.better] if cell.better else ''}".rstrip())
    if isinstance(cell, pages.Verdict):
        return f"{MARKS.get(cell.tone, '')} {markdown(cell.word)}".lstrip()
    if isinstance(cell, pages.IntervalCell) and cell.value is not None:
        value = value_of(cell).replace("*", "\\*")
        more = written(cell).text.removeprefix(value_of(cell))
        first = f"**{value}**" if cell.strong or cell.leads else value
        return " ".join(filter(None, [f"{first}{more}", markdown(cell.word)]))
    return html(written(cell).text) if isinstance(cell, RIGHT) else markdown(written(cell).text)


def _details(table: pages.Table) -> Iterator[str]:
    """The details of the rows, collapsed; those of the worst verdict come first and are open."""
    rows = [row for row in table.rows if row.detail]
    rows.sort(key=lambda row: row.verdict is None or row.verdict.tone != "bad")
    for row in rows[:MOST_DETAILS]:
        tone = row.verdict.tone if row.verdict else ""
        name, *more = (html(on_one_line(one)) for one in row.names)
        about = ", ".join([f"<b>{name}</b>", *more])
        title = f"{MARKS.get(tone, '')} {table.details} of {about}".lstrip()
        opened = " open" if tone == "bad" else ""
        yield f"<details{opened}><summary>{title}</summary>"
        yield ""
        yield from (line for item in row.detail for line in _item(item, 0))
        yield from ("", "</details>", "")
    if len(rows) > MOST_DETAILS:
        yield from (f"And of {len(rows) - MOST_DETAILS} more, which `--json` has.", "")


def _item(item: pages.OutlineItem, depth: int) -> Iterator[str]:
    lead = f"{markdown(item.lead)}: " if item.lead.isalnum() else ""
    yield f"{'  ' * depth}- {lead}{_words(item.words)}"
    for one in item.inner:
        yield from _item(one, depth + 1)


def _words(words: pages.Words) -> str:
    """Words as Markdown, in which only our own emphasis is markup; everything else is escaped."""
    said = []
    for one in parts(words):
        text = markdown(one.text)
        lead = " " if one.text[:1].isspace() else ""
        tail = " " if one.text[-1:].isspace() and text else ""
        said.append(f"{lead}{f'**{text}**' if one.strong and text else text}{tail}")
    return " ".join("".join(said).split())
