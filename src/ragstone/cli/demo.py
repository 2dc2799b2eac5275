"""Demo command: shows on 30 bundled questions what Ragstone does, up to a day of production."""

import json
import shlex
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragstone.core.errors import InputError, RunConflict

from .options import with_server
from .output import say, say_address

if TYPE_CHECKING:
    from ragstone.run import Run
    from ragstone.web.security import ServerAddress

LABELLED, TO_LABEL = "written-for-the-demo", "yours"
INSTRUCTIONS = (
    "The labels of annotator-1 and annotator-2 were written by Ragstone's authors for the demo. "
    "Nobody else was asked."
)
# What the gate asks of the second version, and how much worse than the first it may be; the
# comparison takes a smaller difference for none.
BAR, MARGIN = "faithfulness >= 0.8", 0.05
# A day of production in seconds, and its answers, the second half of them by the second version.
DAY, ANSWERS = 86_400.0, 120


@with_server(8421)
def demo(folder: Path = Path("runs"), *, no_browser: bool = False, at: "ServerAddress") -> None:
    """Show on bundled answers what Ragstone does, and open it in the browser.

    Three systems answer 30 questions, one of them in two versions. Everything is evaluated, the
    versions are compared, the second one is gated, labels correct the judge, and a day of
    production is watched. The answers, their planted faults and the labels were written by
    Ragstone's authors. No key and no network are needed.

    Exit status: 0 stopped, 2 the folder has other runs of these names, or the port is taken.

    Args:
        folder ([DIR]): Folder for the runs demo and demo-2, the labels and the monitor's store.
        no_browser: Only print the address.
    """
    from concurrent.futures import ThreadPoolExecutor

    from ragstone import analysis
    from ragstone.analysis.summaries.run_summary import summarise
    from ragstone.annotation.queue.labels_store import FILE as LABELS
    from ragstone.data.demo import CHANGED
    from ragstone.report.page import plain
    from ragstone.report.pages.release_gate_page import gate_page
    from ragstone.report.sentences.judge_words import calibration_sentences
    from ragstone.report.sentences.run_words import between_two, summary_sentences
    from ragstone.web import entry_points

    entry_points.check_address(at)
    folder.mkdir(parents=True, exist_ok=True)
    say("Evaluating, comparing, labelling, gating and watching 120 answers …", err=True)
    first, second = _evaluated(folder, 1), _evaluated(folder, 2)
    # Making a day of production mostly means waiting for the disk.
    with ThreadPoolExecutor(1) as beside:
        watched = beside.submit(watch_a_day, folder / "monitor")
        _label(folder, first, second)
        checked = analysis.calibrate(first, f"{folder / LABELS}#{LABELLED}")
        checked.passport.write(first.path)
        comparisons = analysis.compare(second, first, margin=MARGIN).comparisons
        gate = analysis.gate(
            second, [BAR], no_worse_than=[f"{first.path}:{MARGIN}"], only=["faithfulness"]
        )
        watched.result()
    say(" ".join(summary_sentences(summarise(first))[:2]))
    say(f"Can the judge be believed? {plain(calibration_sentences(checked))}")
    say(f"The second version of {CHANGED}: {between_two(comparisons)}")
    say(f"May it be released? {gate_page(second, gate, {}).said}.")
    say(f"A day of production: ragstone monitor serve --store {shlex.quote(f'{folder}/monitor')}")
    entry_points.view(
        folder, at=at, browser=not no_browser, told=lambda port: say_address(port, "All runs:")
    )


def _evaluated(folder: Path, version: Literal[1, 2]) -> "Run":
    from ragstone import evaluate
    from ragstone.data.demo import demo_records

    out = folder / ("demo" if version == 1 else f"demo-{version}")
    records = list(demo_records(version))
    try:
        return evaluate(records, judge="local:strings", by=["question_type"], out=out)
    except RunConflict as error:
        raise InputError(
            f"{out} is a run of other data. Delete it, or name another folder: ragstone demo FOLDER"
        ) from error


def _label(folder: Path, first: "Run", second: "Run") -> None:
    """Make a queue of the first version, which is labelled, and one of the second, which is not.

    The labels are those of both annotators; the second queue is for whoever tries the demo.
    """
    from ragstone.analysis import annotate
    from ragstone.annotation.queue.form import ItemAnswers
    from ragstone.annotation.queue.labels_store import open_labels
    from ragstone.annotation.queue.queue import Queue, queues
    from ragstone.data.demo import ANNOTATORS, demo_label

    database = open_labels(folder)
    # If the folder was moved, its queues still name the old path, so they are looked up by name.
    names = {form.name for form in queues(database)}
    if LABELLED not in names:
        annotate(
            first.path, database, metric="faithfulness", name=LABELLED, per_item=2, together=True,
            instructions=INSTRUCTIONS,
        )  # fmt: skip
    if TO_LABEL not in names:
        annotate(second.path, database, metric="unsupported_claim", n=10, name=TO_LABEL)
    queue = Queue(database, LABELLED)
    [asked] = queue.form.asked
    for annotator in ANNOTATORS:
        queue.invite(annotator)
        item = queue.next(annotator)
        while item is not None:
            labels: dict[tuple[str, str], dict[str, str]] = {
                (part.unit, part.name): {asked.label: demo_label(annotator, item.id, part.text)}
                for part in item.parts
            }
            item = queue.save(annotator, item.item, ItemAnswers(labels), str(item.item))


def watch_a_day(store: Path) -> None:
    """Make a day of production, unless it is there: each answer is checked, and judged.

    It is made under another name and then renamed, so a store that is there is complete.
    """
    if store.exists():
        return
    unfinished = store.with_name(f"{store.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    from ragstone.data.demo import CHANGED, demo_records
    from ragstone.monitor.intake.store_sender import StoreSender
    from ragstone.monitor.settings import DEFAULTS
    from ragstone.monitor.store.store import open_store
    from ragstone.monitor.worker import MonitorWorker

    records = [
        [record for record in versions if record["system"] == CHANGED]
        for versions in (demo_records(1), demo_records(2))
    ]
    began, half, lines = time.time() - DAY, ANSWERS // 2, []
    for number in range(ANSWERS):
        of_version = records[number // half]
        record = of_version[number % len(of_version)]
        fields = {name: record[name] for name in ("question", "answer", "contexts")}
        fields |= {"version": f"v{number // half + 1}", "at": began + number * DAY / ANSWERS}
        lines.append(json.dumps(fields).encode())
    sender = StoreSender(str(unfinished))
    sender.send(lines, dropped=0)
    sender.close()
    opened = open_store(unfinished)
    try:
        # A minute from now: an answer is judged only once its trace is complete.
        settings = DEFAULTS.with_options(judges=(), rate=1.0)
        worker = MonitorWorker(opened, settings, now=lambda: time.time() + 60)
        while worker.step() + worker.judge():
            pass
    finally:
        opened.close()
    unfinished.rename(store)
