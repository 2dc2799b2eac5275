"""Confidence gate pages: a calibrated gate, why labels carry none, and new labels beside it.

What ``ragstone guard calibrate`` and ``ragstone guard check`` print.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ragstone.core.errors import PromiseRefused
from ragstone.core.messages import argument
from ragstone.guard.assessment import WAYS_OUT
from ragstone.guard.confidence_gate import gate_thresholds as thresholds
from ragstone.guard.confidence_gate.confidence_gate import Gate, GateCalibration, GateCheck
from ragstone.report import page as ui
from ragstone.report.number_format import counted, percent
from ragstone.report.reason_words import words
from ragstone.stats.risk_control import RiskCoverage

# The fill of each way out in a bar.
LEVELS = {"pass": 0, "ask": 5, "block": 3}

COVERED = (0.1, 0.25, 0.5, 0.75, 1.0)

STATES: dict[thresholds.PromiseState, tuple[str, str, ui.Tone]] = {
    "holds": ("HOLDS", "holds", "good"),
    "broken": ("BROKEN", "broken", "bad"),
    "cannot_tell": ("CANNOT TELL", "cannot tell", "caution"),
}
# Of each promise: the answers it is about, and the way they must seldom go.
WRONG = {"max_false_pass": ("unfaithful", "passes"), "max_false_block": ("faithful", "is blocked")}


def gate_calibration_page(
    calibration: GateCalibration, title: str = "", out: Path | None = None
) -> ui.Page:
    """Return the page: thresholds, promises, where the answers go, other promises."""
    gate = calibration.gate
    body: list[ui.Section] = [
        ui.section(ui.Facts(tuple(_thresholds(calibration, out)))),
        ui.section(_shares(gate.shares), title=ui.strong("Where the labelled answers go")),
        ui.section(_others(calibration.others, gate), title=ui.strong("Other promises")),
    ]
    if calibration.risk_coverage.area is not None:
        covered = _covered(calibration.risk_coverage)
        body.append(ui.section(covered, title=ui.strong("If only the surest answers passed")))
    body.append(ui.small_print(_small_print(calibration)))
    return ui.Page("guard calibrate", title, tuple(body), record=calibration.to_dict)


def gate_refusal_page(error: PromiseRefused, title: str) -> ui.Page:
    """Why the labels cannot carry the promise, the tightest they can, and what is needed."""
    first, *lines = error.text.splitlines()
    facts = [ui.Note(name, text.strip()) for name, _, text in
             (line.strip().partition("  ") for line in lines)]  # fmt: skip
    banner = ui.Banner("NO PROMISE", "caution", (first,))
    names = ("promise", "bound", "confidence", "why", "answers", "clusters", "tightest",
             "tightest_if_independent", "needed", "more")  # fmt: skip
    return ui.Page(
        "guard calibrate", title, (ui.section(banner, ui.Facts(tuple(facts))),),
        record=lambda: {"gate": None} | {name: getattr(error, name) for name in names},
    )  # fmt: skip


def gate_check_page(check: GateCheck, title: str = "") -> ui.Page:
    """Return the page: do new labels bear the promises out, and where do their answers go."""
    word, _, tone = STATES[check.state]
    lines = tuple(_told(promise, check.gate.confidence) for promise in check.promises)
    n = sum(share.answers for share in check.shares if share.of == "all")
    same = "distributed as those of the gate's labels were, as far as these show"
    facts = (
        ui.Note("labels", _labels(n, None, check.unscored, check)),
        *_left_open(check),
        ui.Note("scores", "; ".join(map(words, check.standing.void)) or same),
    )
    sections = (
        ui.section(ui.Banner(word, tone, lines), ui.Facts(facts)),
        ui.section(_checked(check), title=ui.strong("Promises")),
        ui.section(_shares(check.shares), title=ui.strong("Where the new answers go")),
    )
    text = f"{word}: {' '.join(lines)}"
    return ui.Page("guard check", title, sections, text, record=check.to_dict)


def _thresholds(calibration: GateCalibration, out: Path | None) -> Iterator[ui.Note]:
    gate = calibration.gate
    yield ui.Note("pass", (ui.strong(f"from {_score(gate.pass_at)} on", "good"),))
    if gate.block_below is not None:
        yield ui.Note("block", (ui.strong(f"below {_score(gate.block_below)}", "bad"),))
    yield ui.Note("ask", "otherwise, and where an answer has no score")
    yield ui.Note("promise", _promise("max_false_pass", gate.false_pass, gate))
    if gate.false_block is not None:
        yield ui.Note("promise", _promise("max_false_block", gate.false_block, gate))
    yield ui.Note("labels", _labels(gate.n, gate.clusters, gate.unscored, calibration))
    yield from _left_open(calibration)
    if gate.judge.name:
        yield ui.Note("judge", (gate.judge.name, ui.quiet(f"  {gate.judge.fingerprint}")))
    else:
        unnamed = f"not named ({argument('judge', 'NAME')}): a guard takes it for another"
        yield ui.Note("judge", unnamed)
    if out is not None:
        yield ui.Note("gate", str(out))


def _promise(promise: str, risk: thresholds.ShownRisk, gate: Gate) -> ui.Words:
    of, goes = WRONG[promise]
    most = f"at most {percent(risk.high, 1)} at {percent(gate.confidence)} confidence"
    share = f"at most {percent(risk.promised)} have one that {goes}"
    here = ui.quiet(f"  {risk.hits:,} of {risk.clusters:,} here, {most}")
    return (f"of questions with {_an(of)} answer, {share}", here)


def _labels(
    n: int, clusters: int | None, unscored: int, calibration: GateCalibration | GateCheck
) -> str:
    text = counted(n, "answer")
    if clusters is not None and clusters < n:
        text += f" in {counted(clusters, 'cluster')}"
    if unscored:
        text += f", {unscored:,} without a score"
    if calibration.unlabelled:
        text += f"; {calibration.unlabelled:,} left out because the label or the answer is missing"
    if calibration.surplus:
        text += f"; {thresholds.surplus_words(calibration.surplus)}"
    return text


def _left_open(calibration: GateCalibration | GateCheck) -> Iterator[ui.Note]:
    ends = [
        f"of {of} answers {percent(item.worst)} {goes} if all of these are as bad as possible, "
        f"{percent(item.best)} if all are as good as possible"
        for item in calibration.if_open
        for of, goes, *_ in [thresholds.WORDS[item.promise]]
    ]
    if ends:
        left = f"people left {counted(calibration.unlabelled, 'answer')} open"
        trust = "Trust a promise only if it was chance which stayed open"
        yield ui.Note("caution", f"{left}. {'; '.join(ends).capitalize()}. {trust}")


def _shares(shares: Sequence[thresholds.GateShare]) -> ui.Table:
    rows: list[tuple[ui.Cell, ...]] = []
    for of in ("unfaithful", "faithful", "all"):
        by_way = {share.way: share for share in shares if share.of == of}
        whole = by_way["pass"].total
        parts = tuple(ui.BarPart(by_way[way].answers, LEVELS[way], way) for way in WAYS_OUT)
        cells = (
            ui.Why("undefined") if item.share is None
            else ui.IntervalCell(item.share, item.low, item.high, percent=True)
            for item in (by_way[way] for way in WAYS_OUT)
        )  # fmt: skip
        rows.append((ui.RowName(of), ui.Bar(parts, whole), *cells, f"{whole:,}"))
    ways = (ui.Heading(way, level=0.95, fill=LEVELS[way]) for way in WAYS_OUT)
    return ui.table(("answers", ui.Heading(drop=2), *ways, ui.Heading("n", drop=1)), rows)


def _others(others: Sequence[thresholds.OtherPromise], gate: Gate) -> ui.Table:
    rows: list[tuple[ui.Cell, ...]] = []
    for other in others:
        mine = other.max_false_pass == gate.max_false_pass
        name = ui.RowName(f"at most {percent(other.max_false_pass)}", strong=mine)
        if other.pass_at is None:
            rows.append((name, ui.Why("unknown", "the labels cannot carry it"), None, None))
        else:
            rows.append((name, ui.Number(other.pass_at), ui.Number(other.faithful, percent=True),
                         ui.Number(other.answers, percent=True)))  # fmt: skip
    heads = ("false passes", "pass from", "faithful that pass, %", "all that pass, %")
    return ui.table(heads, rows)


def _covered(curve: RiskCoverage) -> ui.Table:
    # The first threshold by which at least a share is covered: scores have ties.
    firsts = [int((curve.coverage >= share - 1e-12).argmax()) for share in COVERED]
    rows = [
        (ui.RowName(percent(float(curve.coverage[at]), 0)), ui.Number(float(curve.thresholds[at])),
         ui.Number(float(curve.risk[at]), percent=True))
        for at in firsts
    ]  # fmt: skip
    return ui.table(("surest", "pass from", "unfaithful among them, %"), rows)


def _checked(check: GateCheck) -> ui.Table:
    rows: list[tuple[ui.Cell, ...]] = []
    # Both ends of the interval are one-sided bounds.
    level = 2 * check.gate.confidence - 1
    for promise in check.promises:
        of, goes = WRONG[promise.promise]
        _, word, tone = STATES[promise.state]
        risk = promise.risk
        share = (
            ui.Why("undefined", f"no {of} answer with a score") if risk.rate is None
            else ui.IntervalCell(risk.rate, risk.low, risk.high, percent=True)
        )  # fmt: skip
        rows.append((ui.RowName(f"{of} that {goes}"), ui.Number(risk.promised, percent=True), share,
                     f"{risk.hits:,} of {risk.clusters:,}",
                     ui.Verdict(promise.state, word, tone)))  # fmt: skip
    heads = ("questions with an answer", "at most, %", ui.Heading("seen, %", level=level),
             ui.Heading("counted", drop=1), "")  # fmt: skip
    return ui.table(heads, rows)


def _told(promise: thresholds.CheckedPromise, confidence: float) -> str:
    of, goes = WRONG[promise.promise]
    risk = promise.risk
    seen = (
        f"{risk.hits:,} of {counted(risk.clusters, 'question')} with {_an(of)} answer "
        f"{'has' if risk.hits == 1 else 'have'} one that {goes}"
    )
    state = {
        "holds": f"at {percent(confidence)} confidence at most {percent(risk.high, 1)} do",
        "broken": f"at {percent(confidence)} confidence at least {percent(risk.low, 1)} do",
        "cannot_tell": f"too few to tell: it takes {promise.needed or 0:,} if no more go wrong",
    }
    return f"{seen}; {state[promise.state]}; {percent(risk.promised)} was promised."


def _small_print(calibration: GateCalibration) -> Iterator[ui.Note]:
    gate, curve = calibration.gate, calibration.risk_coverage
    yield ui.Note(
        "promise",
        f"With other labels of the same sort, at least {percent(gate.confidence)} of such gates "
        "keep it. A question stands for answers that share a question, a set of contexts or a "
        "named cluster; one of them on the wrong side is enough.",
    )
    if curve.area is not None and curve.best is not None and curve.blind is not None:
        yield ui.Note(
            "area",
            f"under the curve of unfaithful answers by share passed: {curve.area:.3f}, from "
            f"{curve.best:.3f} (no mistake in their order) to {curve.blind:.3f} (by chance); lower "
            "is better",
        )
    if gate.max_false_block is None:
        yield ui.Note("block", f"nothing is blocked without {argument('max_false_block')}")


def _score(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1e-3 else f"{value:.3f}"


def _an(of: str) -> str:
    return f"an {of}" if of.startswith("u") else f"a {of}"
