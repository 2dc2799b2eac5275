"""Checked run: who judged the metrics of a run, and what people's labels show about these judges.

Whether labels are enough to believe a number is said here once, for all screens.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.messages import Reason, reason
from ragstone.judgements import ASKS
from ragstone.judges.judge import HUMAN, RULES
from ragstone.metrics import asks_of
from ragstone.run.estimates.sums import QUESTION
from ragstone.run.folder.folder import judges_with_rows
from ragstone.run.folder.schemas import Manifest
from ragstone.stats.correction.corrected import FEW_CLUSTERS, FEW_LABELS

from .judge_identity import NAME, changes, identity, judge_kind, read_passport

# Labels that in nine of ten draws show a judge with a κ of .4 to agree beyond chance, and a few
# more: (1.96 + 1.28)² · .84 / .16 = 55, where people say yes as often as no.
ENOUGH = 60


FEW_CHECKED = "few_labels_checked"
# Why the labels of a metric do not correct its mean, or do so too roughly.
NOT_ENOUGH = (FEW_CHECKED, "few_clusters_checked", "labels_do_not_correct")


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A metric's mean in one group, corrected by people's labels, of ``n_judged`` answers."""

    value: float
    low: float
    high: float
    n_labels: int
    n_judged: int


@dataclass(frozen=True, slots=True)
class CheckedMetric:
    """The evidence of people's labels about the judges of one metric.

    Attributes:
        judges: Whose opinions the metric is made of, people's aside.
        kappa: How far judge and people agree beyond chance; None where it is not known.
        lacks: Why the judges are not to be believed on it, as a reason; None: they are.
        corrected: The corrected means of all answers, and of groups; none from too few labels.
    """

    judges: tuple[str, ...]
    labels: int
    kappa: float | None
    lacks: str | None
    corrected: tuple[tuple[Mapping[str, str], CorrectedMean], ...] = ()
    asks: frozenset[str] = frozenset()

    @property
    def few(self) -> bool:
        """True if people labelled it, but the labels do not correct its mean well enough."""
        return self.lacks is not None and Reason.read(self.lacks).code in NOT_ENOUGH

    def to_dict(self) -> dict[str, Any]:
        return {
            "judges": list(self.judges),
            "labels": self.labels,
            "kappa": self.kappa,
            "checked": self.lacks is None,
            "lacks": self.lacks,
        }


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """The evidence of people's labels about a run's judges, by the metrics made of their opinions.

    What is counted or measured is no opinion, and what people labelled themselves needs no check.
    ``labels`` is how many answers people labelled, ``systems`` how many gave them, ``people`` the
    metrics that people judged, alone or beside others.
    """

    metrics: Mapping[str, CheckedMetric]
    labels: int = 0
    systems: int = 1
    people: tuple[str, ...] = ()

    @property
    def earned(self) -> tuple[str, ...]:
        """The metrics on which the judges are checked."""
        return tuple(name for name, metric in self.metrics.items() if metric.lacks is None)

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges, people first."""
        others = (name for metric in self.metrics.values() for name in metric.judges)
        return tuple(dict.fromkeys([*([HUMAN] if self.people else []), *others]))

    @property
    def lacks(self) -> str | None:
        """Why the judges are not to be believed on any metric; None where they are on some."""
        if self.earned or not self.metrics:
            return None
        lacks = max(self.metrics.values(), key=lambda metric: metric.labels).lacks or ""
        few = self.labels < ENOUGH and Reason.read(lacks).code == FEW_CHECKED
        return reason(FEW_CHECKED, n=self.labels, enough=ENOUGH) if few else lacks

    def on(self, metrics: Collection[str]) -> "CheckedRun":
        """The same for some of the metrics alone."""
        chosen = {metric: checked for metric, checked in self.metrics.items() if metric in metrics}
        people = tuple(metric for metric in self.people if metric in metrics)
        return replace(self, metrics=chosen, people=people)

    def resting_on(self, metrics: Collection[str]) -> "CheckedRun":
        """The same for some of the metrics, and for all that are made of their judgements alone.

        Labels of either check the same judges.
        """
        chosen = self.on(metrics).metrics.values()
        asks = frozenset[str]().union(*(metric.asks for metric in chosen))
        also = (name for name, each in self.metrics.items() if each.asks and each.asks <= asks)
        return self.on({*metrics, *also})

    def of_system(self, system: str) -> "CheckedRun":
        """The same for one system alone, whose corrected means then are the whole's."""
        metrics = {}
        for metric, checked in self.metrics.items():
            mean = self.corrected(metric, {"system": system})
            metrics[metric] = replace(checked, corrected=(({}, mean),) if mean else ())
        return replace(self, metrics=metrics, systems=1)

    def to_dict(self) -> dict[str, Any]:
        """By metric, as plain data."""
        return {metric: checked.to_dict() for metric, checked in self.metrics.items()}

    def corrected(self, metric: str, group: Mapping[str, str]) -> CorrectedMean | None:
        """The corrected mean of a metric in a group; None if there is none."""
        means = self.metrics[metric].corrected if metric in self.metrics else ()
        key = {} if self.systems == 1 and set(group) == {"system"} else group
        return next((mean for of, mean in means if of == key), None)


