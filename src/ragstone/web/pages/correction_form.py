"""Correction form: what a person says on an example's page replaces what a judge said."""

from collections.abc import Mapping

from ragstone.core.errors import CorrectionConflict
from ragstone.judgements import ASKS
from ragstone.report.number_format import shortened
from ragstone.web.example_rows import example_rows
from ragstone.web.page_request import Asked, Elsewhere, WebPage
from ragstone.web.parts.judgement_view import (
    NO_REASON,
    UNDO,
    Pressed,
    author_cookie,
    author_of,
    read_button,
    said_by_button,
    when,
)
from ragstone.web.runs_folder import RunsFolder

from .example_view import run_example_page, tag_of

CHANGED = "Somebody corrected this example after you opened it. This is what it says now."


def correct(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> WebPage | Elsewhere:
    """Correct a judgement, or take a correction back.

    The page again, with 409 or 412, where somebody else was quicker.

    Raises:
        InputError: Nobody is named, or it cannot be said of this judgement.
    """
    run, example = place.run(asked.names["run"]), asked.names["id"]
    pressed = read_button(form.get("say", ""))
    author = form.get("author", "").strip() or author_of(asked)
    if asked.match and asked.match not in ("*", tag_of(run.correctable(example))):
        return run_example_page(place, asked, conflict=CHANGED, status=412)
    reason = form.get(f"why {pressed.about}", "").strip()
    ask, unit, seen = pressed.ask, pressed.unit, pressed.seen or None
    try:
        if pressed.say == UNDO:
            run.undo_correction(example, ask, unit=unit, author=author, reason=reason, seen=seen)
        else:
            said = said_by_button(pressed, form.get(f"text {pressed.about}", ""))
            why = reason or NO_REASON
            run.correct(example, ask, said, unit=unit, author=author, reason=why, seen=seen)
    except CorrectionConflict as error:
        return run_example_page(place, asked, conflict=_told(error), status=409)
    # The table is going to be looked at next.
    key = ("rows", *place.stamp(asked.names["run"]))
    place.later.get(key, lambda: example_rows(run).rows, patience=0)
    back = asked.but(part=None, about=None, **{"from": None, "to": None})
    return Elsewhere(f"{back}{_place(pressed)}", author_cookie(author))


def _told(error: CorrectionConflict) -> str:
    """Who was quicker, with what, and when."""
    if error.author is None or error.at is None:
        return f"{error.unit} was judged again after you opened this page. Look at it once more."
    said = "took a correction back"
    if error.said is not None:
        words = ", ".join(shortened(str(value), 200) for value in error.said.values())
        said = f"said “{words}”"
    return (
        f"Not saved: {error.author} {said} of {error.unit} on {when(error.at)}, after you opened "
        "this page. Look at it again, and correct it if you still would."
    )


def _place(pressed: Pressed) -> str:
    """Where on the page the judgement is."""
    over = ASKS[pressed.ask].over if pressed.ask in ASKS else None
    if over is None or pressed.unit is None:
        return ""
    return f"#ctx-{pressed.unit}" if over.unit == "context" else f"#{over.unit}-{pressed.unit}"
