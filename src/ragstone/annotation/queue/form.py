"""Queue form: what a queue asks, the items that people read, and checks of their answers.

The two answers of a pair are shown as A and B in random order, so that nobody knows which system
is which. The stored label names the rival: ``preference.RIVAL`` is win, loss or tie for the
example's own answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ragstone.core.messages import reason
from ragstone.data.record_labels import FIELDS, RULES, Rule, Severity, Unit, violations
from ragstone.judgements import Preference

from .assignment import Route

# The choices of a label that is yes or no.
YES_NO = ("yes", "no")

Order = Literal["random", "risk"]
Role = Literal["annotator", "adjudicator", "owner"]


@dataclass(frozen=True, slots=True)
class AskedLabel:
    """A label that people are asked for.

    Attributes:
        choices: The valid labels, as in files; empty where people write words of their own.
        help: When to give a label, by choice; for a yes-or-no label, when it is yes.
        task: The task that shows it on one screen; empty in queues made before there were tasks.
    """

    label: str
    unit: Unit
    choices: tuple[str, ...] = ()
    help: Mapping[str, str] = field(default_factory=dict, hash=False)
    required: bool = True
    task: str = ""


@dataclass(frozen=True, slots=True)
class QueueForm:
    """The labels of a queue, and how its items are given out.

    Attributes:
        source: The run, data or sheet that the items are from.
        per_item: How many people label an item that several label.
        overlap: The share of items that several people label.
        route: Which items are likelier to be given out first, in the random order.
        most: How many examples are given out; None: all.
        chosen: By what the examples were chosen, where that was not chance, such as a filter on
            their scores; empty where they are all examples, or drawn.
        together: True if all parts of an example are labelled on one screen for each task.
        instructions: The queue's own, shown with the guideline.
        guidelines: By language.
        opened: True if the owner sees who gave which label before adjudicators decide.
        seed: Of the order and of the overlap.
    """

    name: str
    asked: tuple[AskedLabel, ...]
    source: str = ""
    per_item: int = 1
    overlap: float = 1.0
    order: Order = "random"
    route: Route = "random"
    most: int | None = None
    chosen: str = ""
    together: bool = False
    instructions: str = ""
    guidelines: Mapping[str, str] = field(default_factory=dict)
    opened: bool = False
    seed: int = 0

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "QueueForm":
        labels = tuple(
            AskedLabel(**{**label, "choices": tuple(label["choices"])}) for label in data["asked"]
        )
        return cls(**{**data, "asked": labels})


@dataclass(frozen=True, slots=True)
class ItemPart:
    """A part of an item that is labelled by itself.

    Attributes:
        name: The rank of a context, the number of a claim; empty for the answer.
        text: The text to read; empty where the item shows it.
        task: The task whose labels are asked of it; empty: those of all tasks.
    """

    unit: Unit
    name: str = ""
    text: str = ""
    task: str = ""

    def asks(self, label: AskedLabel) -> bool:
        return label.unit == self.unit and self.task in ("", label.task)


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One screen of labelling.

    Attributes:
        shown: The texts to read, by name: question, history, policy, answer, answers (of a pair),
            contexts, reference.
        probability: That the sample from which the queue was made contains it; None if nothing was
            drawn.
        hidden: What nobody sees: of a pair of answers, ``rival``, the system compared with, and
            ``first``, true if the example's own answer is shown first.
        question: Names its question; examples of one are not independent. Empty if none is known.
    """

    item: int
    id: str
    shown: Mapping[str, Any]
    parts: tuple[ItemPart, ...]
    probability: float | None = None
    hidden: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""


class PlacedItem(NamedTuple):
    """An item with what decides when it is given out.

    Attributes:
        place: The smaller, the earlier.
        people: How many label it.
        weight: Of its example in the present routing.
        doubt: How much the judge is in doubt on its example, from 0 to 1, if known.
        is_in: False if it is not given out at all.
    """

    item: QueueItem
    place: float
    people: int
    weight: float = 1.0
    doubt: float | None = None
    is_in: bool = True


