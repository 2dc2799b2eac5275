"""Links: a person comes by a link of their own, and leaves."""

from collections.abc import Mapping

from ragstone.web.asked import Asked, queue_path
from ragstone.web.door import PERSON
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import Elsewhere, WebPage


def come(place: RunsFolder, asked: Asked) -> WebPage | Elsewhere:
    """Keep a person's token in their browser, and show what they label; say so if nobody has it."""
    token = asked.names["token"]
    person = place.person(token)
    if person is None:
        lines = [
            "It was taken back, replaced by a newer one, or not copied whole.",
            "Ask whoever sent it to you for a new link. What you saved is kept.",
        ]
        return WebPage("refused.html", "This link opens nothing", {"lines": lines}, status=404)
    return Elsewhere(queue_path(person.queue), {PERSON: (token, "/")})


def leave(_place: RunsFolder, _asked: Asked, _form: Mapping[str, str]) -> WebPage:
    """Forget the link that this browser keeps."""
    lines = ["This browser no longer has your link.", "To go on, open the link again."]
    return WebPage("refused.html", "Forgotten", {"lines": lines}, cookies={PERSON: ("", "/")})
