"""HTML: a page for a notebook, with its own small stylesheet and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from ragstone.core import escape as inert
from ragstone.core.messages import in_python, throughout
from ragstone.report import charts
from ragstone.report import page as pages
from ragstone.report.figures import ARROWS, ends, percent
from ragstone.report.page import parts, plain
from ragstone.report.words import words

from .cells import counts_of, value_of, words_of

_STYLES = files(__package__)

CHART_STYLE = _STYLES.joinpath("charts.css").read_text("utf-8")
"""How charts look, wherever they are shown; its colours are tokens of the page's stylesheet."""

STYLE = _STYLES.joinpath("ragstone.css").read_text("utf-8") + CHART_STYLE
"""The stylesheet of notebooks; every rule is scoped to one class."""


def without_comments(css: str) -> str:
    """A stylesheet without its comments."""
    first, *others = css.split("/*")
    return first + "".join(one.partition("*/")[2] for one in others)


SMALL = 12
"""The height of a strip below its value."""

NUMERIC = (pages.IntervalCell, pages.Number, pages.Count, pages.P, pages.Share)


def as_html(page: pages.Page) -> str:
    """The page as a fragment for a notebook, with its stylesheet once at the top."""
    page = throughout(page, in_python)
    body = "".join(_section(section) for section in page.sections)
    notes = "".join(f"<p>{inert.html(in_python(words(note)))}</p>" for note in page.notes)
    return f'<div class="ragstone"><style>{STYLE}</style>{body}{notes}</div>'


def _section(section: pages.Section) -> str:
    blocks = "".join(_block(block) for block in section.blocks)
    title = f"<h2>{_words(section.title)}</h2>" if plain(section.title) and blocks else ""
    return f"<section>{title}{blocks}</section>" if blocks else ""


def _block(block: pages.Block) -> str:
    match block:
        case pages.Banner():
            first, *more = block.lines
            said = "".join(f"<p>{inert.html(line)}</p>" for line in more)
            word = f"<strong>{inert.html(block.word)}</strong>"
            return f'<div class="banner {block.tone}"><p>{word} {inert.html(first)}</p>{said}</div>'
        case pages.Paragraphs():
            return "".join(f"<p>{_words(words)}</p>" for words in block.lines)
        case pages.Verbatim():
            return _tag("pre", "\n".join(map(inert.html, block.lines)))
        case pages.Facts():
            return _facts(block)
        case pages.Table():
            return _table(block) + "".join(_details(block))
        case pages.Outline():
            title = _tag("p", inert.html(block.title), "quiet") if block.title else ""
            return title + _outline(block.items)
        case _:
            return charts.chart(block)


def _facts(facts: pages.Facts) -> str:
    rows, said = "", ""
    for fact in facts.rows:
        name = "" if fact.name == said else fact.name
        said = fact.name
        rows += f"<dt>{inert.html(name)}</dt><dd>{_words(fact.words)}</dd>"
    return _tag("dl", rows, "small" if facts.small else "") if rows else ""


def _outline(items: Sequence[pages.OutlineItem]) -> str:
    """An outline; text under judgement keeps its blank lines and its own writing direction."""
    lines = ""
    for item in items:
        words = f'<div dir="auto">{_words(item.words)}{_outline(item.inner)}</div>'
        lead = f'<span class="lead">{inert.html(item.lead)}</span>' if item.lead else ""
        lines += _tag("li", lead + words, "led" if item.lead else "")
    return f"<ul>{lines}</ul>" if lines else ""


def _table(table: pages.Table) -> str:
    wide = {at: _wide(table, at) for at in range(len(table.columns)) if table.tells(at)}
    shown = list(wide)
    body = ""
    for group in table.groups:
        body += f"<tr>{''.join(_head(table, group, at, at == shown[0]) for at in shown)}</tr>"
        last = ""
        for row in group.rows:
            names = row.names
            said = names[0] if names and table.columns[0].key else ""
            body += _row(row, wide, again=bool(said) and said == last)
            last = said
    return f"<table>{body}</table>"


def _head(table: pages.Table, group: pages.Group, at: int, first: bool) -> str:
    column = table.columns[at]
    cells = [row.cells[at] for row in table.rows]
    title = group.title if first else ""
    numeric = any(isinstance(one, NUMERIC) for one in cells)
    looks = "title" if title else "n" if numeric and not column.peer else ""
    key = f'<i class="key l{column.fill}"></i>' if column.fill is not None else ""
    head = _tag("th", key + inert.html(title or column.head), looks)
    intervals = [one for one in cells if isinstance(one, pages.IntervalCell)]
    if intervals and not column.peer:
        level = "" if column.level is None else f"{percent(column.level)} "
        head += f'<th class="n">{level}interval</th>'
        here = [row.cells[at] for row in group.rows]
        scales = {one.scale for one in here if isinstance(one, pages.IntervalCell) and one.scale}
        ticks = ""
        if len(scales) == 1 or (scales and all(one.about_bar for one in scales)):
            options = {"percent": intervals[0].percent, "signed": intervals[0].signed}
            ticks = charts.axis(scales.pop(), **options)
        head += f'<th class="draw">{ticks}</th>' if table.draws(at) else ""
    return head