@dataclass(frozen=True, slots=True)
class ItemAnswers:
    """One person's labels of one item.

    Attributes:
        labels: By part, a tuple of unit and name, the choice for each label.
        discarded: Why no label can be given; empty if one can.
        spans: Words of texts that a label rests on: ``part``, a list of unit and name, ``label``,
            ``text``, a name of ``texts_of``, ``start`` and ``end`` in characters.
    """

    labels: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    note: str = ""
    discarded: str = ""
    spans: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return True if they neither give a label nor discard the item."""
        return not self.discarded and not any(self.labels.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "labels": [[*part, dict(values)] for part, values in self.labels.items()],
            "note": self.note,
            "discarded": self.discarded,
            "spans": [dict(span) for span in self.spans],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ItemAnswers":
        labels = {(unit, name): values for unit, name, values in data["labels"]}
        return cls(labels, data["note"], data["discarded"], tuple(data["spans"]))


def texts_of(item: QueueItem) -> dict[str, str]:
    """Return every text of an item by its name: ``answer``, ``contexts/2``, ``claims/3``.

    Those that the item shows come first; a part's own text has the name of a shown one where both
    are the same thing, such as a context.
    """
    visible = {
        name: text for key, content in item.shown.items() for name, text in _texts(key, content)
    }
    part_texts = {name_of(part): part.text for part in item.parts if part.text}
    return visible | part_texts | visible


def outline_of(shown: Mapping[str, Any], parts: Sequence[ItemPart]) -> str:
    """Return the text by which people know an item: its question, else what they label.

    Never its id, which may name the system.
    """
    return str(shown.get("question") or next((part.text for part in parts if part.text), ""))


def name_of(part: ItemPart) -> str:
    """Return the name of the text that a part is about.

    >>> name_of(ItemPart("context", "2")), name_of(ItemPart("answer"))
    ('contexts/2', 'answer')
    """
    field = FIELDS.get(part.unit, part.unit)
    return f"{field}/{part.name}" if part.name else field


def _texts(key: str, content: object) -> Iterator[tuple[str, str]]:
    match content:
        case str():
            yield key, content
        case Sequence():
            for number, text in enumerate(content, 1):
                match text:
                    case str():
                        yield f"{key}/{number}", text
                    case Mapping():
                        yield f"{key}/{text.get('name') or number}", str(text.get("text") or "")


A, B, TIE = "A", "B", "tie"
# What is asked of a pair.
LABEL = Preference.columns["verdict"].label


def preferred(labels: Mapping[str, str | None], pair: Mapping[str, Any]) -> dict[str, str | None]:
    """Turn labels of a pair on screen into labels of the example.

    >>> preferred({"preference": "B"}, {"rival": "gpt", "first": True})
    {'preference.gpt': 'loss'}
    """
    rest = {label: value for label, value in labels.items() if label != LABEL}
    verdicts = {choice: verdict for verdict, choice in _shown(pair).items()}
    return rest | {f"{Preference.name}.{pair['rival']}": verdicts.get(labels.get(LABEL) or "")}


def shown_as(verdict: str, pair: Mapping[str, Any]) -> str:
    """Return a verdict for the example's own answer as it is given on screen."""
    return _shown(pair).get(verdict, verdict)


def _shown(pair: Mapping[str, Any]) -> dict[str, str]:
    first, other = (A, B) if pair["first"] else (B, A)
    return {"win": first, "loss": other, "tie": TIE}


# Characters of a label in somebody's own words, and of a note.
LONGEST_WORD, LONGEST_NOTE = 200, 10_000

# Places in the texts of an item that its labels rest on.
MOST_SPANS = 200

# What each of them says: unit and name of the part, its label, and characters of a text.
SPAN = ("part", "label", "text", "start", "end")

# The part of a fault that is about the whole item.
WHOLE = ("answer", "")


@dataclass(frozen=True, slots=True)
class AnswerFault:
    """A fault of an answer; ``label`` is empty if it is about the part or the item.

    An answer with a ``block`` fault cannot be kept; about a ``warn`` fault people are asked
    once.
    """

    part: tuple[str, str]
    label: str
    why: str
    severity: Severity = "block"


