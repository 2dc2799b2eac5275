"""Weights page: fitted weights beside those one starts from, as ``ragstone weights`` prints it."""

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.decisions.weighing.weights import EQUAL, Fit, Weights

from .facts import DIM, HEAD, Facts
from .figures import ends, number
from .grid import Cell, Column, Grid, Row, cell, folded

BAR, STRIP, NAME_WIDTH = 30, 31, 36
KEPT, NOT_KEPT = "green", "yellow"


def weights_page(found: Weights) -> RenderableType:
    """Who judged what, the weights, how well they foretell people, and which to keep."""
    parts: list[RenderableType] = [
        Facts(_facts(found)), Text(), _weights(found), Text(), _fits(found), Text(),
        Facts(_settled(found)),
    ]  # fmt: skip
    notes = _notes(found)
    if notes:
        parts += [Text(), Facts([(name, Text(words, DIM)) for name, words in notes])]
    return Group(*parts)


def _facts(found: Weights) -> list[tuple[str, Text]]:
    people = f"{found.n_annotators} annotator{'s' if found.n_annotators > 1 else ''}"
    what = _many(found)
    counted = Text.assemble((f"{found.n:,} {what}", HEAD),
                            f" on {found.n_questions:,} questions, by up to {people}")  # fmt: skip
    if found.n_ties:
        counted.append(f"; {found.n_ties:,} ties")
    return [("people", counted), ("from", Text(found.source)), ("scores", Text(found.run))]


def _weights(found: Weights) -> Grid:
    head = ["metric", found.start_name if len(found.start_name) < 16 else "start", "fitted",
            "over the folds", f"0{'1'.rjust(BAR - 1)}"]  # fmt: skip
    rows: list[Row] = [[cell(word, DIM) for word in head]]
    for one in found.weights:
        style = HEAD if one.fitted > 0 else DIM
        rows.append([
            cell(folded(one.metric, NAME_WIDTH), "" if one.fitted > 0 else DIM),
            cell(f"{one.start:.2f}", DIM), cell(f"{one.fitted:.2f}", style),
            cell(f"{one.least:.2f} – {one.most:.2f}", DIM),
            Cell(_bar(one.fitted, one.least, one.most)),
        ])  # fmt: skip
    return Grid([Column(), Column("right"), Column("right"), Column("right"), Column()], rows)


def _fits(found: Weights) -> Grid:
    loss = "log loss" if found.sort == "preference" else "squared error"
    words = ["on questions not fitted on", loss, "in people's order", "95 % interval"]
    words[3] = f"{100 * found.level:g} % interval"
    rows: list[Row] = [
        [*(cell(word, DIM) for word in words), cell(f".5{'1'.rjust(STRIP - 2)}", DIM)]
    ]
    start = "equal weights" if found.start_name == EQUAL else "starting weights"
    for name, fit in ((start, found.start), ("fitted weights", found.fitted)):
        share = "–" if fit.concordance is None else number(fit.concordance)
        rows.append([
            cell(name), cell(number(fit.loss)), cell(share),
            cell(ends(fit.low, fit.high)), Cell(_strip(fit)),
        ])  # fmt: skip
    ends_of_gain = ends(found.gain_low, found.gain_high)
    rows.append([cell("gain", HEAD), cell(number(found.gain), HEAD), cell(), cell()])
    rows.append([cell("its interval", DIM), cell(ends_of_gain), cell(), cell()])
    return Grid([Column(), Column("right"), Column("right"), Column("right"), Column()], rows)


def _settled(found: Weights) -> list[tuple[str, Text]]:
    style = f"bold {KEPT if found.kept == 'fitted' else NOT_KEPT}"
    word = "the fitted weights" if found.kept == "fitted" else "the starting weights"
    return [
        ("keep", Text.assemble((word, style), f": {found.why}.")),
        ("use", Text(f"ragstone score {found.run} --metric '{found.composite}'")),
    ]


def _notes(found: Weights) -> list[tuple[str, str]]:
    notes = []
    if found.n_left_out:
        lacking = ", ".join(f"{name} {count:,}" for name, count in found.left_out.items())
        notes.append(("left out", f"{found.n_left_out:,} {_many(found)} for want of a score: "
                                  f"{lacking}"))  # fmt: skip
    notes += [("no part", f"{name}: {reason}") for name, reason in found.excluded.items()]
    notes.append(("folds", f"{found.folds} of whole questions, seed {found.seed}"))
    return notes


def _many(found: Weights) -> str:
    noun = "pair" if found.sort == "preference" else "rating"
    return noun if found.n == 1 else f"{noun}s"


def _bar(value: float, least: float, most: float) -> Text:
    """The weight, and behind it how far it went over the folds."""

    def place(share: float) -> int:
        return round(BAR * min(1.0, max(0.0, share)))

    full, far = place(value), max(place(most), place(value))
    sure = min(full, place(least))
    return Text.assemble(
        ("█" * sure, "cyan"), ("▓" * (full - sure), "cyan"), ("░" * (far - full), DIM)
    )


def _strip(fit: Fit) -> Text:
    """Concordance on the scale from .5, which is chance, to 1."""
    if fit.concordance is None:
        return Text()

    def place(share: float) -> int:
        return round((STRIP - 1) * min(1.0, max(0.0, (share - 0.5) * 2)))

    letters, at = list("·" * STRIP), place(fit.concordance)
    low = at if fit.low is None else place(fit.low)
    high = at if fit.high is None else place(fit.high)
    letters[low : high + 1] = "─" * (high - low + 1)
    letters[low], letters[high] = "├", "┤"
    letters[at] = "●"
    drawn = Text("".join(letters), style="cyan")
    drawn.stylize(DIM, 0, low)
    drawn.stylize(DIM, high + 1, STRIP)
    return drawn
