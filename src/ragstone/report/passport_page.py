"""Passport page: what is known of a judge, as Markdown to keep beside the numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.inert import markdown

from .figures import counted, ends, number

if TYPE_CHECKING:
    from ragstone.decisions import Passport


FIGURES = ("accuracy", "sensitivity", "specificity", "kappa", "auroc", "ece")
ENDS = ("low", "high")


def passport_markdown(passport: "Passport") -> str:
    """The passport as a Markdown page."""
    told = passport.to_dict()
    return "\n".join([*_head(told), *_estimates(told), *_agreement(told), *_steadiness(told)])


def _head(told: Mapping[str, Any]) -> Iterator[str]:
    judge = told["judge"]
    yield f"# Passport of the judge {markdown(', '.join(judge['judges']) or '(nobody)')}"
    yield ""
    yield f"`{told['id']}`, checked on {told['date']}. Void as soon as a model, a prompt or the"
    yield "plan changes: `ragstone calibrate RUN --passport judge_passport.json` says whether it"
    yield "holds."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| data | {markdown(told['source'])} `{told['data'][:12]}` |"
    yield (
        f"| labels | {counted(told['n_examples'], 'example')}, "
        f"{counted(told['annotators'], 'annotator')}, "
        f"`{told['labels'][:12]}` |"
    )
    for name, models in judge["models"].items():
        yield f"| model | {markdown(name)}: {markdown(', '.join(models))} |"
    for name, version in judge["prompts"].items():
        yield f"| prompt | {markdown(name)} `{version}` |"
    if judge["plan"]:
        yield f"| plan | {markdown(judge['plan'])} |"
    for part in judge["local"]:
        yield f"| local | {markdown(part)} |"
    yield ""


def _estimates(told: Mapping[str, Any]) -> Iterator[str]:
    if not told["estimates"]:
        return
    yield "## Corrected by people"
    yield ""
    yield "| metric | judge | labels alone | corrected | labels | worth |"
    yield "|---|---|---|---|---|---|"
    for one in told["estimates"]:
        ways = (_with_ends(one[way]) for way in ("judge", "labels", "corrected"))
        worth = one["corrected"]["effective_labels"]
        yield (
            f"| {markdown(one['metric'])} | {' | '.join(ways)} | "
            f"{one['corrected']['n_labels']:,} | "
            f"{'–' if worth is None else f'{worth:,.0f}'} |"
        )
    yield ""


def _agreement(told: Mapping[str, Any]) -> Iterator[str]:
    if not told["agreement"]:
        return
    yield "## Against people, unit by unit"
    yield ""
    yield "| label | n | worth | agree | sensitivity | specificity | κ | AUROC | ECE |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in told["agreement"]:
        figures = " | ".join(
            _with_ends({"value": one[name], **{end: one[f"{name}_{end}"] for end in ENDS}})
            for name in FIGURES
        )
        sizes = f"{one['n']:,} | {one['effective']:,.0f}"
        label = markdown(f"{one['kind']}.{one['column']}")
        yield f"| {label} | {sizes} | {figures} |"
    yield ""
    yield "Worth: as many labels drawn at random. Where labels were drawn with unequal chances,"
    yield "each counts as one over its own."
    yield ""


def _steadiness(told: Mapping[str, Any]) -> Iterator[str]:
    yield "## Steadiness"
    yield ""
    yield "| | share of words that changed |"
    yield "|---|---|"
    yield f"| asked again | {_rates(told['flips'])} |"
    yield f"| order of two answers | {_rates([told['order']] if told['order'] else [])} |"
    yield f"| injected instructions | {_rates(told['injection'])} |"
    yield ""


def _rates(rates: Sequence[Mapping[str, Any]]) -> str:
    if not rates:
        return "not measured"
    return "; ".join(f"{markdown(one['what'])} {_with_ends(one)}, n {one['n']:,}" for one in rates)


def _with_ends(part: Mapping[str, Any]) -> str:
    if part["value"] is None:
        return "–"
    if part["low"] is None:
        return number(part["value"])
    return f"{number(part['value'])} [{ends(part['low'], part['high'])}]"
