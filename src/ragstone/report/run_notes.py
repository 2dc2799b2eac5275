"""Run notes: what to know of a run besides its numbers, and what pages need from a run."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.files import RunEntry
from ragstone.core.grouping import grouped
from ragstone.core.messages import Reason
from ragstone.data.record_labels import AS_ITS_CLAIMS, RULES
from ragstone.run import Live, Run
from ragstone.run.estimates.cautions import of_sizes
from ragstone.run.folder.schemas import Data
from ragstone.run.run import Excerpt

from .number_format import counted, short_name
from .page import Phrase, Words, strong
from .reason_words import words

if TYPE_CHECKING:
    from ragstone.analysis.summaries.run_summary import Summary


# Judged examples, from a finished run or from one in progress.
Readable = Run | Live

# A few of them.
Excerpted = Excerpt | Live

LEFT = " What is left need not be like what is missing."

# Remarks that change how a mean has to be read, the worst first.
MISLEADING = (
    "several_models",
    "left_open",
    "measured_on_english",
    "no_encoder",
    "similarities_failed",
    "part_of_the_weight",
    "not_independent",
    "threshold_of_another_model",
    "strings_alone",
    "texts_cut",
    "bertscore_cut",
    "pairs_cut",
    "few_clusters",
    "rare_scores",
    "no_interval",
    "no_interval_alike",
)


def run_notes(run: Run) -> Iterator[str]:
    """Yield what of the data was left out, the run's remarks, rough intervals, what is missing.

    Remarks are reasons, which ``words`` puts into words.
    """
    yield from notes_on_data(run.form.data, run.path)
    yield from run.form.remarks
    yield from of_sizes(run.estimate_list, run.form.cluster)
    for estimate in run.estimate_list:
        if not estimate.group and (count := estimate.reasons.get("out_of_range", 0)):
            lie = "score lies" if count == 1 else "scores lie"
            yield (
                f"{estimate.metric}: {count:,} {lie} outside of the metric's range, so missing. A "
                "metric of your own has its range in @metric(…, range=Range(0, 100))."
            )
    alike = grouped((counts, metric) for metric, counts in run.too_much_missing.items())
    for (count, possible), (metric, *others) in alike.items():
        more = f" and {len(others)} more, each" if others else ""
        yield f"{metric}{more}: {count:,} of {possible:,} scores are missing."


def notes_on_data(data: Data, run: Path) -> Iterator[str]:
    """Yield what of the data was left out, is wrong or is undecided, and where it lies."""
    if rejected := data.rejected:
        were, lie = ("row was", "lies") if rejected == 1 else ("rows were", "lie")
        yield (
            f"{rejected:,} bad {were} left out and {lie} in {run}/{RunEntry.REJECTED}. "
            f"The first: {data.rejected_for[0]}."
        )
    broken = data.label_violations
    blocking = [AS_ITS_CLAIMS, *(name for name, rule in RULES.items() if rule.severity == "block")]
    if count := sum(broken.get(rule, 0) for rule in blocking):
        contradict = "label contradicts another" if count == 1 else "labels contradict others"
        yield (
            f"{count:,} {contradict} of the same answer; all were kept: "
            f"{run}/{RunEntry.VIOLATIONS}."
        )
    if ties := data.label_ties:
        stay = "label stays" if ties == 1 else "labels stay"
        yield f"{ties:,} {stay} open, for annotators are split: {run}/{RunEntry.TIES}."
    if unknown := data.labels_of_nothing:
        yield f"label files name examples that are not there, such as {', '.join(unknown)}."


def first_caution(run: Run, summary: "Summary") -> Words:
    """Return what would mislead most whoever reads only the means; empty if nothing would.

    That nothing or not enough was scored, that a system is compared with itself, or a note.
    """
    if summary.possible and summary.missing == summary.possible:
        return (strong("Nothing could be scored:"), f" {_most_frequent_reason(run)}.")
    if lacking := run.too_much_missing:
        metric, (missing, possible) = max(lacking.items(), key=lambda item: item[1][0] / item[1][1])
        more = f", and over a tenth of {counted(len(lacking) - 1, 'other metric')}"
        more = more if len(lacking) > 1 else ""
        left = "" if missing == possible else LEFT
        return (
            strong(f"{short_name(metric)} lacks {missing:,} of {possible:,} scores"),
            f"{more}: {_most_frequent_reason(run)}.{left}",
        )
    if fields := {name: ones for name, ones in summary.themselves.items() if ones}:
        (name, metrics), *others = fields.items()
        single = len(metrics) == 1
        scores = "its score" if single else f"its {len(metrics)} scores"
        says, are = ("says", "It is") if single else ("say", "They are")
        more = f"{'is that' if single else 'are those'} of {counted(len(others), 'other system')}"
        return (
            strong(f"{' '.join(name.split())} is compared with itself."),
            f" Each of its answers is the reference, so {scores} against the reference {says} "
            f"nothing of it. {are} drawn pale and left out of comparisons."
            f"{f' So {more}.' if others else ''}",
        )
    notes = {Reason.read(note).code: note for note in run_notes(run)}
    ranked = [notes[code] for code in MISLEADING if code in notes]
    ranked += notes_on_data(run.form.data, run.path)
    return tuple(Phrase(words(note)) for note in ranked[:1])


def _most_frequent_reason(run: Run) -> str:
    reasons = Counter[str]()
    for estimate in run.estimate_list:
        if not estimate.group and estimate.n_missing:
            reasons.update(estimate.reasons)
    return words(reasons.most_common(1)[0][0]).rstrip(".") if reasons else "no reason was given"