def _wide(table: pages.Table, at: int) -> int:
    """The number of HTML columns for a column: value, ends and drawing, if it is no ``peer``."""
    intervals = table.holds(at, pages.IntervalCell) and not table.columns[at].peer
    return 2 + table.draws(at) if intervals else 1


def _row(row: pages.Row, wides: Mapping[int, int], *, again: bool) -> str:
    cells: list[tuple[int, str, str]] = []
    """For each cell: the columns it spans, its class, its content."""
    for at, wide in wides.items():
        one = row.cells[at]
        if one is None and cells:
            span, looks, inside = cells[-1]
            cells[-1] = (span + wide, looks, inside)
        elif isinstance(one, pages.IntervalCell):
            cells += _interval(one)[:wide] if wide > 1 else [(1, "peer", _tight(one))]
        elif not cells and again:
            cells.append((wide, "again", ""))
        else:
            cells.append((wide, *_cell(one)))
    drawn = "".join(_tag("td", inside, looks, span) for span, looks, inside in cells)
    rest = sum(span for span, _, _ in cells) - 1
    below = "".join(
        _tag("tr", _tag("td", "", "below") + _tag("td", _words(words), "below", rest))
        for words in row.below
    )
    return f"<tr>{drawn}</tr>{below}"


def _interval(one: pages.IntervalCell) -> list[tuple[int, str, str]]:
    value = inert.html(value_of(one))
    word = f' <span class="quiet">{inert.html(one.word)}</span>' if one.word else ""
    return [
        (1, "n", f"<b>{value}</b>{word}" if one.strong else f"{value}{word}"),
        (1, "n ci", ", ".join([ends(one.low, one.high, percent=one.percent), *_counts(one)])),
        (1, "draw", charts.strip(one)),
    ]


def _tight(one: pages.IntervalCell) -> str:
    """Value, ends and counts in a line, above the drawing; a value that leads is emphasised."""
    value = inert.html(value_of(one))
    known = one.low is not None and one.high is not None
    ends_or_word = ends(one.low, one.high, percent=one.percent) if known else inert.html(one.word)
    behind = " ".join(filter(None, [ends_or_word, *_counts(one)]))
    drawn = charts.strip(one, SMALL)
    return f'{f"<b>{value}</b>" if one.leads else value} <span class="ci">{behind}</span>{drawn}'


def _counts(one: pages.IntervalCell) -> list[str]:
    return [_words(said) for said in counts_of(one)]


def _cell(one: pages.Cell) -> tuple[str, str]:
    """The class and the content of a cell."""
    if isinstance(one, pages.Bar):
        return "draw", charts.bar(one)
    if isinstance(one, pages.RowName):
        about = f' title="{inert.html(one.about)}"' if one.about else ""
        arrow = f'&nbsp;<span class="quiet">{ARROWS[one.better]}</span>' if one.better else ""
        text = f"<bdi{about}>{inert.html(one.text)}</bdi>"
        return "", f"<b>{text}</b>{arrow}" if one.strong else f"{text}{arrow}"
    inside = _words(words_of(one))
    if isinstance(one, pages.Number) and one.n is not None:
        inside += f' <span class="quiet">{one.n:,}</span>'
    short = isinstance(one, pages.Why) and not one.words
    return "n" if short or isinstance(one, NUMERIC) else "", inside


def _details(table: pages.Table) -> Iterator[str]:
    """The details of the rows, collapsed except for those of the worst verdict."""
    for row in table.rows:
        if row.detail:
            tone = row.verdict.tone if row.verdict else ""
            name, *more = (inert.html(one) for one in row.names)
            title = f"{inert.html(table.details)} {' '.join([f'<b>{name}</b>', *more])}"
            yield f"<details{' open' if tone == 'bad' else ''}><summary>{title.lstrip()}</summary>"
            yield f"{_outline(row.detail)}</details>"


def _words(words: pages.Words) -> str:
    said = ""
    for one in parts(words):
        text = inert.html(one.text).replace("\n", "<br>").replace("  ", "&ensp;")
        text = f"<b>{text}</b>" if one.strong else text
        said += f'<span class="{one.tone}">{text}</span>' if one.tone else text
    return said


def _tag(name: str, inside: str, looks: str = "", span: int = 1) -> str:
    """An HTML element, with a class if given and a colspan if it spans several columns."""
    across = f' colspan="{span}"' if span > 1 else ""
    of_class = f' class="{looks}"' if looks else ""
    return f"<{name}{across}{of_class}>{inside}</{name}>"
