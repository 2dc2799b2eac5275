"""A judge that errs in one direction is corrected by people's labels of a part of what it judged.

The judge is planted: it reads labels that came with the answers, which people never see.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from ragstone.annotation.queue.form import ItemAnswers, QueueItem, answer_faults
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.monitor.duties.draw_answers import SEED, draw_answers
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.human_scores import take_labels
from ragstone.monitor.duties.judge_answers import Judging
from ragstone.monitor.duties.periodic_steps import check_answers, sum_scores, usual_guard
from ragstone.monitor.send_to_people import DRAWN, drawn_before, drawn_for_people, send_to_people
from ragstone.monitor.series.overview import CorrectedNow, monitored
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.rows import keep
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.store.stored_examples import (
    judged_probabilities,
    judgements_of,
    listed_by_ids,
)
from tests.clock import Clock
from tests.monitor.duties.arriving import receive_examples, rows
from tests.programs.postgres import PostgresServer

METRICS = JudgingSettings().metrics
ANSWERS, SENT, LABELLED = 480, 200, 140
RATES = SamplingSettings(0.45, {"language": {"de": 0.9}})
PARTS = 3
"""Claims of an answer, and contexts."""


@dataclass(frozen=True)
class Truth:
    """What is so of an answer."""

    supported: tuple[bool, ...]
    relevant: tuple[bool, ...]
    abstains: bool

    @property
    def scores(self) -> dict[str, float]:
        """The metrics by hand."""
        ranks = [at for at, one in enumerate(self.relevant, 1) if one]
        precision = [sum(self.relevant[:at]) / at for at in ranks]
        return {
            "faithfulness": sum(self.supported) / PARTS,
            "context_precision": sum(precision) / len(ranks) if ranks else 0.0,
            "abstention": float(self.abstains),
        }


def planted(rng: Random, *, worse: bool) -> Truth:
    supported, relevant, abstains = (0.5, 0.35, 0.5) if worse else (0.8, 0.6, 0.2)
    return Truth(
        tuple(rng.random() < supported for _ in range(PARTS)),
        tuple(rng.random() < relevant for _ in range(PARTS)),
        rng.random() < abstains,
    )


def too_kind(truth: Truth, rng: Random) -> Truth:
    """What the judge says: it overlooks half of what is wrong."""
    return Truth(
        tuple(one or rng.random() < 0.5 for one in truth.supported),
        tuple(one or rng.random() < 0.5 for one in truth.relevant),
        truth.abstains and rng.random() < 0.5,
    )


def answer(id: str, language: str, said: Truth) -> dict[str, object]:
    texts = [f"Point {at} holds." for at in range(PARTS)]
    return {
        "id": id,
        "question": "Which points hold?",
        "answer": " ".join(texts),
        "contexts": [{"id": f"p{at}", "text": f"On point {at}."} for at in range(PARTS)],
        "language": language,
        "labels": {
            "claims": [
                {"text": text, "support": "supported" if one else "absent"}
                for text, one in zip(texts, said.supported, strict=True)
            ],
            "contexts": [{"topically_relevant": one} for one in said.relevant],
            "response_type": "abstain" if said.abstains else "answer",
        },
    }


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Callable[[Path], str]:
    """Give a new, empty place of this kind."""
    if request.param == "sqlite":
        return str
    server: PostgresServer = request.getfixturevalue("postgres")
    return lambda _: server.schema()


@pytest.fixture
def labels(place: Callable[[Path], str], tmp_path: Path) -> Iterator[LabelDatabase]:
    with closing(open_labels(place(tmp_path))) as found:
        yield found


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def store(
    place: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MonitorStore]:
    folder = tmp_path_factory.mktemp("store")
    with closing(open_store(place(folder), folder=folder)) as found:
        yield found


@pytest.fixture(scope="module")
def truths(store: MonitorStore, clock: Clock) -> dict[str, Truth]:
    """What is so of each answer, judged or not; of which the store then has the judged ones."""
    rng, found, lines = Random(203), {}, []
    for at in range(ANSWERS):
        id, language = f"a{at:04d}", "de" if at % 4 == 0 else "en"
        found[id] = planted(rng, worse=language == "de")
        lines.append(json.dumps(answer(id, language, too_kind(found[id], rng))))
    with store.database.transaction() as run:
        keep(run, SEED, "always the same2")
    receive_examples(store, clock.at, "\n".join(lines).encode())
    Folding(store, now=clock).fold_all()
    while check_answers(store, usual_guard(), clock):
        pass
    while draw_answers(store, RATES, JudgingSettings(), clock):
        pass
    judging = Judging(store, JudgingSettings(METRICS), clock, "human")
    while judging.step():
        pass
    return found


def send(store: MonitorStore, labels: LabelDatabase, n: int) -> None:
    """Send judged answers that are drawn by chance."""
    ids = [id for (id,) in rows(store, "SELECT example FROM examples")]
    there = drawn_before(labels, METRICS)
    with store.database.reading() as run:
        drawn = drawn_for_people(judged_probabilities(run, ids), n, there)
        new = listed_by_ids(run, [id for id in drawn if id not in there])
        judgements = judgements_of(run, list(drawn))
    send_to_people(
        *(labels, new), source="here", metrics=METRICS, judgements=judgements, probabilities=drawn
    )


def label(labels: LabelDatabase, truths: Mapping[str, Truth], n: int) -> None:
    """Ann labels the next answers, each task on a screen, and always knows what is so."""
    queue = Queue(labels, DRAWN)
    if not queue.people():
        queue.invite("ann")
    item, answers = queue.next("ann"), set[str]()
    while item is not None and len(answers | {item.id}) <= n:
        answers.add(item.id)
        said = by(truths[item.id], item)
        assert answer_faults(queue.form, item, said) == []
        item = queue.save("ann", item.item, said, f"once {item.item}")
    assert len(answers) == n


def by(truth: Truth, item: QueueItem) -> ItemAnswers:
    def one(unit: str, name: str) -> dict[str, str]:
        if unit == "claim":
            return {"support": "supported" if truth.supported[int(name) - 1] else "absent"}
        if unit == "context":
            return {"topically_relevant": "yes" if truth.relevant[int(name) - 1] else "no"}
        return {"response_type": "abstain" if truth.abstains else "answer"}

    return ItemAnswers({(part.unit, part.name): one(part.unit, part.name) for part in item.parts})


def corrected(store: MonitorStore, clock: Clock) -> dict[str, CorrectedNow | None]:
    """What the first screen has of each metric."""
    while sum_scores(store):
        pass
    facts = monitored(store, DEFAULTS, clock.at + 60, metrics=METRICS)
    return {one.metric: one.corrected for one in facts.metrics}


def test_the_corrected_means_are_near_the_truth_where_the_judge_is_not(
    store: MonitorStore, clock: Clock, truths: dict[str, Truth]
) -> None:
    assert set(corrected(store, clock).values()) == {None}
    with closing(open_labels(store.place)) as labels:
        send(store, labels, SENT)
        label(labels, truths, LABELLED)
    assert take_labels(store, clock) == LABELLED
    for metric, found in corrected(store, clock).items():
        truth = sum(one.scores[metric] for one in truths.values()) / ANSWERS
        assert found is not None
        assert found.raw.value is not None
        assert found.corrected.value is not None
        assert found.corrected.n == LABELLED
        assert abs(found.raw.value - truth) > 0.1, metric
        assert abs(found.corrected.value - truth) < 0.045, metric
        assert found.corrected.low is not None
        assert found.corrected.high is not None
        assert found.corrected.low < truth < found.corrected.high


def test_a_later_draw_reaches_further_and_raises_the_probability_of_the_first(
    store: MonitorStore, labels: LabelDatabase, truths: dict[str, Truth]
) -> None:
    judged = dict(rows(store, "SELECT example, probability FROM draws WHERE state = 'judged'"))
    send(store, labels, 30)
    first = in_queue(labels)
    send(store, labels, 40)
    both = in_queue(labels)
    assert set(judged) <= set(truths)
    assert (len(first), len(both)) == (30, 70)
    reach = {round(both[id] / judged[id], 9) for id in both}
    assert len(reach) == 1
    assert reach.pop() == pytest.approx(70 / len(judged), rel=0.25)
    assert all(first[id] < both[id] for id in first)


def test_with_all_that_was_judged_the_probability_is_that_of_judging(
    store: MonitorStore, labels: LabelDatabase, truths: dict[str, Truth]
) -> None:
    judged = dict(rows(store, "SELECT example, probability FROM draws WHERE state = 'judged'"))
    send(store, labels, len(truths))
    assert in_queue(labels) == judged


def in_queue(labels: LabelDatabase) -> dict[str, float]:
    with labels.reading() as run:
        return dict(run("SELECT id, probability FROM items WHERE queue = ?", DRAWN))
