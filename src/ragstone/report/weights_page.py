"""Weights page: fitted weights beside those one starts from, as ``ragstone weights`` prints it."""

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.decisions.weighing.weights import EQUAL, Fit, FittedWeights

from .facts import DIM, HEAD, Facts
from .figures import coloured, counted, drawn, ends, number, percent
from .render.grid import Grid, GridCell, GridColumn, Roomiest, Row, cell, folded

BARS, STRIPS = (31, 21, 11, 0), (31, 21, 11, 0)
"""Widths of bars and strips; the first with which a table fits is used."""

NAME_WIDTH = 36
KEPT, NOT_KEPT = "green", "yellow"


def weights_page(found: FittedWeights) -> RenderableType:
    """Who judged what, the weights, how well they foretell people, and which to keep."""
    parts: list[RenderableType] = [
        Facts(_facts(found)), Text(), Roomiest([_weights(found, bar) for bar in BARS]), Text(),
        Roomiest([_fits(found, strip) for strip in STRIPS]), Text(), Facts(_settled(found)),
    ]  # fmt: skip
    notes = _notes(found)
    if notes:
        parts += [Text(), Facts([(name, Text(words, DIM)) for name, words in notes])]
    return Group(*parts)


def _facts(found: FittedWeights) -> list[tuple[str, Text]]:
    questions = counted(found.n_questions, "question")
    people = counted(found.n_annotators, "annotator")
    said = Text.assemble((counted(found.n, _noun(found)), HEAD),
                         f" on {questions}, by {people}")  # fmt: skip
    if found.n_ties:
        said.append(f"; {counted(found.n_ties, 'tie')}")
    return [("people", said), ("from", Text(found.source)), ("scores", Text(found.run))]


def _weights(found: FittedWeights, bar: int) -> Grid:
    head = ["metric", found.start_name if len(found.start_name) < 16 else "start", "fitted",
            "over the folds", f"0{'1'.rjust(bar - 1)}" if bar else ""]  # fmt: skip
    rows: list[Row] = [[cell(word, DIM) for word in head]]
    for one in found.weights:
        style = HEAD if one.fitted > 0 else DIM
        fitted, folds = f"{one.fitted:.2f}", f"{one.least:.2f} – {one.most:.2f}"
        if found.fitted.composite is None:
            fitted = folds = "–"
        rows.append([
            cell(folded(one.metric, NAME_WIDTH), "" if one.fitted > 0 else DIM),
            cell(f"{one.start:.2f}", DIM), cell(fitted, style), cell(folds, DIM),
            GridCell(_bar(one.fitted, one.least, one.most, bar)),
        ])  # fmt: skip
    return Grid(
        [GridColumn(), GridColumn("right"), GridColumn("right"), GridColumn("right"), GridColumn()],
        rows,
    )


def _fits(found: FittedWeights, strip: int) -> Grid:
    loss = "log loss" if found.sort == "preference" else "squared error"
    words = ["on questions not fitted on", loss, "in people's order"]
    words.append(f"{percent(found.level)} interval")
    shares = [(fit.concordance, fit.low) for fit in (found.start, found.fitted)]
    start_at = 0.5 if all(end >= 0.5 for both in shares for end in both if end is not None) else 0.0
    rows: list[Row] = [[*(cell(word, DIM) for word in words), cell(_axis(start_at, strip), DIM)]]
    start = "equal weights" if found.start_name == EQUAL else "starting weights"
    for name, fit in ((start, found.start), ("fitted weights", found.fitted)):
        share = "–" if fit.concordance is None else number(fit.concordance)
        rows.append([
            cell(name), cell(number(fit.loss)), cell(share),
            cell(ends(fit.low, fit.high)), GridCell(_strip(fit, start_at, strip)),
        ])  # fmt: skip
    ends_of_gain = ends(found.gain_low, found.gain_high)
    rows.append([cell("gain", HEAD), cell(number(found.gain), HEAD), cell(), cell()])
    rows.append([cell("its interval", DIM), cell(ends_of_gain), cell(), cell()])
    return Grid(
        [GridColumn(), GridColumn("right"), GridColumn("right"), GridColumn("right"), GridColumn()],
        rows,
    )


def _settled(found: FittedWeights) -> list[tuple[str, Text]]:
    style = f"bold {KEPT if found.kept == 'fitted' else NOT_KEPT}"
    word = "the fitted weights" if found.kept == "fitted" else "the starting weights"
    return [
        ("keep", Text.assemble((word, style), f": {found.why}.")),
        ("use", Text(f"ragstone score {found.run} --metric '{found.composite}'")),
    ]


def _notes(found: FittedWeights) -> list[tuple[str, str]]:
    notes = []
    if found.n_left_out:
        lacking = ", ".join(f"{name} {count:,}" for name, count in found.left_out.items())
        notes.append(("left out", f"{counted(found.n_left_out, _noun(found))} for want of a "
                                  f"score: {lacking}"))  # fmt: skip
    notes += [("no part", f"{name}: {reason}") for name, reason in found.excluded.items()]
    notes.append(("folds", f"{found.folds} of whole questions, seed {found.seed}"))
    return notes


def _noun(found: FittedWeights) -> str:
    return "pair" if found.sort == "preference" else "rating"


def _bar(value: float, least: float, most: float, width: int) -> Text:
    """The weight, and behind it how far it went over the folds."""

    def place(share: float) -> int:
        return round(width * min(1.0, max(0.0, share)))

    full, far = place(value), max(place(most), place(value))
    sure = min(full, place(least))
    return Text.assemble(
        ("█" * sure, "cyan"), ("▓" * (full - sure), "cyan"), ("░" * (far - full), DIM)
    )


def _axis(start: float, width: int) -> str:
    """The ends of a strip, and where chance is."""
    if not width:
        return ""
    if start:
        return f".5{'1'.rjust(width - 2)}"
    return f"0{'.5'.rjust(width // 2)}{'1'.rjust(width - 1 - width // 2)}"


def _strip(fit: Fit, start: float, width: int) -> Text:
    """Concordance up to 1, from .5, which is chance, or from 0; then ``┊`` is chance."""
    if fit.concordance is None or not width:
        return Text()
    letters = drawn(fit.concordance, fit.low, fit.high, start=start, end=1, width=width)
    if not start and letters[width // 2] == "·":
        letters[width // 2] = "┊"
    return coloured(letters)
