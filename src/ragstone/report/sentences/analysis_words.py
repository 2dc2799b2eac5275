"""Analysis words: whose numbers decide, and reasons for a decision, a plan and what they lack."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragstone.core.messages import Reason, argument, call
from ragstone.judges.judge import HUMAN, LOCAL
from ragstone.report.number_format import ends, number, short_name

from . import Facts, Sentence, and_more, count, counted, plain, several

if TYPE_CHECKING:
    from ragstone.analysis.calibration.checked_run import CheckedRun, CorrectedMean


def _same_inputs(facts: Facts) -> str:
    pairs, differing = int(facts["pairs"]), int(facts["differing"])
    if not pairs:
        return "the same inputs on every pair, and no pair has both values"
    if not differing:
        return "the same inputs on every pair, judged alike: there is nothing to test"
    return (
        f"the same inputs on every pair, but {differing:,} of {pairs:,} pairs have different "
        "scores, so these are compared"
    )


def _no_pair_has_both(facts: Facts) -> str:
    left = ", ".join(
        f"{int(facts[one]):,} {one}" for one in ("undefined", "missing") if one in facts
    )
    return f"no pair has both values ({left})" if left else "no pair has both values"


def _too_few_differ(facts: Facts) -> str:
    differ = f"{facts['noun']} differs" if facts["n"] == "1" else f"{facts['noun']}s differ"
    return f"{facts['n']} {differ}, too few for a p below {facts['least']}"


def _missing_of(facts: Facts) -> str:
    return f"{int(facts['missing']):,} of {int(facts['possible']):,} scores are missing"


def _too_many_missing(facts: Facts) -> str:
    most = float(facts["most"])
    return f"{_missing_of(facts)}, more than {most * 100:g} %" if most else _missing_of(facts)


WOULD = {"holds": "would hold", "broken": "would be broken", "open": "would be open"}


def _missing_could_turn_it(facts: Facts) -> str:
    end, _, state = facts["how"].partition(":")
    how = f"at the {end} end of the range it {WOULD[state]}" if state else NO_END
    return f"{_missing_of(facts)} and could turn it: {how}"


NO_END = "there is no end of a range to put them at"
ALONE = "but not shown among so many requirements at once"


def _start(facts: Facts) -> str:
    return f"the weights of {facts['start']}" if facts.get("start") else "equal weights"


def _all_judged_too_few(facts: Facts) -> str:
    share = facts.get("assurance")
    often = f" in {100 * float(share):.3g} % of draws" if share else ""
    return f"all {count(facts)} judged rows give ±{facts['half_width']}{often}: judge more"


def _few_clusters_checked(facts: Facts) -> str:
    what = "questions" if "questions" in facts else "clusters"
    few = "questions" in facts and int(facts["questions"]) < 20
    more = f"the run has {count(facts, 'questions')}" if few else f"more {what} are needed"
    return f"{counted(facts, 'label')} from fewer than 20 {what}; {more}"


def _otherwise(facts: Facts) -> str:
    what, by = facts["what"], ""
    if what.endswith(" by"):
        what, by = what.removesuffix(" by"), "by "
    one, other = (f"{by}{facts[which]} in {facts[f'in_{which}']}" for which in ("first", "second"))
    return f"{what} {one}, {other}"


def _questions(facts: Facts) -> str:
    return f"{counted(facts, 'question')}, {_listed(facts, 'questions')}{and_more(facts)}"


def _listed(facts: Facts, name: str) -> str:
    return ", ".join(several(facts, name))


def _of_field(facts: Facts, value: str) -> str:
    return f"{facts['field']} {value}" if facts.get("field") else value


def _only_some_labelled(facts: Facts) -> str:
    values = several(facts, "values")
    verb = "was" if len(values) == 1 else "were"
    return f"only {_of_field(facts, ' and '.join(values))} {verb} labelled"


def _verb(facts: Facts, verb: str) -> str:
    return f"{verb}s" if facts["n"] == "1" else verb


def _have(facts: Facts) -> str:
    return "has" if facts["n"] == "1" else "have"


def _its(facts: Facts) -> str:
    return "its" if facts["n"] == "1" else "their"


def _no_row(facts: Facts) -> str:
    one = facts["n"] == "1"
    have = "1 example of the sample has" if one else f"{count(facts)} examples have"
    return f"{have} no {' or '.join(several(facts, 'units'))} and so no row."


ANALYSIS_SENTENCES: Mapping[str, Sentence] = {
    "same_inputs": _same_inputs,
    "no_pair_has_both": _no_pair_has_both,
    "one_cluster": lambda facts: f"one {facts['noun']} is too few for an interval",
    "too_few_differ": _too_few_differ,
    "pairs_in_part": lambda facts: (
        f"{counted(facts, 'pair')} {_verb(facts, 'rest')} on a part of {_its(facts)} rows, for "
        "some are missing"
    ),
    "fewer_than_two": lambda facts: f"fewer than two {facts['noun']}s have a value of both",
    "judge_more": lambda facts: (
        f"to decide it takes {int(facts['labels']):,} labelled examples, and only "
        f"{int(facts['judged']):,} are judged: judge more"
    ),
    "beyond": lambda facts: f"shown to lie {facts['side']} the bar",
    "beyond_alone": lambda facts: f"{facts['side']} the bar taken alone, {ALONE}",
    "nothing_counted": lambda facts: f"there are no {facts['counted']}",
    "too_many_missing": _too_many_missing,
    "missing_could_turn_it": _missing_could_turn_it,
    "all_alike_without_a_range": plain(
        "all pairs differ alike, and the metric has no range to argue from"
    ),
    "no_pair_differs": plain("no pair differs, so there is nothing to test"),
    "no_direction": plain("neither end of this metric is better"),
    "no_margin": plain("no margin is asked for"),
    "narrow_already": plain("half the interval is within the margin already"),
    "nothing_is_estimated": plain("the inputs are the same: nothing is estimated"),
    "not_after_correction": plain(
        "the interval leaves 0 out, but after correction for all tests p does not tell"
    ),
    "test_is_stricter": plain(
        "the interval leaves 0 out, but the test, which assumes less, does not tell"
    ),
    "no_comparisons": plain("no pair has both values"),
    "not_connected": plain(
        "a system never lost to the others, or never won, so no strength is finite"
    ),
    "decided": plain("it is decided"),
    "no_value": plain("there is no value to go by"),
    "on_the_bar": plain("the value lies on the bar"),
    "met": plain("the value meets the bar"),
    "not_met": plain("the value does not meet it"),
    "clears": plain("the whole interval clears the bar"),
    "inside": plain("the bar lies inside the interval"),
    "inside_though_all_labelled": plain(
        "the bar lies inside the interval although all is labelled: judge more examples"
    ),
    # Plans.
    "fewer_than_two_scored": plain("fewer than two questions have a score"),
    "scores_do_not_vary": plain("its scores do not vary here"),
    "too_few_to_plan": lambda facts: (
        f"{counted(facts, 'label')} so far; planning takes {count(facts, 'least')}"
    ),
    "too_few_for_any": lambda facts: f"{count(facts)} questions are too few for any difference",
    "all_judged_too_few": _all_judged_too_few,
    # What labels do not show of a judge.
    "no_label_checked": plain("no label has checked it"),
    "passport_unreadable": plain("judge_passport.json cannot be read: calibrate again"),
    "passport_void": plain(
        "its judge_passport.json is for another judge or other data: calibrate again"
    ),
    "passport_older": plain("its passport is of an older version: calibrate again"),
    "few_labels_checked": lambda facts: (
        f"{counted(facts, 'label')}; about {count(facts, 'enough')} are needed"
    ),
    "few_clusters_checked": _few_clusters_checked,
    "labels_do_not_correct": lambda facts: (
        f"{counted(facts, 'label')}, from which no mean can be corrected: "
        f"{facts['why'].replace('_', ' ')}"
    ),
    "agreement_unknown": lambda facts: (
        f"{counted(facts, 'label')}, from which agreement beyond chance cannot be told"
    ),
    "no_agreement_shown": lambda facts: (
        f"κ {float(facts['kappa']):.2f} ({float(facts['low']):.2f} to {float(facts['high']):.2f}) "
        f"on {counted(facts, 'label')} does not show more than chance"
    ),
    # Failures.
    "corpus_not_told": plain(
        "no judged context ids (reference_contexts) tell what the corpus holds"
    ),
    "no_context_in_data": plain("the data have no contexts"),
    "metric_not_in_run": lambda facts: (
        f"{facts['metric']} is not in this run: "
        f"{call('rescore', argument('run', 'RUN'), argument('metrics', facts['metric']))}"
    ),
    "metric_without_value": lambda facts: (
        f"{facts['metric'].replace(',', ' or ')} has no value for these answers"
    ),
    # Weights.
    "few_scores": lambda facts: (
        f"it has scores for {float(facts['share']):.0%} of what people judged"
    ),
    "less_is_better": plain("less is better, so it cannot stand in one composite with the others"),
    "neither_is_better": plain("neither more nor less is better"),
    "not_loaded": plain(f"it is your own and not loaded: {argument('metrics_from', 'FILE')}"),
    "composite_in_composite": plain("a composite cannot be in another"),
    "critique_in_composite": plain("critiques stand in no composite"),
    "no_score_in_run": plain("it has no score in this run"),
    "same_for_both_answers": plain("it is the same for both answers of every pair"),
    "same_for_every_example": plain("it is the same for every example"),
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
    "in_several_clusters": lambda facts: (
        f"{counted(facts, 'question')} {_verb(facts, 'stand')} in several clusters of "
        f"{facts['cluster']} and {_verb(facts, 'count')} in {_its(facts)} first."
    ),
    "no_score_a_question": lambda facts: (
        f"{facts['metric']} is made of data-set means and has no score a question: left out."
    ),
    "components_not_there": lambda facts: (
        f"{facts['metric']} is left out, for its components are not there: {facts['said']}"
    ),
    "over_common_components": lambda facts: (
        f"{facts['metric']} is compared over the components that both sides of a pair have: on "
        f"{count(facts)} of {count(facts, 'pairs')} pairs one side has more. Its values are not "
        "those of the run."
    ),
    "in_no_slice": lambda facts: (
        f"{counted(facts, 'pair')} of {facts['a']} and {facts['b']} "
        f"{_have(facts)} two values of {facts['field']} and "
        f"{_verb(facts, 'stand')} in no slice."
    ),
    "few_pairs": lambda facts: f"from {counted(facts, 'pair')} only: take it as rough",
    "measured_otherwise": _otherwise,
    "compared_all_the_same": lambda facts: f"{_otherwise(facts)}; compared all the same.",
    "answers_are_references": lambda facts: (
        f"{facts['system']}: its answers are the references, so it is not compared on "
        f"{_listed(facts, 'metrics')}."
    ),
    "only_one_has": lambda facts: (
        f"only {facts['run']} has {_listed(facts, 'metrics')}: not compared."
    ),
    "other_questions": lambda facts: (
        f"{counted(facts, 'shared question id')} {_have(facts)} another "
        f"question in {facts['run']}: {facts['first']}{'' if facts['n'] == '1' else ', …'}"
    ),
    "other_version": lambda facts: (
        f"the runs were scored by Ragstone {facts['first']} and {facts['second']}."
    ),
    "systems_not_compared": lambda facts: (
        f"only in {facts['run']}, so not compared: system {_listed(facts, 'systems')}."
    ),
    "questions_of": lambda facts: f"{facts['side']}: {_questions(facts)}",
    "questions_not_paired": lambda facts: (
        f"only in {facts['side']}, so not paired: {_questions(facts)}."
    ),
    # Gates.
    "no_interval_clears": lambda facts: (
        f"no interval clears {facts['bar']}, the end of the range; {argument('on', 'point')} "
        "decides by the value"
    ),
    "no_worse_uncorrected": plain(
        "no worse than: decided on the judges' own scores; labels do not correct it."
    ),
    "uncorrected": lambda facts: (
        f"no labels correct it for {_listed(facts, 'systems')}, so it is decided on the judges' "
        "own scores."
    ),
    "made_of_means": lambda facts: (
        "made of means, so there is no difference question by question; "
        f"{facts['baseline']!r} leaves it out."
    ),
    # What somebody says of an item of a queue.
    "lacking": plain("nothing is said yet"),
    "not_asked": plain("the queue does not ask this"),
    "no_such_part": plain("the item has no such part"),
    "no_such_words": plain("the marked words are not in the text"),
    "too_many_spans": lambda facts: f"at most {count(facts, 'most')} places can be marked",
    "evidence_requires_relevance": plain(
        "A context that holds the evidence is also about the topic"
    ),
    "evidence_excludes_misleading": plain(
        "A context that holds the evidence is seldom misleading, too"
    ),
    "contradiction_requires_unsupported": plain("A contradicted claim is also unsupported"),
    "fabricated_requires_cited": plain("A made-up source is also a cited one"),
    "not_a_choice": lambda facts: (
        f"say one of: {', '.join(several(facts, 'choices'))}"
        if "choices" in facts
        else "say it in a word or two"
    ),
    "word_too_long": lambda facts: f"at most {count(facts, 'most')} characters",
    "note_too_long": lambda facts: f"a note has at most {count(facts, 'most')} characters",
    # Calibrations.
    "labels_break_rules": lambda facts: (
        f"Hard rules that labels break: {count(facts)}; they are used as given."
    ),
    "labels_adjudicated": lambda facts: (
        f"Labels that an adjudicator decided: {count(facts)}; what others said of these is not "
        "used."
    ),
    "label_ties": lambda facts: f"Ties between annotators: {count(facts)}; they count for nobody.",
    "labels_discarded": lambda facts: (
        f"Labels that people discarded: {count(facts)}; they are not used."
    ),
    "labelled_in_part": lambda facts: (
        f"Labelled in part: {count(facts)} of {count(facts, 'examples')} examples. What rests on "
        "every unit of an example, such as faithfulness, leaves these out; fill in all rows."
    ),
    "looked_at_once": plain(
        "The intervals are for labels looked at once. To look again as more come in costs: with "
        f"{argument('anytime', True)} the mean of the labels has an interval that holds all the "
        "same."
    ),
    "labelled_without_score": lambda facts: (
        f"no score of the judge for {counted(facts, 'labelled example')}."
    ),
    "labels_not_given": lambda facts: (
        f"people left {count(facts)} of {count(facts, 'asked')} examples open. The labels' "
        f"mean would be {facts['worst']} if these were as bad as can be, {facts['best']} if as "
        "good: believe an interval only if chance left them open."
    ),
    "people_are_the_judge": lambda facts: (
        f"in the run itself people judged {count(facts)} of the labelled examples, so there "
        f"is no judge to check. Evaluate with {argument('judge', 'local')}, or a model."
    ),
    "judges_mean_differs": lambda facts: (
        f"the judge's mean is {facts['labelled']} where people labelled, {facts['others']} "
        "elsewhere"
    ),
    "only_some_labelled": _only_some_labelled,
    "share_differs": lambda facts: (
        f"{facts['labelled']} % of the labelled rows are of {_of_field(facts, facts['value'])}, "
        f"{facts['others']} % of the others"
    ),
    # Samples.
    "undefined_not_drawn": lambda facts: (
        f"{counted(facts, 'example')} for which {facts['metric']} is undefined "
        f"{'is' if facts['n'] == '1' else 'are'} not drawn: a label would tell nothing."
    ),
    "stratum_of_one": plain(
        "A stratum of which one unit is drawn cannot tell how much it varies: take a larger "
        f"{argument('n')} or fewer strata."
    ),
    "errors_not_known": plain(
        "These widths assume that the judge errs equally everywhere, as no label yet shows where. "
        f"Labels of a first sample do: {argument('people', 'FILE')}."
    ),
    "narrower_design": lambda facts: (
        f"For the mean {argument('by', facts['by'])} is expected to be "
        f"{float(facts['less']):.0%} narrower."
    ),
    "verdicts_agree": lambda facts: (
        f"They agree on {count(facts)} of {count(facts, 'examples')} examples; these are drawn, "
        "too, less often."
    ),
    "no_score_to_go_by": lambda facts: (
        f"{counted(facts, 'example')} without a score to go by "
        f"{_verb(facts, 'count')} as the least telling."
    ),
    "no_row": _no_row,
    "no_translation": lambda facts: (
        f"No guideline in {facts['language']} for {', '.join(several(facts, 'kinds'))}: "
        "the English one is given."
    ),
}


def judges_named(names: Iterable[str]) -> str:
    """The judges as a sentence names them.

    >>> judges_named(["local:strings", "openai:gpt-5,azure:gpt-5"])
    'the local judge and a panel of 2 models'
    """
    *others, last = dict.fromkeys(map(_judge_named, names)) or [""]
    return " and ".join(filter(None, [", ".join(others), last]))


def _judge_named(name: str) -> str:
    if name == HUMAN:
        return "people"
    if name.partition(":")[0] == LOCAL:
        return "the local judge"
    members = name.count(",") + 1
    return name if members == 1 else f"a panel of {members} models"


def judges_checked(found: "CheckedRun") -> str:
    """Who judged these metrics, and whether labels checked them; empty if nobody did."""
    judges = judges_named(found.judges)
    if not found.metrics:
        return judges
    if found.lacks == NO_LABEL:
        return f"{judges}, which no label has checked here"
    return f"{judges}, {badge(found)}"


def badge(found: "CheckedRun") -> str:
    """Whether labels checked the judges, on which metrics, or what is missing."""
    if not found.metrics:
        return "no metric rests on a judge's opinion"
    if found.lacks is not None:
        why = "" if found.lacks == NO_LABEL else f": {_lack(found.lacks)}"
        return f"not checked against people{why}"
    earned, of = found.earned, len(found.metrics)
    if len(earned) < 2:
        return f"checked against people on {''.join(map(short_name, earned))}"
    return f"checked against people on {len(earned)} of {of} metrics"


def whose_numbers(checked: Mapping[str, "CheckedRun"]) -> str:
    """Whose numbers are compared, and whether labels checked them."""
    said: dict[str, list[str]] = {}
    for name, found in checked.items():
        said.setdefault(numbers_of(found), []).append(name)
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in said.items())


def numbers_of(found: "CheckedRun") -> str:
    """Whose numbers they are, and whether labels checked them; it says so where no judge's are."""
    if found.metrics:
        return judges_checked(found)
    return f"{judges_named(found.judges) or 'counted or measured'}; no judge's opinion is in them"


def corrected(mean: "CorrectedMean | None", *, percent: bool = False) -> str:
    """A mean that labels corrected, with its interval; empty without one."""
    return "" if mean is None else f"{with_interval(mean, percent=percent)} corrected by people"


def with_interval(mean: "CorrectedMean", *, percent: bool = False) -> str:
    """A mean and the ends of its interval."""
    value = number(mean.value, percent=percent)
    return f"{value} ({ends(mean.low, mean.high, percent=percent)})"


NO_LABEL = "no_label_checked"


def _lack(text: str) -> str:
    lack = Reason.read(text)
    return ANALYSIS_SENTENCES[lack.code](lack.facts)
