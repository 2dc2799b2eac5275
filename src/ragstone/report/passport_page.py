"""Passport page: what is known of a judge, as Markdown to keep beside the numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .figures import counted, ends, number

if TYPE_CHECKING:
    from ragstone.decisions import Passport


def passport_markdown(passport: "Passport") -> str:
    """The passport as a Markdown page."""
    told = passport.to_dict()
    return "\n".join([*_head(told), *_estimates(told), *_agreement(told), *_steadiness(told)])


def _head(told: Mapping[str, Any]) -> Iterator[str]:
    judge = told["judge"]
    yield f"# Passport of the judge {', '.join(judge['judges']) or '(nobody)'}"
    yield ""
    yield f"`{told['id']}`, checked on {told['date']}. Void as soon as a model, a prompt or the"
    yield "plan changes: `ragstone calibrate RUN --passport judge_passport.json` says whether it"
    yield "holds."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| data | {told['source']} `{told['data'][:12]}` |"
    yield (
        f"| labels | {counted(told['n_examples'], 'example')}, "
        f"{counted(told['annotators'], 'annotator')}, "
        f"`{told['labels'][:12]}` |"
    )
    for name, models in judge["models"].items():
        yield f"| model | {name}: {', '.join(models)} |"
    for name, version in judge["prompts"].items():
        yield f"| prompt | {name} `{version}` |"
    if judge["plan"]:
        yield f"| plan | {judge['plan']} |"
    for part in judge["local"]:
        yield f"| local | {part} |"
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
            f"| {one['metric']} | {' | '.join(ways)} | {one['corrected']['n_labels']:,} | "
            f"{'–' if worth is None else f'{worth:,.0f}'} |"
        )
    yield ""


def _agreement(told: Mapping[str, Any]) -> Iterator[str]:
    if not told["agreement"]:
        return
    yield "## Against people, unit by unit"
    yield ""
    yield "| label | n | agree | sensitivity | specificity | κ | AUROC | ECE |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in told["agreement"]:
        kappa = {"value": one["kappa"], "low": one["kappa_low"], "high": one["kappa_high"]}
        figures = [
            _figure(one["accuracy"]),
            _figure(one["sensitivity"]),
            _figure(one["specificity"]),
            _with_ends(kappa),
            _figure(one["auroc"]),
            _figure(one["ece"]),
        ]
        yield f"| {one['kind']}.{one['column']} | {one['n']:,} | {' | '.join(figures)} |"
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
    return "; ".join(f"{one['what']} {_with_ends(one)}, n {one['n']:,}" for one in rates)


def _figure(value: float | None) -> str:
    return "–" if value is None else number(value)


def _with_ends(part: Mapping[str, Any]) -> str:
    if part["value"] is None:
        return "–"
    if part["low"] is None:
        return number(part["value"])
    return f"{number(part['value'])} [{ends(part['low'], part['high'])}]"
