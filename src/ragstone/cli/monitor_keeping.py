"""``ragstone monitor backfill`` and ``forget``: what is judged later, and what goes."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ragstone.core.escape import on_one_line

from . import options
from .asking import agreed
from .output import print_json, say

Store = Annotated[
    str,
    typer.Option("--store", metavar="STORE", help="Where everything is kept: a folder, or an "
                 "address postgresql://…"),
]  # fmt: skip
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Since = Annotated[
    str,
    typer.Option("--since", metavar="T", help="From this time on: 2026-11-23, 2026-11-23T16:20 "
                 "(UTC), or 24h for a day ago."),
]  # fmt: skip
Until = Annotated[
    str | None, typer.Option("--until", metavar="T", help="Up to this time. Default: now.")
]
Sample = Annotated[
    float,
    typer.Option("--sample", metavar="P", help="The probability with which each answer is drawn, "
                 "from .05 to 1."),
]  # fmt: skip
Rules = Annotated[
    Path | None,
    typer.Option("--rules", metavar="FILE", help="TOML file that says what is judged, and by whom; "
                 "the one that serve has."),
]  # fmt: skip
Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", metavar="JUDGE", help="As with serve, for the price."),
]
Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="All traces of this conversation.")
]
User = Annotated[
    str, typer.Option("--user", metavar="ID", help="All traces of this user, as they name them.")
]


def backfill(
    since: Since,
    sample: Sample,
    until: Until = None,
    store: Store = "monitor",
    rules: Rules = None,
    judge: Judges = None,
    yes: Yes = False,
    json: options.Json = False,
) -> None:
    """Have answers of a past window judged, after it was said how many and for how much.

    The worker of ragstone monitor serve judges them within its budget an hour.

    Exit status: 0 they are due, or there is nothing to judge, 1 not agreed to, 2 no such store or
    window.
    """
    from ragstone.monitor import begin_backfill, open_store, plan_backfill
    from ragstone.monitor.settings import DEFAULTS, read_settings
    from ragstone.monitor.settings.settings_table import read_moment
    from ragstone.report.number_format import counted

    settings = DEFAULTS if rules is None else read_settings(rules)
    judging = settings.with_options(judges=tuple(judge or ())).judging
    now = time.time()
    begin = read_moment(since, "since", now)
    end = now if until is None else read_moment(until, "until", now)
    opened = open_store(store, make=False, writes=True)
    try:
        plan = plan_backfill(opened, judging, begin, end, sample)
        if not json:
            say(
                f"{counted(plan.answers, 'answer')}, {plan.drawn:,} of them drawn before. "
                f"{plan.to_judge:,} more would be judged, {_price(plan.calls, plan.usd)}."
            )
        begins = not plan.to_judge or agreed("Begin?", yes=yes, json=json)
        due = begin_backfill(opened, plan) if begins and plan.to_judge else 0
    finally:
        opened.close()
    if json:
        print_json({**plan.to_dict(), "due": due})
    elif begins:
        say(f"Now due: {counted(due, 'answer')}.")
    if not begins:
        raise typer.Exit(1)


def forget(
    session: Session = "",
    user: User = "",
    store: Store = "monitor",
    yes: Yes = False,
    json: options.Json = False,
) -> None:
    """Remove everything that is known of a conversation or a user.

    Traces, answers, scores, judgements, people's labels of them, links in alarms and what is kept
    while judging; the bytes are gone from the files. It cannot be undone.

    Exit status: 0 gone, 1 not agreed to, 2 no such store, or nobody named.
    """
    from ragstone.monitor import forget as remove
    from ragstone.monitor import open_store
    from ragstone.monitor.duties.erasure import require_somebody
    from ragstone.report.number_format import counted

    require_somebody(session, user)
    named = (("session", session), ("user", user))
    what = " and of ".join(f"{name} {on_one_line(id)}" for name, id in named if id)
    question = f"Everything of {what} goes, and cannot be brought back. Go on?"
    opened = open_store(store, make=False, writes=True)
    try:
        if not agreed(question, yes=yes, json=json):
            raise typer.Exit(1)
        gone = remove(opened, session=session or None, user=user or None)
    finally:
        opened.close()
    if json:
        print_json(asdict(gone))
        return
    say(
        f"Gone: {counted(gone.traces, 'trace')}, {counted(gone.examples, 'answer')}, "
        f"{counted(gone.labelled, 'item')} of queues, {counted(gone.malformed, 'piece')} put aside."
    )
    if gone.in_work:
        say("Some are being judged at this moment: their texts go as soon as that ends.")


def _price(calls: int, usd: float | None) -> str:
    if not calls:
        return "which asks no model"
    cost = "at a price that is not known" if usd is None else f"for about {usd:,.2f} US dollars"
    return f"with about {calls:,} calls of models, {cost}"
