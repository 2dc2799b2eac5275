"""Documents: a page as HTML for a notebook, Markdown for a file, or JUnit for a build server."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ragstone.core import escape
from ragstone.core.escape import html, markdown, single_line, visible, xml
from ragstone.core.messages import in_python, in_shell, throughout
from ragstone.report import charts
from ragstone.report import page as ui
from ragstone.report.number_format import ARROWS, ends, percent
from ragstone.report.reason_words import words

from .text_cells import counts_of, value_of, words_of, written

_STYLES = files(__package__)

# The colours of notebooks, the app and charts, as tokens.
COLOURS = _STYLES.joinpath("colours.css").read_text("utf-8")

# How charts look, wherever they are shown.
CHART_STYLE = _STYLES.joinpath("charts.css").read_text("utf-8")

# The stylesheet of notebooks; every rule is scoped to one class.
STYLE = COLOURS + _STYLES.joinpath("ragstone.css").read_text("utf-8") + CHART_STYLE


def without_comments(css: str) -> str:
    """A stylesheet without its comments."""
    first, *others = css.split("/*")
    return first + "".join(other.partition("*/")[2] for other in others)


# The height of a strip below its value.
SMALL = 12

NUMERIC = (ui.IntervalCell, ui.Number, ui.Count, ui.P, ui.Share)


def as_html(page: ui.Page) -> str:
    """The page as a fragment for a notebook, with its stylesheet once at the top."""
    page = throughout(page, in_python)
    body = "".join(_html_section(section) for section in page.sections)
    notes = "".join(f"<p>{escape.html(in_python(words(note)))}</p>" for note in page.notes)
    return f'<div class="ragstone"><style>{STYLE}</style>{body}{notes}</div>'


def _html_section(section: ui.Section) -> str:
    blocks = "".join(map(_block, section.blocks))
    title = _html_tag("h2", _html_words(section.title)) if ui.plain(section.title) else ""
    return f"<section>{title}{blocks}</section>" if blocks else ""


def _block(block: ui.Block) -> str:
    match block:
        case ui.Banner():
            lines = [escape.html(line) for line in block.lines]
            lines[0] = f"<strong>{escape.html(block.word)}</strong> {lines[0]}"
            text = "".join(f"<p>{line}</p>" for line in lines)
            return _html_tag("div", text, f"banner {block.tone}")
        case ui.Paragraphs():
            return "".join(f"<p>{_html_words(words)}</p>" for words in block.lines)
        case ui.Verbatim():
            return _html_tag("pre", "\n".join(map(escape.html, block.lines)))
        case ui.Facts():
            rows, last = "", ""
            for fact in block.rows:
                name = "" if fact.name == last else fact.name
                last = fact.name
                rows += f"<dt>{escape.html(name)}</dt><dd>{_html_words(fact.words)}</dd>"
            return _html_tag("dl", rows, "small" if block.small else "") if rows else ""
        case ui.Table():
            return _html_table(block) + "".join(_html_details(block))
        case ui.Outline():
            title = _html_tag("p", escape.html(block.title), "quiet") if block.title else ""
            return title + _outline(block.items)
        case _:
            return charts.chart(block)


def _outline(items: Sequence[ui.OutlineItem]) -> str:
    """An outline; text under judgement keeps its blank lines and its own writing direction."""
    lines = ""
    for item in items:
        words = f'<div dir="auto">{_html_words(item.words)}{_outline(item.inner)}</div>'
        lead = f'<span class="lead">{escape.html(item.lead)}</span>' if item.lead else ""
        lines += _html_tag("li", lead + words, "led" if item.lead else "")
    return f"<ul>{lines}</ul>" if lines else ""


def _html_table(table: ui.Table) -> str:
    wide: dict[int, int] = {}
    for at, column in enumerate(table.columns):
        if table.tells(at):
            intervals = table.holds(at, ui.IntervalCell) and not column.peer
            wide[at] = 2 + table.draws(at) if intervals else 1
    body, first = "", next(iter(wide), 0)
    for group in table.groups:
        heads = "".join(_html_head(table, group, at, at == first) for at in wide)
        body += _html_tag("tr", heads)
        last = ""
        for row in group.rows:
            name = row.names[0] if row.names and table.columns[0].key else ""
            body += _row(row, wide, again=bool(name) and name == last)
            last = name
    return _html_tag("table", body)


def _html_head(table: ui.Table, group: ui.Group, at: int, first: bool) -> str:
    column = table.columns[at]
    cells = [row.cells[at] for row in table.rows]
    title = group.title if first else ""
    numeric = any(isinstance(cell, NUMERIC) for cell in cells)
    looks = "title" if title else "n" if numeric and not column.peer else ""
    key = f'<i class="key l{column.fill}"></i>' if column.fill is not None else ""
    head = _html_tag("th", key + escape.html(title or column.head), looks)
    intervals = [cell for cell in cells if isinstance(cell, ui.IntervalCell)]
    if intervals and not column.peer:
        level = "" if column.level is None else f"{percent(column.level)} "
        head += _html_tag("th", f"{level}interval", "n")
        here = [row.cells[at] for row in group.rows]
        scales = {item.scale for item in here if isinstance(item, ui.IntervalCell) and item.scale}
        ticks = ""
        if len(scales) == 1 or (scales and all(scale.about_bar for scale in scales)):
            percents, signed = intervals[0].percent, intervals[0].signed
            ticks = charts.axis(scales.pop(), percent=percents, signed=signed)
        head += _html_tag("th", ticks, "draw") if table.draws(at) else ""
    return head


def _row(row: ui.Row, wides: Mapping[int, int], *, again: bool) -> str:
    cells: list[tuple[int, str, str]] = []
    """For each cell: the columns it spans, its class, its content."""
    for at, wide in wides.items():
        item = row.cells[at]
        if item is None and cells:
            span, looks, inside = cells[-1]
            cells[-1] = (span + wide, looks, inside)
        elif isinstance(item, ui.IntervalCell):
            cells += _interval(item)[:wide] if wide > 1 else [(1, "peer", _tight(item))]
        elif not cells and again:
            cells.append((wide, "again", ""))
        else:
            cells.append((wide, *_html_cell(item)))
    rest = sum(span for span, _, _ in cells) - 1
    lines = "".join(_html_tag("td", inside, looks, span) for span, looks, inside in cells)
    rows = [_html_tag("tr", lines)]
    for below_words in row.below:
        below = _html_tag("td", _html_words(below_words), "below", rest)
        rows.append(_html_tag("tr", _html_tag("td", "", "below") + below))
    return "".join(rows)


def _interval(interval: ui.IntervalCell) -> list[tuple[int, str, str]]:
    value = escape.html(value_of(interval))
    word = f' <span class="quiet">{escape.html(interval.word)}</span>' if interval.word else ""
    between = ends(interval.low, interval.high, percent=interval.percent)
    return [
        (1, "n", f"<b>{value}</b>{word}" if interval.strong else f"{value}{word}"),
        (1, "n ci", ", ".join([between, *map(_html_words, counts_of(interval))])),
        (1, "draw", charts.strip(interval)),
    ]


def _tight(interval: ui.IntervalCell) -> str:
    value = escape.html(value_of(interval))
    value = f"<b>{value}</b>" if interval.leads else value
    known = interval.low is not None and interval.high is not None
    between = ends(interval.low, interval.high, percent=interval.percent)
    text = between if known else escape.html(interval.word)
    behind = " ".join(filter(None, [text, *map(_html_words, counts_of(interval))]))
    return f'{value} <span class="ci">{behind}</span>{charts.strip(interval, SMALL)}'


def _html_cell(cell: ui.Cell) -> tuple[str, str]:
    if isinstance(cell, ui.Bar):
        return "draw", charts.bar(cell)
    if isinstance(cell, ui.RowName):
        about = f' title="{escape.html(cell.about)}"' if cell.about else ""
        arrow = f'&nbsp;<span class="quiet">{ARROWS[cell.better]}</span>' if cell.better else ""
        text = f"<bdi{about}>{escape.html(cell.text)}</bdi>"
        return "", f"<b>{text}</b>{arrow}" if cell.strong else f"{text}{arrow}"
    inside = _html_words(words_of(cell))
    if isinstance(cell, ui.Number) and cell.n is not None:
        inside += f' <span class="quiet">{cell.n:,}</span>'
    short = isinstance(cell, ui.Why) and not cell.words
    return "n" if short or isinstance(cell, NUMERIC) else "", inside


def _html_details(table: ui.Table) -> Iterator[str]:
    for row in table.rows:
        if row.detail:
            tone = row.verdict.tone if row.verdict else ""
            name, *more = (escape.html(name) for name in row.names)
            title = f"{escape.html(table.details)} {' '.join([f'<b>{name}</b>', *more])}"
            yield f"<details{' open' if tone == 'bad' else ''}><summary>{title.lstrip()}</summary>"
            yield f"{_outline(row.detail)}</details>"


def _html_words(words: ui.Words) -> str:
    sentence = ""
    for part in ui.parts(words):
        text = escape.html(part.text).replace("\n", "<br>").replace("  ", "&ensp;")
        text = f"<b>{text}</b>" if part.strong else text
        sentence += f'<span class="{part.tone}">{text}</span>' if part.tone else text
    return sentence


def _html_tag(name: str, inside: str, looks: str = "", span: int = 1) -> str:
    across = f' colspan="{span}"' if span > 1 else ""
    of_class = f' class="{looks}"' if looks else ""
    return f"<{name}{across}{of_class}>{inside}</{name}>"


def as_junit(page: ui.Page) -> bytes:
    """One test suite, in UTF-8.

    A requirement that fails is a ``failure``. So is an undecided one: a build must not go on as if
    it held, and a skipped test counts as passed. Missing scores are an ``error``, because the
    requirement was not measured.
    """
    page = throughout(page, in_shell)
    cases = [(table, row) for table in page.tables for row in (*table.rows, *table.folded)
             if row.verdict]  # fmt: skip
    outcomes = [_tag(row) for _, row in cases]
    failures, errors = outcomes.count("failure"), outcomes.count("error")
    totals = {"tests": f"{len(cases)}", "failures": f"{failures}", "errors": f"{errors}",
              "skipped": "0", "time": "0"}  # fmt: skip
    root = Element("testsuites", {"name": f"ragstone {page.name}", **totals})
    name = xml(f"ragstone {page.name} {page.title}")
    suite = SubElement(root, "testsuite", {"name": name, **totals})
    properties = SubElement(suite, "properties")
    record = throughout(page.record(), in_shell)
    for key, value in record.items() if isinstance(record, dict) else ():
        if isinstance(value, str | int | float):
            text = value if isinstance(value, str) else f"{value:g}"
            SubElement(properties, "property", {"name": key, "value": xml(text)})
    for table, row in cases:
        _case(suite, page, table, row)
    notes = [in_shell(words(note)) for note in page.notes]
    SubElement(suite, "system-out").text = xml("\n".join([page.said, *notes]))
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _tag(row: ui.Row) -> str:
    tone = row.verdict.tone if row.verdict else ""
    return {"good": "system-out", "missing": "error"}.get(tone, "failure")


def _case(suite: Element, page: ui.Page, table: ui.Table, row: ui.Row) -> None:
    name, *more = row.names
    names = {"classname": ".".join(["ragstone", page.name, *more]), "name": name, "time": "0"}
    case = SubElement(suite, "testcase", {key: xml(value) for key, value in names.items()})
    figures = []
    for column, cell in zip(table.columns, row.cells, strict=True):
        figure = written(cell).text
        if figure and not isinstance(cell, ui.RowName | ui.Verdict):
            if isinstance(cell, ui.IntervalCell) and column.level is not None:
                figure = figure.replace("(", f"({percent(column.level)} interval ", 1)
            figures.append(f"{column.head} {figure}")
    message = "; ".join(filter(None, [row.why, ", ".join(figures)]))
    outcome = SubElement(case, _tag(row))
    if _tag(row) == "system-out" or row.verdict is None:
        outcome.text = xml(message)
        return
    outcome.set("type", row.verdict.code)
    outcome.set("message", xml(message))
    below = [ui.plain(words) for words in row.below if ui.plain(words) != row.why]
    lines = [line for item in row.detail for line in _lines(item, "")]
    outcome.text = xml("\n".join([message, *below, *lines]))


def _lines(item: ui.OutlineItem, lead: str) -> Iterator[str]:
    yield f"{lead}{f'{item.lead}  ' if item.lead else ''}{ui.plain(item.words)}"
    for part in item.inner:
        yield from _lines(part, f"{lead}  ")


# The mark before a verdict, by tone.
MARKS: dict[ui.Tone, str] = {"good": "✅", "bad": "❌", "caution": "❔", "missing": "⚠️"}

# The details of at most this many rows are shown; JSON has them all.
MOST_DETAILS = 10


def as_markdown(page: ui.Page) -> str:
    """The page below its title or verdict, with details collapsed and small print in small type."""
    page = throughout(page, in_shell)
    bannered = any(isinstance(block, ui.Banner) for part in page.sections for block in part.blocks)
    lines = [] if bannered else [f"# {markdown(page.title)}", ""]
    lines += [line for part in page.sections for line in _markdown_section(part, page)]
    lines += [f"- {markdown(in_shell(words(note)))}" for note in page.notes]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_section(section: ui.Section, page: ui.Page) -> Iterator[str]:
    if ui.plain(section.title):
        yield from (f"## {_markdown_words(section.title)}", "")
    for block in section.blocks:
        match block:
            case ui.Banner():
                mark = f"{MARKS[block.tone]} " if block.tone in MARKS else ""
                yield from (f"## {mark}{markdown(block.word)}: {markdown(page.title)}", "")
                first, *more = map(markdown, block.lines)
                yield from (" ".join([f"**{first}.**", *more]), "")
            case ui.Paragraphs():
                yield from (line for words in block.lines for line in (_markdown_words(words), ""))
            case ui.Verbatim():
                yield from (*(f"    {visible(line)}" for line in block.lines), "")
            case ui.Facts() if block.small:
                text = (f"{row.name[:1].upper()}{row.name[1:]}: {ui.plain(row.words)}."
                        for row in block.rows)  # fmt: skip
                yield from (f"<sub>{markdown(' '.join(text))}</sub>", "")
            case ui.Facts():
                yield from ("| | |", "|---|---|")
                for row in block.rows:
                    yield f"| {markdown(row.name)} | {_markdown_words(row.words)} |"
                yield ""
            case ui.Table():
                for group in block.groups:
                    yield from _markdown_table(block, group)
                yield from _markdown_details(block)
            case ui.Outline():
                yield from (markdown(block.title), "") if block.title else ()
                yield from (line for item in block.items for line in _markdown_item(item, 0))
                yield ""


def _markdown_table(table: ui.Table, group: ui.Group) -> Iterator[str]:
    if group.title:
        yield from (f"**{markdown(group.title)}**", "")
    heads = []
    for column in table.columns:
        level = "" if column.level is None else f" ({percent(column.level)} interval)"
        heads.append(markdown(column.head + level))
    yield f"| {' | '.join(heads)} |"
    columns = [[row.cells[at] for row in group.rows] for at in range(len(table.columns))]
    right = (any(isinstance(cell, NUMERIC) for cell in cells) for cells in columns)
    yield f"|{'|'.join('--:' if numeric else '---' for numeric in right)}|"
    for row in group.rows:
        yield f"| {' | '.join(map(_markdown_cell, row.cells))} |"
    yield ""
    below = [(row, note) for row in group.rows for note in row.below]
    for row, note in below:
        yield f"- {markdown(' '.join(row.names))}: {_markdown_words(note)}"
    if below:
        yield ""


def _markdown_cell(cell: ui.Cell) -> str:
    if isinstance(cell, ui.RowName):
        return markdown(f"{cell.text} {ARROWS[cell.better] if cell.better else ''}".rstrip())
    if isinstance(cell, ui.Verdict):
        return f"{MARKS.get(cell.tone, '')} {markdown(cell.word)}".lstrip()
    if isinstance(cell, ui.IntervalCell) and cell.value is not None:
        value = value_of(cell).replace("*", "\\*")
        more = written(cell).text.removeprefix(value_of(cell))
        first = f"**{value}**" if cell.strong or cell.leads else value
        return " ".join(filter(None, [f"{first}{more}", markdown(cell.word)]))
    return html(written(cell).text) if isinstance(cell, NUMERIC) else markdown(written(cell).text)


def _markdown_details(table: ui.Table) -> Iterator[str]:
    rows = [row for row in table.rows if row.detail]
    rows.sort(key=lambda row: row.verdict is None or row.verdict.tone != "bad")
    for row in rows[:MOST_DETAILS]:
        tone = row.verdict.tone if row.verdict else ""
        name, *more = (html(single_line(name)) for name in row.names)
        about = ", ".join([f"<b>{name}</b>", *more])
        title = f"{MARKS.get(tone, '')} {table.details} of {about}".lstrip()
        opened = " open" if tone == "bad" else ""
        yield from (f"<details{opened}><summary>{title}</summary>", "")
        yield from (line for item in row.detail for line in _markdown_item(item, 0))
        yield from ("", "</details>", "")
    if len(rows) > MOST_DETAILS:
        yield from (f"And of {len(rows) - MOST_DETAILS} more, which `--json` has.", "")


def _markdown_item(item: ui.OutlineItem, depth: int) -> Iterator[str]:
    lead = f"{markdown(item.lead)}: " if item.lead.isalnum() else ""
    yield f"{'  ' * depth}- {lead}{_markdown_words(item.words)}"
    for part in item.inner:
        yield from _markdown_item(part, depth + 1)


def _markdown_words(words: ui.Words) -> str:
    sentence = []
    for part in ui.parts(words):
        text = markdown(part.text)
        lead = " " if part.text[:1].isspace() else ""
        tail = " " if part.text[-1:].isspace() and text else ""
        sentence.append(f"{lead}{f'**{text}**' if part.strong and text else text}{tail}")
    return " ".join("".join(sentence).split())
