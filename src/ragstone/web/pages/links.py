"""Links: a person comes by a link of their own, and leaves."""

from collections.abc import Mapping

from ragstone.web.asked import Asked, queue_path
from ragstone.web.door import PERSON
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import Elsewhere, NotThere, WebPage


def come(place: RunsFolder, asked: Asked) -> Elsewhere:
    """Keep a person's token in their browser, and show what they label.

    Raises:
        NotThere: Nobody has this token, or no longer.
    """
    token = asked.names["token"]
    person = place.person(token)
    if person is None:
        raise NotThere(
            "This link opens nothing: it was taken back, replaced by a newer one, or not copied "
            "whole.\nAsk whoever sent it to you for a new link. What you saved is kept."
        )
    return Elsewhere(queue_path(person.queue), {PERSON: (token, "/")})


def leave(_place: RunsFolder, _asked: Asked, _form: Mapping[str, str]) -> WebPage:
    """Forget the link that this browser keeps."""
    lines = ["This browser no longer has your link.", "To go on, open the link again."]
    return WebPage("refused.html", "Forgotten", {"lines": lines}, cookies={PERSON: ("", "/")})
