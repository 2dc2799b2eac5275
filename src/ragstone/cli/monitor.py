"""Monitor commands: serve, backfill, erase, status and export for a system in production.

Args:
    until (T): Up to this time. Default: now.
    store (STORE): Where everything is kept: a folder, or an address postgresql://…
    yes (-y): Do it without asking.
"""

import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.core.escape import single_line

from . import options
from .monitor_alarms import alarms, resolve, rules, silence
from .monitor_doctor import doctor
from .output import Grouped, agreed, group, guarded, print_json, say, say_address

if TYPE_CHECKING:
    from ragstone.web.security import ServerAddress


@options.with_server(8431)
def serve(
    *,
    store: str = "monitor",
    send_token: Annotated[str, {"envvar": "RAGSTONE_SEND_TOKEN", "show_envvar": False}] = "",
    send_tokens: Path | None = None,
    rules: Path | None = None,
    judge: list[str] | None = None,
    sample: float | None = None,
    tail: list[Path] | None = None,
    at: "ServerAddress",
) -> None:
    """Take traces over OTLP, judge a sample, raise alarms, and show it all in a browser.

    Prints its address, then nothing more: its log is in the store and on the page Log.
    OTLP needs the extra otlp. Ctrl+C or SIGTERM ends it; what was acknowledged is kept.

    Exit status: 0 stopped, 2 wrong settings, a store that cannot be used, or a port that is taken.

    Args:
        send_token (TOKEN): Token that apps must send with; it opens no page. RAGSTONE_SEND_TOKEN
            may hold it instead. Default: none while only this machine can connect; otherwise one
            is made and printed.
        send_tokens (FILE): A token for each app: ragstone monitor token FILE APP makes one.
        rules (FILE): Settings in TOML: what is judged, and what alarms are raised for.
        judge (NAME): Who judges, instead of FILE's judges; repeatable. Default: the local judge.
        sample (P): Probability that an answer is judged, instead of the rate in FILE. Default: 0.1.
        tail (FILE.jsonl): Also read this file of JSON lines as it grows, even after it is rotated;
            repeatable.
    """
    from ragstone.web.monitor_server import serve_monitor

    from .monitor_doctor import OTLP, reads_otlp

    if not reads_otlp():
        say(f"Only examples are read. To read traces in OTLP too: pip install {OTLP}", err=True)
    serve_monitor(
        store,
        at=at,
        send_token=send_token,
        send_tokens=send_tokens,
        rules=rules,
        judge=judge or (),
        sample=sample,
        tail=tail or (),
        told=lambda served: say_address(served, "Ragstone monitors at"),
    )


