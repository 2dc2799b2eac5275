"""Visitor: who a request comes from, and which addresses are theirs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.annotation.queue.form import Role

SEATS = "/a/"
"""What the path of a person's link begins with."""

LEAVE = f"{SEATS}leave"
"""Where a browser is made to forget a person's link."""


@dataclass(frozen=True, slots=True)
class SeatedPerson:
    """Somebody who came by a link of their own to label a queue.

    Attributes:
        queue: Its name.
        name: Theirs.
        role: What they do there.
    """

    queue: str
    name: str
    role: "Role"

    def reaches(self, path: str) -> bool:
        """Whether an address is one of theirs.

        >>> SeatedPerson("one", "Ann", "annotator").reaches("/annotate/one/7")
        True
        >>> SeatedPerson("one", "Ann", "annotator").reaches("/annotate/two")
        False
        """
        match path.split("/"):
            case ["", "annotate", self.queue]:
                return True
            case ["", "annotate", self.queue, item] if _whole(item):
                return True
            case ["", "annotate", self.queue, "adjudicate"]:
                return self.role == "adjudicator"
            case ["", "annotate", self.queue, "adjudicate", item] if _whole(item):
                return self.role == "adjudicator"
        return False


def _whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who a request comes from.

    Attributes:
        owner: Whether the whole app is theirs.
        person: Who came by a link of their own; None if nobody did, or the owner's page is shown.
    """

    owner: bool = False
    person: SeatedPerson | None = None
