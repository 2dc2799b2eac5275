"""Analysis words: whose numbers decide, and reasons for a decision, a plan and what they lack."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragstone.core.grouping import grouped
from ragstone.core.messages import argument, call, worded
from ragstone.judges.judge import HUMAN, LOCAL
from ragstone.report.number_format import ends, number, short_name, with_and

from . import Facts, Sentence, told

if TYPE_CHECKING:
    from ragstone.analysis.calibration.checked_run import CheckedRun, CorrectedMean


def _same_inputs(facts: Facts) -> str:
    if facts["pairs"] == "0":
        return "the same inputs on every pair, and no pair has both values"
    if facts["differing"] == "0":
        return "the same inputs on every pair, judged alike: there is nothing to test"
    return (
        f"the same inputs on every pair, but {facts['differing']:,} of {facts['pairs']:,} pairs "
        "have different scores, so these are compared"
    )


def _no_pair_has_both(facts: Facts) -> str:
    lacks = [f"{facts[why]:,} {why}" for why in ("undefined", "missing") if why in facts]
    return "no pair has both values" + (f" ({', '.join(lacks)})" if lacks else "")


MISSING_OF = "{missing:,} of {possible:,} scores are missing"


def _too_many_missing(facts: Facts) -> str:
    most = float(facts["most"])
    return MISSING_OF.format_map(facts) + (f", more than {most * 100:g} %" if most else "")


NO_END = "there is no end of a range to put them at"
WOULD = {"holds": "would hold", "broken": "would be broken", "open": "would be open"}


def _missing_could_turn_it(facts: Facts) -> str:
    end, _, state = facts["how"].partition(":")
    how = f"at the {end} end of the range it {WOULD[state]}" if state else NO_END
    return f"{MISSING_OF.format_map(facts)} and could turn it: {how}"


def _only_some_labelled(facts: Facts) -> str:
    were = "was" if len(facts["values"].lines) == 1 else "were"
    return told("only [{field} ]{values:and}", facts) + f" {were} labelled"


def _start(facts: Facts) -> str:
    return f"the weights of {facts['start']}" if facts.get("start") else "equal weights"


def _all_judged_too_few(facts: Facts) -> str:
    share = facts.get("assurance")
    often = f" in {100 * float(share):.3g} % of draws" if share else ""
    return f"all {facts['n']:,} judged rows give ±{facts['half_width']}{often}: judge more"


def _few_clusters_checked(facts: Facts) -> str:
    questions = facts.get("questions")
    what = "questions" if questions else "clusters"
    # More are asked for only where the run has as many.
    few = questions and int(questions) < 20
    more = f"the run has {questions:,}" if few else f"more {what} are needed"
    return f"{facts['n']:label} from fewer than 20 {what}; {more}"


def _otherwise(facts: Facts) -> str:
    what, by = facts["what"].removesuffix(" by"), "by " * facts["what"].endswith(" by")
    first, second = (f"{by}{facts[which]} in {facts[f'in_{which}']}"
                     for which in ("first", "second"))  # fmt: skip
    return f"{what} {first}, {second}"


ANALYSIS_SENTENCES: Mapping[str, Sentence] = {
    "same_inputs": _same_inputs,
    "no_pair_has_both": _no_pair_has_both,
    "one_cluster": "one {noun} is too few for an interval",
    "too_few_differ": (
        "{n} {noun}{n: differs|s differ}, which is too few to reach a p below {least}"
    ),
    "pairs_in_part": (
        "{n:pair} {n:rests|rest} on a part of {n:its|their} rows, for some are missing"
    ),
    "fewer_than_two": "fewer than two {noun}s have a value of both",
    "judge_more": (
        "to decide it takes {labels:,} labelled examples, and only {judged:,} are judged: judge "
        "more"
    ),
    "beyond": "shown to lie {side} the bar",
    "beyond_alone": (
        "{side} the bar if this requirement is tested alone, but not if it is tested together "
        "with so many others"
    ),
    "nothing_counted": "there are no {counted}",
    "too_many_missing": _too_many_missing,
    "missing_could_turn_it": _missing_could_turn_it,
    "all_alike_without_a_range": (
        "all pairs differ alike, and the metric has no range to argue from"
    ),
    "no_pair_differs": "no pair differs, so there is nothing to test",
    "no_direction": "neither end of this metric is better",
    "no_margin": "no margin is asked for",
    "narrow_already": "half the interval is within the margin already",
    "nothing_is_estimated": "the inputs are the same: nothing is estimated",
    "not_after_correction": (
        "the interval leaves 0 out, but after correction for all tests p does not tell"
    ),
    "test_is_stricter": (
        "the interval leaves 0 out, but the test, which assumes less, does not tell"
    ),
    "no_comparisons": "no pair has both values",
    "not_connected": "a system never lost to the others, or never won, so no strength is finite",
    "decided": "it is decided",
    "no_value": "there is no value to go by",
    "on_the_bar": "the value lies on the bar",
    "met": "the value meets the bar",
    "not_met": "the value does not meet it",
    "clears": "the whole interval clears the bar",
    "inside": "the bar lies inside the interval",
    "inside_though_all_labelled": (
        "the bar lies inside the interval although all is labelled: judge more examples"
    ),
    # Plans.
    "fewer_than_two_scored": "fewer than two questions have a score",
    "scores_do_not_vary": "its scores do not vary here",
    "too_few_to_plan": "{n:label} so far; planning takes {least:,}",
    "too_few_for_any": "{n:,} questions are too few for any difference",
    "all_judged_too_few": _all_judged_too_few,
    # What labels do not show of a judge.
    "no_label_checked": "no label has checked it",
    "passport_unreadable": "judge_passport.json cannot be read: calibrate again",
    "passport_void": "its judge_passport.json is for another judge or other data: calibrate again",
    "passport_older": "its passport is of an older version: calibrate again",
    "few_labels_checked": "{n:label}; about {enough:,} are needed",
    "few_clusters_checked": _few_clusters_checked,
    "labels_do_not_correct": "{n:label}, from which no mean can be corrected: {why:spoken}",
    "agreement_unknown": "{n:label}, from which agreement beyond chance cannot be told",
    "no_agreement_shown": (
        "κ {kappa:.2f} ({low:.2f} to {high:.2f}) on {n:label} does not show more than chance"
    ),
    # Failures.
    "corpus_not_told": "no judged context ids (reference_contexts) tell what the corpus holds",
    "no_context_in_data": "the data have no contexts",
    "metric_not_in_run": lambda facts: (
        f"{facts['metric']} is not in this run: "
        f"{call('rescore', argument('run', 'RUN'), argument('metrics', facts['metric']))}"
    ),
    "metric_without_value": lambda facts: (
        f"{facts['metric'].replace(',', ' or ')} has no value for these answers"
    ),
    # Weights.
    "few_scores": "it has scores for {share:.0%} of what people judged",
    "less_is_better": "less is better, so it cannot stand in one composite with the others",
    "neither_is_better": "neither more nor less is better",
    "not_loaded": f"it is your own and not loaded: {argument('metrics_from', 'FILE')}",
    "composite_in_composite": "a composite cannot be in another",
    "critique_in_composite": "critiques stand in no composite",
    "no_score_in_run": "it has no score in this run",
    "same_for_both_answers": "it is the same for both answers of every pair",
    "same_for_every_example": "it is the same for every example",
    "nothing_goes_with_people": lambda facts: (
        f"no metric goes with people's {facts['sort']}s, so {_start(facts)} stay"
    ),
    "never_predicted_otherwise": lambda facts: (
        f"on no question do the fitted weights predict otherwise, so {_start(facts)} stay"
    ),
    "gain_clears_zero": lambda facts: (
        f"the gain over {_start(facts)} clears 0 on questions they were not fitted on"
    ),
    "worse_when_held_out": lambda facts: (
        f"they do worse on questions they were not fitted on, so {_start(facts)} stay"
    ),
    "gain_holds_zero": lambda facts: f"the interval of the gain holds 0, so {_start(facts)} stay",
    # Comparisons.
    "in_several_clusters": (
        "{n:question} {n:is|are} in several clusters of {cluster} and {n:counts|count} in "
        "{n:its|their} first."
    ),
    "no_score_a_question": (
        "{metric} is made of data-set means and has no score a question: left out."
    ),
    "components_not_there": "{metric} is left out, for its components are not there: {said}",
    "over_common_components": (
        "{metric} is compared over the components that both sides of a pair have: on {n:,} of "
        "{pairs:,} pairs one side has more. Its values are not those of the run."
    ),
    "in_no_slice": (
        "{n:pair} of {a} and {b} {n:has|have} two values of {field} and {n:stands|stand} in no "
        "slice."
    ),
    "few_pairs": "from {n:pair} only: take it as rough",
    "measured_otherwise": _otherwise,
    "compared_all_the_same": lambda facts: f"{_otherwise(facts)}; compared all the same.",
    "answers_are_references": (
        "{system}: its answers are the references, so it is not compared on {metrics:list}."
    ),
    "only_one_has": "only {run} has {metrics:list}: not compared.",
    "other_questions": (
        "{n:shared question id} {n:has|have} another question in {run}: {first}{n:|, …}"
    ),
    "other_version": "the runs were scored by Ragstone {first} and {second}.",
    "systems_not_compared": "only in {run}, so not compared: system {systems:list}.",
    "questions_of": "{side}: {n:question}, {questions:list}[ and {more:,} more]",
    "questions_not_paired": (
        "only in {side}, so not paired: {n:question}, {questions:list}[ and {more:,} more]."
    ),
    # Gates.
    "no_interval_clears": (
        "no interval clears {bar}, the end of the range; "
        f"{argument('on', 'point')} decides by the value"
    ),
    "no_worse_uncorrected": (
        "no worse than: decided on the judges' own scores; labels do not correct it."
    ),
    "uncorrected": (
        "no labels correct it for {systems:list}, so it is decided on the judges' own scores."
    ),
    "made_of_means": (
        "made of means, so there is no difference question by question; {baseline!r} leaves it out."
    ),
    # What somebody says of an item of a queue.
    "lacking": "nothing is said yet",
    "not_asked": "the queue does not ask this",
    "no_such_part": "the item has no such part",
    "no_such_words": "the marked words are not in the text",
    "too_many_spans": "at most {most:,} places can be marked",
    "evidence_requires_relevance": "A context that holds the evidence is also about the topic",
    "evidence_excludes_misleading": ("A context that holds the evidence is seldom misleading, too"),
    "contradiction_requires_unsupported": "A contradicted claim is also unsupported",
    "fabricated_requires_cited": "A made-up source is also a cited one",
    "not_a_choice": lambda facts: (
        f"say one of: {facts['choices']:list}" if "choices" in facts else "say it in a word or two"
    ),
    "word_too_long": "at most {most:,} characters",
    "note_too_long": "a note has at most {most:,} characters",
    # Calibrations.
    "labels_break_rules": "Hard rules that labels break: {n:,}; they are used as given.",
    "labels_adjudicated": (
        "Labels that an adjudicator decided: {n:,}; what others said of these is not used."
    ),
    "label_ties": "Ties between annotators: {n:,}; they are left out.",
    "labels_discarded": "Labels that people discarded: {n:,}; they are not used.",
    "labelled_in_part": (
        "Labelled in part: {n:,} of {examples:,} examples. Metrics that need every unit of an "
        "example, such as faithfulness, leave these out; fill in all rows."
    ),
    "looked_at_once": (
        "The intervals hold if you look once. To look again as more labels come in, use "
        f"{argument('anytime', True)}: the mean of the labels then has a wider interval, which "
        "holds at every look."
    ),
    "labelled_without_score": "no score of the judge for {n:labelled example}.",
    "labels_not_given": (
        "people left {n:,} of {asked:,} examples open. The labels' mean would be {worst} if "
        "all of these were as bad as possible, and {best} if all were as good as possible. "
        "Trust an interval only if chance decided which ones stayed open."
    ),
    "people_are_the_judge": (
        "in the run itself people judged {n:,} of the labelled examples, so there is no judge to "
        f"check. Evaluate with {argument('judge', 'local')}, or a model."
    ),
    "judges_mean_differs": (
        "the judge's mean is {labelled} where people labelled, {others} elsewhere"
    ),
    "only_some_labelled": _only_some_labelled,
    "share_differs": (
        "[{field} ]{value} makes up {labelled} % of the labelled rows, but {others} % of the others"
    ),
    # Samples.
    "undefined_not_drawn": (
        "{n:example} for which {metric} is undefined {n:is|are} not drawn: a label would tell "
        "nothing."
    ),
    "stratum_of_one": (
        "A stratum of which one unit is drawn cannot tell how much it varies: take a larger "
        f"{argument('n')} or fewer strata."
    ),
    "errors_not_known": (
        "These widths assume that the judge errs equally everywhere, as no label yet shows where. "
        f"Labels of a first sample do: {argument('people', 'FILE')}."
    ),
    "narrower_design": lambda facts: (
        f"For the mean {argument('by', facts['by'])} is expected to be {facts['less']:.0%} "
        "narrower."
    ),
    "verdicts_agree": (
        "They agree on {n:,} of {examples:,} examples; these are drawn, too, less often."
    ),
    "no_score_to_go_by": (
        "{n:example} without a score to go by {n:counts|count} as the least telling."
    ),
    "no_row": "{n:example}{n: of the sample has| have} no {units:or} and so no row.",
    "no_translation": "No guideline in {language} for {kinds:list}: the English one is given.",
}


def judges_named(names: Iterable[str]) -> str:
    """The judges as a sentence names them.

    >>> judges_named(["local:strings", "openai:gpt-5,azure:gpt-5"])
    'the local judge and a panel of 2 models'
    """
    return with_and(list(dict.fromkeys(map(_judge_named, names))))


def _judge_named(name: str) -> str:
    if name == HUMAN:
        return "people"
    if name.partition(":")[0] == LOCAL:
        return "the local judge"
    members = name.count(",") + 1
    return name if members == 1 else f"a panel of {members} models"


def judges_checked(checked: "CheckedRun") -> str:
    """Return who judged these metrics, and whether labels checked them; empty if nobody did."""
    judges = judges_named(checked.judges)
    if not checked.metrics:
        return judges
    unchecked = checked.lacks == NO_LABEL
    return f"{judges}, {'which no label has checked here' if unchecked else badge(checked)}"


def badge(checked: "CheckedRun") -> str:
    """Return on which metrics labels checked the judges, or what is missing."""
    if not checked.metrics:
        return "no metric rests on a judge's opinion"
    if checked.lacks is not None:
        why = "" if checked.lacks == NO_LABEL else f": {worded(checked.lacks)}"
        return f"not checked against people{why}"
    earned = checked.earned
    on = f"{len(earned)} of {len(checked.metrics)} metrics"
    return (
        f"checked against people on {on if len(earned) > 1 else ''.join(map(short_name, earned))}"
    )


def whose_numbers(checked: Mapping[str, "CheckedRun"]) -> str:
    """Whose numbers are compared, and whether labels checked them."""
    sentence = grouped((numbers_of(collected), name) for name, collected in checked.items())
    if len(sentence) == 1:
        return next(iter(sentence))
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in sentence.items())


def numbers_of(checked: "CheckedRun") -> str:
    """Whose numbers they are, and whether labels checked them; it says so where no judge's are."""
    if checked.metrics:
        return judges_checked(checked)
    return f"{judges_named(checked.judges) or 'counted or measured'}; no judge's opinion is in them"


def corrected(mean: "CorrectedMean | None", *, percent: bool = False) -> str:
    """A mean that labels corrected, with its interval; empty without one."""
    return "" if mean is None else f"{with_interval(mean, percent=percent)} corrected by people"


def with_interval(mean: "CorrectedMean", *, percent: bool = False) -> str:
    """A mean and the ends of its interval."""
    value = number(mean.value, percent=percent)
    return f"{value} ({ends(mean.low, mean.high, percent=percent)})"


NO_LABEL = "no_label_checked"