def rules_asked(form: QueueForm) -> list[Rule]:
    """Return the rules between labels that are asked, for pages that check while one labels.

    ``answer_faults`` finds what they forbid.
    """
    labels = {(label.unit, label.label) for label in form.asked}
    return [
        rule
        for rule in RULES.values()
        if {(rule.unit, rule.given), (rule.unit, rule.then)} <= labels
    ]


def forbidden(rule: Rule) -> dict[str, str]:
    """Return the choices of two labels that a rule forbids together."""
    return {rule.given: YES_NO[0], rule.then: YES_NO[rule.says]}


def answer_faults(form: QueueForm, item: QueueItem, answers: ItemAnswers) -> list[AnswerFault]:
    """Return every fault of an answer; nothing is asked of a discarded item."""
    faults = []
    if len(answers.note) > LONGEST_NOTE or len(answers.discarded) > LONGEST_NOTE:
        faults.append(AnswerFault(WHOLE, "", reason("note_too_long", most=LONGEST_NOTE)))
    places = {(part.unit, part.name) for part in item.parts}
    faults += [AnswerFault(key, "", reason("no_such_part"))
               for key in answers.labels if key not in places]  # fmt: skip
    for part in item.parts:
        key = (part.unit, part.name)
        values = answers.labels.get(key, {})
        labels = {label.label: label for label in form.asked if part.asks(label)}
        for label, value in values.items():
            if label not in labels:
                faults.append(AnswerFault(key, label, reason("not_asked")))
            elif why := _not_a_choice(labels[label], value):
                faults.append(AnswerFault(key, label, why))
        for label, question in labels.items():
            if question.required and label not in values and not answers.discarded:
                faults.append(AnswerFault(key, label, reason("lacking")))
        truths = {label: value == YES_NO[0] for label, value in values.items() if value in YES_NO}
        field = FIELDS.get(part.unit)
        for broken in violations({part.unit: truths} if field is None else {field: [truths]}):
            faults.append(AnswerFault(key, "", reason(broken.rule), broken.severity))
    return [*faults, *_misplaced(form, item, answers)]


def _misplaced(form: QueueForm, item: QueueItem, answers: ItemAnswers) -> Iterator[AnswerFault]:
    if len(answers.spans) > MOST_SPANS:
        yield AnswerFault(WHOLE, "", reason("too_many_spans", most=MOST_SPANS))
        return
    texts = texts_of(item) if answers.spans else {}
    parts = [[part.unit, part.name] for part in item.parts]
    labels = {
        (label.unit, label.label)
        for label in form.asked
        if any(part.asks(label) for part in item.parts)
    }
    for span in answers.spans:
        part, label = span.get("part"), span.get("label")
        start, end, text = span.get("start"), span.get("end"), texts.get(str(span.get("text")))
        if part not in parts:
            yield AnswerFault(WHOLE, "", reason("no_such_part"))
        elif (part[0], str(label)) not in labels:
            yield AnswerFault((part[0], part[1]), str(label), reason("not_asked"))
        elif not (
            text is not None
            and {*span} == {*SPAN}
            and type(start) is int
            and type(end) is int
            and 0 <= start < end <= len(text)
        ):
            yield AnswerFault((part[0], part[1]), str(label), reason("no_such_words"))


def _not_a_choice(label: AskedLabel, value: object) -> str:
    is_other = bool(label.choices) and value not in label.choices
    if not isinstance(value, str) or not value.strip() or is_other:
        return reason("not_a_choice", choices="\n".join(label.choices))
    if not label.choices and len(value) > LONGEST_WORD:
        return reason("word_too_long", most=LONGEST_WORD)
    return ""


@dataclass(frozen=True, slots=True)
class SavedItem:
    """An annotator's or adjudicator's answers for an item."""

    item: int
    id: str
    person: str
    role: Role
    at: str
    answers: ItemAnswers


@dataclass(frozen=True, slots=True)
class QueueEvent:
    """A change of a queue."""

    at: str
    person: str
    what: str
    about: str