def checked_against_people(folder: Path, form: Manifest) -> CheckedRun:
    """Check a run's judges by the passport in its folder.

    The judges of a metric are checked if as many answers are labelled as the correction needs, its
    mean is corrected, and the interval of κ is above 0.
    """
    estimates: Sequence[Mapping[str, Any]] = ()
    labels, lacks = 0, "no_label_checked"
    file = folder / f"{NAME}.json"
    if file.is_file():
        try:
            passport = read_passport(file)
        except InputError:
            lacks = "passport_unreadable"
        else:
            same = passport.data == form.settings.data
            if same and not changes(passport.judge, identity(form)):
                estimates, labels = passport.estimates, passport.n_examples
            else:
                lacks = "passport_void"
    return checked_by(estimates, folder, form, labels=labels, lacks=lacks)


def checked_by(
    estimates: Sequence[Mapping[str, Any]],
    folder: Path,
    form: Manifest,
    *,
    labels: int,
    lacks: str = "no_label_checked",
) -> CheckedRun:
    """Check a run's judges by corrected estimates, as plain data."""
    judges, metrics, people = _judges(folder, form), {}, []
    for metric in form.metrics:
        asks = asks_of(metric).intersection(judges)
        names = list(dict.fromkeys(name for ask in judges if ask in asks for name in judges[ask]))
        if HUMAN in names:
            people.append(metric)
        if others := tuple(name for name in names if name != HUMAN):
            of_metric = [estimate for estimate in estimates if estimate["metric"] == metric]
            metrics[metric] = replace(_checked(others, of_metric, lacks, form), asks=asks)
    return CheckedRun(metrics, labels, form.data.systems, tuple(people))


def _judges(folder: Path, form: Manifest) -> dict[str, list[str]]:
    judges: dict[str, list[str]] = {}
    for ask, judge, status, _ in form.judged:
        is_opinion = ask in ASKS and {"people", "model"} & {*ASKS[ask].by}
        if status == "ok" and is_opinion and judge_kind(judge) not in ("ids", RULES):
            judges.setdefault(ask, []).append(judge)
    return {ask: list(_with_rows(names, ask, folder)) for ask, names in judges.items()}


def _with_rows(judges: Sequence[str], ask: str, folder: Path) -> Iterable[str]:
    """Return the judges with a row; of several, some may have found nothing of the kind.

    Where people labelled every claim, the judge after them is left with answers that make none.
    """
    if len(judges) == 1 or HUMAN not in judges:
        return judges
    try:
        having = judges_with_rows(folder, ask)
    except RagstoneError:
        # Whoever reads its rows is told of the damage.
        return judges
    return [name for name in judges if name in having]


def _checked(
    judges: tuple[str, ...], estimates: Sequence[Mapping[str, Any]], lacks: str, form: Manifest
) -> CheckedMetric:
    whole = next((estimate for estimate in estimates if not estimate["group"]), None)
    if whole is None or not whole["corrected"]["n_labels"]:
        return CheckedMetric(judges, 0, None, lacks)
    names = ("value", "low", "high", "n_labels")
    means = (
        (
            estimate["group"],
            CorrectedMean(**{name: of[name] for name in names}, n_judged=estimate["judge"]["n"]),
        )
        for estimate in estimates
        if (of := estimate["corrected"])["value"] is not None and of["low"] is not None
    )

    labels, few = whole["corrected"]["n_labels"], _too_few(whole["corrected"], form)
    kappa = whole.get("kappa", {})
    why = few or (_no_agreement(labels, kappa) if kappa else "passport_older")
    return CheckedMetric(judges, labels, kappa.get("value"), why, () if few else tuple(means))


def _too_few(corrected: Mapping[str, Any], form: Manifest) -> str | None:
    labels = corrected["n_labels"]
    if FEW_LABELS in corrected["flags"]:
        return reason(FEW_CHECKED, n=labels, enough=ENOUGH)
    if corrected["low"] is None:
        return reason("labels_do_not_correct", n=labels, why=corrected["reason"])
    if FEW_CLUSTERS in corrected["flags"]:
        questions = form.data.questions if form.cluster == QUESTION else None
        return reason("few_clusters_checked", n=labels, questions=questions)
    return None


def _no_agreement(labels: int, kappa: Mapping[str, float | None]) -> str | None:
    value, low, high = (kappa[name] for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return reason("agreement_unknown", n=labels)
    if low > 0:
        return None
    if labels < ENOUGH:
        return reason(FEW_CHECKED, n=labels, enough=ENOUGH)
    return reason("no_agreement_shown", n=labels, kappa=value, low=low, high=high)