def backfill(
    *,
    since: str,
    sample: float,
    until: str | None = None,
    store: str = "monitor",
    rules: Path | None = None,
    judge: list[str] | None = None,
    yes: bool = False,
    json: bool = False,
) -> None:
    """Have answers of a past window judged, after it was said how many and for how much.

    The worker of ragstone monitor serve judges them within its budget an hour.

    Exit status: 0 they are due, or there is nothing to judge, 1 not agreed to, 2 no such store or
    window.

    Args:
        since (T): From this time on: 2026-11-23, 2026-11-23T16:20 (UTC), or 24h for a day ago.
        sample (P): The probability with which each answer is drawn, from .05 to 1.
        rules (FILE): TOML file that says what is judged, and by whom; the one that serve has.
        judge (JUDGE): As with serve, for the price.
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
    with closing(open_store(store, make=False, writes=True)) as opened:
        plan = plan_backfill(opened, judging, begin, end, sample)
        if not json:
            say(
                f"{counted(plan.answers, 'answer')}, {plan.drawn:,} of them drawn before. "
                f"{plan.to_judge:,} more would be judged, {_price(plan.calls, plan.usd)}."
            )
        begins = not plan.to_judge or agreed("Begin?", yes=yes, json=json)
        due = begin_backfill(opened, plan) if begins and plan.to_judge else 0
    if json:
        print_json({**plan.to_dict(), "due": due})
    elif begins:
        say(f"Now due: {counted(due, 'answer')}.")
    if not begins:
        raise typer.Exit(1)


def erase(
    *,
    session: str = "",
    user: str = "",
    store: str = "monitor",
    yes: bool = False,
    json: bool = False,
) -> None:
    """Erase everything that is known of a conversation or a user.

    Traces, answers, scores, judgements, people's labels of them, links in alarms and what is kept
    while judging; the bytes are gone from the files. It cannot be undone.

    Exit status: 0 gone, 1 not agreed to, 2 no such store, or nobody named.

    Args:
        session (ID): All traces of this conversation.
        user (ID): All traces of this user, as they name them.
    """
    from ragstone.monitor import erase, open_store
    from ragstone.monitor.duties.erasure import require_person_or_session
    from ragstone.report.number_format import counted

    require_person_or_session(session, user)
    names = (("session", session), ("user", user))
    what = " and of ".join(f"{name} {single_line(id)}" for name, id in names if id)
    question = f"Everything of {what} goes, and cannot be brought back. Go on?"
    with closing(open_store(store, make=False, writes=True)) as opened:
        if not agreed(question, yes=yes, json=json):
            raise typer.Exit(1)
        gone = erase(opened, session=session or None, user=user or None)
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


def token(file: Path, app: str = "", *, revoke: bool = False) -> None:
    """Make a token with which an app may send traces, and do nothing else; or take it back.

    The token is printed once, because the file keeps only its hash. If the app already has a
    token, the new one replaces it. A running server applies the change at once.

    Exit status: 0 done, 2 there is no such app, or FILE is not a file of send tokens.

    Args:
        file (FILE): File of send tokens, as given to serve --send-tokens; it is created if it does
            not exist.
        app ([APP]): The name of an app. Default: list all.
        revoke: Take its token back.
    """
    from ragstone.monitor.intake import send_tokens

    if not app:
        for name in send_tokens.read_send_tokens(file):
            say(name)
    elif revoke:
        send_tokens.revoke_send_token(file, app)
    else:
        say(send_tokens.new_send_token(file, app))


def status(*, store: str = "monitor", json: bool = False) -> None:
    """Show whether everything follows from what came: what was kept, checked, judged, and is late.

    Exit status: 0 shown, 2 no such store.
    """
    from ragstone.monitor import monitor_status, open_store

    from .monitor_doctor import standing

    now = time.time()
    with closing(open_store(store, make=False)) as opened, opened.database.reading() as run:
        figures = monitor_status(run, now)
    if json:
        print_json(figures.to_dict())
        return
    for name, words in standing(figures, now):
        say(f"{name:<14}{words}")


def export(
    *,
    out: Path,
    store: str = "monitor",
    since: str | None = None,
    until: str | None = None,
    json: bool = False,
) -> None:
    """Write the answers of a window to a data set: ragstone evaluate FILE.jsonl reads it.

    Exit status: 0 written, 2 no such store, or the file cannot be written.

    Args:
        out (FILE.jsonl): File to write; its folder is made where it is missing.
        since (T): From this time on: 2026-11-23, 2026-11-23T16:20 (UTC), or 24h for a day ago.
            Default: from the beginning.
    """
    from ragstone.monitor import export as write
    from ragstone.monitor import open_store
    from ragstone.monitor.settings.settings_table import read_moment

    now = time.time()
    begin = 0.0 if since is None else read_moment(since, "since", now)
    end = now if until is None else read_moment(until, "until", now)
    with closing(open_store(store, make=False)) as opened:
        n = write(opened, out, since=begin, until=end)
    if json:
        print_json({"file": str(out), "examples": n})
        return
    say(f"Wrote {n:,} answers to {out}. Next: ragstone evaluate {out}")


monitor = group(Grouped, "Watch a system in production, and hear when it gets worse.")
for command in (
    serve, doctor, alarms, resolve, silence, rules, backfill, erase, token, status, export,
):  # fmt: skip
    monitor.command(command.__name__)(guarded(options.described(command)))
