"""Units: what is judged of a stream at a time, complete and in order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragstone.judges.local.sentences import Sentence, each_sentence

from .arriving import ArrivingText, Text
from .ends import End, Ends, UnitKind


@dataclass(frozen=True, slots=True)
class StreamUnit:
    """A sentence, a row of a table or a block of code, with the white space and marks before it.

    Attributes:
        text: As the model wrote it.
        start: Where it stands in the answer, in characters.
        kind: ``sentence``, ``row``, ``code``, or ``rest`` for what is left at the end and holds no
            word.
        said: Where in ``text`` the sentence begins, after the white space and marks before it.
        lower_case_only: Whether the answer is taken to have no capital, by which sentences in rows
            and code are told.
    """

    text: str
    start: int
    kind: UnitKind
    said: int = 0
    lower_case_only: bool = False

    @property
    def end(self) -> int:
        """Where it ends in the answer."""
        return self.start + len(self.text)

    def sentences(self) -> Iterator[Sentence]:
        """Its sentences, by their places in ``text``."""
        if self.kind == "sentence":
            said = self.text[self.said :].strip()
            start = self.text.index(said, self.said)
            yield Sentence(said, start, start + len(said))
        elif self.kind != "rest":
            yield from each_sentence(self.text, self.lower_case_only)


class Units:
    """The units of one answer that comes in pieces of text or of UTF-8 bytes.

    Their texts, one after the other, are the answer; they are the same however it is cut.
    """

    def __init__(self) -> None:
        self._arriving = ArrivingText()
        self._ends = Ends()
        self._held: list[str] = []
        self._start = 0
        self._closed = False

    def feed(self, piece: Text) -> list[StreamUnit]:
        """The units that are complete with this piece."""
        return self.add(self.text(piece))

    def close(self) -> list[StreamUnit]:
        """The units that are left when nothing more comes."""
        return self.end(self.rest())

    def text(self, piece: Text) -> str:
        """The characters that are whole with this piece."""
        return self._arriving.feed(piece)

    def rest(self) -> str:
        """What is left of characters that never became whole."""
        return self._arriving.close()

    def add(self, text: str) -> list[StreamUnit]:
        """The units that are complete with these characters."""
        if not text:
            return []
        self._held.append(text)
        ends = self._ends.feed(text)
        return self._complete(ends) if ends else []

    def end(self, rest: str) -> list[StreamUnit]:
        """The units that are left when nothing comes behind these characters."""
        if self._closed:
            return []
        self._closed = True
        self._held.append(rest)
        found = self._complete([*self._ends.feed(rest), *self._ends.close()])
        left = "".join(self._held)
        if left:
            found.append(StreamUnit(left, self._start, "rest", len(left)))
        return found

    def _complete(self, ends: Iterable[End]) -> list[StreamUnit]:
        found = []
        text = ""
        for number, one in enumerate(ends):
            if number == 0:
                text = "".join(self._held)
                base = self._start
            piece = text[self._start - base : one.end - base]
            said = max(one.first - self._start, 0)
            found.append(StreamUnit(piece, self._start, one.kind, said, one.lower_case_only))
            self._start = one.end
        if found:
            self._held = [text[self._start - base :]]
        return found


def units_of(text: str) -> list[StreamUnit]:
    """The units of a text that is complete."""
    units = Units()
    return [*units.feed(text), *units.close()]
