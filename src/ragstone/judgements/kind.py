"""Kind: a table of judgements of the same sort, with its columns, its rules and the asks for it.

An ask is a whole kind of judgement or an independent part of it: ``support`` is asked of claims,
of statements and of gold evidence, each as a separate ask.
"""

import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, Literal, cast, get_args

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.core.user_code import registry
from ragstone.data.record_labels import (
    LABELS,
    RULES,
    YES_NO,
    Rule,
    Unit,
    Values,
    know_label,
    known_values,
)

from .column import SAID, Column, Role, Tone
from .view import ABOUT, REQUIREMENTS, About, View

# Who can answer an ask: the local judge, people or a chat model; or how it is computed.
Filler = Literal["local", "people", "model", "encoder", "cross_encoder", "counting"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a judge.

    Args:
        part: Part of the kind; empty if the kind is asked as a whole.
        over: View of the units it is about, which receives the kind's columns; None if no view
            receives them automatically.
        requires: What an example must have, see ``REQUIREMENTS``.
        after: Asks whose rows this one is about.
        by: Who can answer it.
        beside: Further parts of the system's output that a judge may read.
        columns: Columns of the kind that it fills; empty: all.
        values: Possible verdicts; empty: all of the kind.
        says: Label printed before a judgement, such as ``contexts`` before ``supported``. Empty:
            no label, and the judgement is printed on the unit's own line. None: the kind's name.
        kind: Name of the kind, filled in by the kind itself.
    """

    part: str = ""
    over: type[View] | None = None
    requires: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    by: tuple[Filler, ...] = ("people", "model")
    beside: tuple[Literal["contexts", "rivals"], ...] = ()
    columns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    says: str | None = None
    kind: str = ""

    @property
    def name(self) -> str:
        """The kind and its part, such as ``quality`` or ``support/claim``."""
        return f"{self.kind}/{self.part}" if self.part else self.kind

    @property
    def origin(self) -> Unit | None:
        """Claim, statement or evidence, whichever it is about; None if it is about none of them."""
        if self.over is None or ABOUT[self.over.unit] != "proposition":
            return None
        return self.over.unit

    @property
    def not_judged(self) -> str:
        """The reason given when no judge was asked: the kind, and who could have answered."""
        return reason("not_judged", kind=self.kind, by=",".join(self.by))


# Every ask, in dependency order: each one follows the asks named in its ``after``.
ASKS: dict[str, Ask] = registry({})

# The asks of kinds that depend on an ask which no kind has defined yet.
WAITING: list[tuple[Ask, ...]] = registry([])


def enter(asks: tuple[Ask, ...]) -> None:
    """Register the asks of a kind once everything they depend on is registered."""
    WAITING.append(asks)
    while ready := [them for them in WAITING if all(ASKS.keys() >= {*ask.after} for ask in them)]:
        for them in ready:
            WAITING.remove(them)
            ASKS.update({ask.name: ask for ask in them})


def values_of(ask: Ask, column: Column) -> Values:
    """The labels that people may give to a column where this is asked."""
    if column.dtype == pl.Boolean:
        return YES_NO
    if ask.values and column.role == "verdict":
        return ask.values
    return cast(Values, tuple(column.values))


_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 30


@dataclass(frozen=True, slots=True, order=True)
class Topic:
    """Something an ask is repeated for: a criterion, an aspect or a rival system.

    Args:
        ask: ``rating``, ``critique`` or ``preference``.
        name: The criterion, aspect or rival; empty: every rival.
        definition: Definition of a custom criterion or aspect; empty for a built-in one.
        votes: Number of times it is asked.
    """

    ask: str
    name: str
    definition: str = ""
    votes: int = 1


def name_for(definition: str) -> str:
    """A name for a criterion or aspect that is given by a sentence alone.

    Its words, if they are short and of Latin letters; otherwise a hash keeps them apart.

    >>> name_for("Is the tone friendly?")
    'is_the_tone_friendly'
    """
    words = _OTHER.sub("_", definition.lower()).strip("_")
    if definition.isascii() and words[:1].isalpha() and len(words) <= _LONGEST:
        return words
    digest = blake2b(definition.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    start = words[:_LONGEST].strip("_") if words[:1].isalpha() else "own"
    return f"{start}_{digest}"


SHOWN = ("question", "contexts", "answer", "sentences", "reference", "policy")
EVERY_TABLE_HAS = ("example_id", "subject", "judge", "reason")


def faults_of(kind: "type[Kind]", columns: Mapping[str, Column]) -> list[str]:
    """Return every fault of a declaration with these columns of its own.

    They are found before the kind is registered. Nothing is sure of its type, for users declare it.
    """
    asks: object = kind.asks
    rules: object = kind.rules
    faults = [*_of_name(getattr(kind, "name", ""))]
    for column in columns.values():
        faults += _of_column(column)
    decides = [
        column for column in columns.values() if column.role in ("verdict", "grade", "number")
    ]
    if not decides:
        faults.append('no column with role="verdict", so nothing is decided')
    elif _typed(decides[0]) and decides[0].dtype.is_numeric() and not decides[0].values:
        faults.append(
            f"{decides[0].name} has no values, so a model does not know what it may answer"
        )
    if not isinstance(asks, Sequence) or not all(isinstance(ask, Ask) for ask in asks):
        faults.append("asks must be a tuple: asks = (Ask(over=Answers),)")
    elif not asks:
        faults.append("no ask, so no judge is asked: asks = (Ask(over=Answers),)")
    else:
        for ask in asks:
            faults += _of_ask(ask, columns)
    faults += _of_shows(kind.shows)
    if not isinstance(rules, Sequence) or not all(isinstance(rule, Rule) for rule in rules):
        faults.append("rules must be a tuple of ragstone.data.record_labels.Rule")
    return list(dict.fromkeys(faults))


def _of_name(name: object) -> Iterator[str]:
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        yield "the name must be a word of lower-case letters, digits and _"
    elif name in KINDS:
        yield f"there is already a kind called {name}; choose another name"


def _of_shows(shows: object) -> Iterator[str]:
    if isinstance(shows, str) or not isinstance(shows, Sequence):
        yield 'shows must be a tuple: shows = ("question", "answer")'
        return
    if unknown := _unknown(shows, SHOWN):
        yield f"shows {unknown}; a kind can show {', '.join(SHOWN)}"


def _unknown(words: Iterable[object], known: Container[object]) -> str:
    return ", ".join(str(word) for word in words if word not in known)


def _of_column(column: Column) -> Iterator[str]:
    roles = get_args(Role)
    if column.name in EVERY_TABLE_HAS:
        yield f"every kind already has a column {column.name}; choose another name"
    if column.role not in roles:
        yield f"{column.name} has the role {column.role}; the roles are {', '.join(roles)}"
    no_text = [name for name in ("doc", "label", "reply", "fact")
               if not isinstance(getattr(column, name), str)]  # fmt: skip
    if no_text:
        yield f"the {' and '.join(no_text)} of {column.name} must be text"
    if not _typed(column):
        yield (f"{column.name} has the type {column.dtype!r}, which is no type of Polars, "
               "such as pl.Boolean")  # fmt: skip
    if not isinstance(column.values, Mapping):
        yield f'the values of {column.name} need their meanings: values={{"yes": "it is so"}}'
    else:
        if not column.values and column.dtype == pl.Enum([]):
            yield f"{column.name} has neither a type nor values"
        yield from _of_values(column)
        yield from _of_tones(column)
    if unknown := _unknown(column.positive, column.values):
        yield f"{column.name} counts {unknown} as yes, but has no such values"


def _typed(column: Column) -> bool:
    return isinstance(column.dtype, pl.DataType) or (
        isinstance(column.dtype, type) and issubclass(column.dtype, pl.DataType)
    )


def _of_values(column: Column) -> Iterator[str]:
    if not all(isinstance(means, str) for means in column.values.values()):
        yield f"the meanings of the values of {column.name} must be text"
    if not column.values or not _typed(column):
        return
    numbers = [type(value) is int for value in column.values]
    if column.dtype.is_numeric():
        if not all(numbers):
            yield f"{column.name} is a number, but not all of its values are whole numbers"
        elif column.role == "number" and sorted(column.values) != list(range(len(numbers))):
            yield f"the values of {column.name} must be the steps 0, 1, 2, and so on"
    elif all(numbers):
        yield f"the values of {column.name} are numbers, so it needs a type: Column(pl.Int32, …)"
    elif not all(isinstance(value, str) and value.strip() for value in column.values):
        yield f"the values of {column.name} must all be words, or all be whole numbers"


def _of_tones(column: Column) -> Iterator[str]:
    for what, mapping in (("tones", column.tones), ("phrase", column.phrase)):
        if not isinstance(mapping, Mapping):
            if what == "tones" or not (mapping is None or isinstance(mapping, str)):
                yield f'the {what} of {column.name} must be a mapping: {what}={{"yes": "good"}}'
        elif column.values and (unknown := _unknown(mapping, (*column.values, None))):
            yield f"the {what} of {column.name} name {unknown}, which are not among its values"
    if isinstance(column.tones, Mapping):
        tones = get_args(Tone)
        if unknown := _unknown(column.tones.values(), tones):
            yield f"{column.name} has the tone {unknown}; the tones are {', '.join(tones)}"


def _of_ask(ask: Ask, columns: Mapping[str, Column]) -> Iterator[str]:
    words = ("requires", "after", "by", "beside", "columns", "values")
    lone = [name for name in words if isinstance(getattr(ask, name), str)]
    for name in lone:
        yield f'{name} must be a tuple: {name}=("{getattr(ask, name)}",)'
    if lone:
        return
    if unknown := _unknown(ask.requires, REQUIREMENTS):
        yield f"requires {unknown}; an ask can require {', '.join(REQUIREMENTS)}"
    if unknown := _unknown(ask.by, ("people", "model")):
        yield f"is answered by {unknown}; an ask can be answered by people, model"
    if unknown := _unknown(ask.columns, columns):
        yield f"fills {unknown}, but the kind has no such columns"
    decided = (column for column in columns.values() if column.role == "verdict")
    if unknown := _unknown(ask.values, {word for column in decided for word in column.values}):
        yield f"has the verdicts {unknown}, which are not among the kind's values"
    if ask.over is None:
        return
    if not isinstance(ask.over, type) or not issubclass(ask.over, View):
        yield f"is over {ask.over!r}, which is not a view such as Answers"
        return
    filled = [
        column for column in columns.values() if not ask.columns or column.name in ask.columns
    ]
    facts: set[str] = set()
    for column in filled:
        fact = column.fact or column.name
        if column.role in SAID:
            if fact in facts or ask.over.has(fact):
                yield (f"{ask.over.__name__} already has a column {fact!r}; "
                       f"give {column.name} another one: Column(..., fact=NAME)")  # fmt: skip
            facts.add(fact)
        yield from _of_label(ask, column)
    labels = [column.label for column in filled if column.label]
    for label in sorted({label for label in labels if labels.count(label) > 1}):
        yield f"several columns have the label {label}"


def _of_label(ask: Ask, column: Column) -> Iterator[str]:
    unit = ask.over.unit if ask.over else "answer"
    if column.label and unit in LABELS and isinstance(column.values, Mapping):
        known, values = known_values(unit, column.label), values_of(ask, column)
        if known not in (None, values):
            expected = ", ".join(map(str, known or ("yes", "no")))
            other = ", ".join(map(str, values or ("yes", "no")))
            yield (f"the label {column.label} of {unit}s is {expected}, not {other}; "
                   "choose another label")  # fmt: skip


KINDS: "dict[str, type[Kind]]" = registry({})


class Kind:
    """A judgement kind: one row per unit, with the judge and what it said.

    Every table also has ``subject`` (the fingerprint of what was judged), ``judge`` and, if
    the kind has reasons, ``reason``. The instructions shared by people and models are in the
    kind's guideline, see ``guideline_of``.
    """

    name: ClassVar[str]
    """The table's name in a run folder, in JSON and in errors."""
    asks: ClassVar[tuple[Ask, ...]] = ()
    """What judges are asked: the kind as a whole, or its parts."""
    about: ClassVar[About] = "answer"
    """Which part of an example its rows are about; set from the view if its asks name one."""
    shows: ClassVar[tuple[str, ...]] = ()
    """The texts of an example that are shown to the judge in addition to the unit itself. Possible
    are ``question``, ``contexts``, ``answer``, ``sentences`` (the answer, with its sentences
    numbered for models), ``reference`` and ``policy``."""
    asked_with: ClassVar[str] = ""
    """The kind whose prompt also asks a model for this one; empty: it has its own prompt."""
    decides: ClassVar[str] = ""
    """The column that a model's verdict fills; empty: the first verdict or grade, else
    the first number."""
    item: ClassVar[str] = ""
    """The id of an item about an answer in a model's prompt; empty: made from the kind's name."""
    made: ClassVar[bool] = False
    """True if its rows are extracted, such as claims, rather than judged. One judge extracts them
    and all judges use them."""
    derived: ClassVar[bool] = False
    """True if its rows are derived by a rule from the rows its asks depend on, unless people
    labelled them."""
    unretrieved: ClassVar[Mapping[str, object] | None] = None
    """The values of its rows if nothing was retrieved, and there is no earlier turn that it reads,
    in which case no judge is asked; None if a judge is asked even then."""
    reads_turns: ClassVar[bool] = False
    """True if judges read the earlier turns of the conversation as they read the contexts."""
    tokens: ClassVar[int] = 0
    """The estimated number of tokens that a model writes for one row."""
    repeats: ClassVar[bool] = False
    """True if two rows about a subject may give the same unit the same values."""
    rules: ClassVar[tuple[Rule, ...]] = ()
    """The rules between its labels, hard and soft."""
    built_in: ClassVar[bool]
    """True if Ragstone declares it, not a user."""
    columns: ClassVar[dict[str, Column]]
    key: ClassVar[tuple[str, ...] | None]
    """The columns that identify a row among those about a subject; None if rows may repeat."""
    judge = Column(pl.String, "who said so")
    reason = Column(pl.String, "why, in one sentence", role="words")

    def __init_subclass__(cls) -> None:
        columns = {key: value for key, value in vars(cls).items() if isinstance(value, Column)}
        cls.built_in = cls.__module__.startswith(f"{__package__}.")
        # Before the kind is registered, so that it can be declared again.
        if not cls.built_in and (faults := faults_of(cls, columns)):
            file = Path(getattr(sys.modules[cls.__module__], "__file__", None) or cls.__module__)
            name = getattr(cls, "name", "") or cls.__name__
            lines = [f"  {name}: {fault}" for fault in faults]
            raise InputError(
                "\n".join([f"{file.name} defines a kind that cannot be judged:", *lines])
            )
        units = {
            key: column for key, column in _telling_apart(cls.asks).items() if key not in columns
        }
        for key, unit in units.items():
            setattr(cls, key, unit)
            unit.__set_name__(cls, key)
        columns = units | columns
        cls.columns = {**columns, "reason": vars(Kind)["reason"], "judge": vars(Kind)["judge"]}
        decides = cls.having("verdict", "grade") or cls.having("number")
        cls.decides = cls.decides or next(iter(decides), "")
        cls.item = cls.item or f"{cls.name}_1"
        cls.key = None if cls.repeats else tuple(cls.having("unit", "topic", "vote"))
        KINDS[cls.name] = cls
        cls.asks = tuple(replace(ask, kind=cls.name) for ask in cls.asks)
        enter(cls.asks)
        for ask in cls.asks:
            if ask.over is not None:
                cls.about = ABOUT[ask.over.unit]
                for column in cls.filled_by(ask):
                    if column.role in SAID:
                        ask.over.take(ask.name, column, column.fact or column.name)
                    if column.label and ask.over.unit in LABELS:
                        know_label(ask.over.unit, column.label, values_of(ask, column))
        RULES.update({rule.name: rule for rule in cls.rules})

    @classmethod
    def ask(cls, part: str = "") -> Ask:
        """The ask of one part, or of the kind as a whole."""
        return {ask.part: ask for ask in cls.asks}[part]

    @classmethod
    def schema(cls) -> dict[str, pl.DataType | type[pl.DataType]]:
        """Columns of the stored table and their types, ``subject`` first."""
        return {"subject": pl.String, **{name: col.dtype for name, col in cls.columns.items()}}

    @classmethod
    @cache
    def empty(cls) -> pl.DataFrame:
        return pl.DataFrame(schema=cls.schema())

    @classmethod
    def having(cls, *roles: Role) -> list[str]:
        return [name for name, column in cls.columns.items() if column.role in roles]

    @classmethod
    def filled_by(cls, ask: Ask) -> list[Column]:
        """The columns that one of its asks fills, without ``judge`` and ``reason``."""
        filled = ask.columns or cls.columns.keys() - {"judge", "reason"}
        return [column for name, column in cls.columns.items() if name in filled]

    @classmethod
    def probabilities(cls) -> dict[str, str]:
        """Maps each probability column to the column it is the probability of."""
        return {name: column.of for name, column in cls.columns.items() if column.of}

    @classmethod
    def labels(cls) -> dict[str, str]:
        """The columns that people label, with their names in label files."""
        return {name: column.label for name, column in cls.columns.items() if column.label}


def _telling_apart(asks: Sequence[Ask]) -> dict[str, Column]:
    """The columns that identify the unit which a row is about, in any of the asks' views."""
    facts: dict[str, tuple[pl.DataType | type[pl.DataType], str]] = {}
    origins = [ask.origin for ask in asks if ask.origin]
    if origins:
        facts["origin"] = (pl.Enum(origins), "where the proposition comes from")
        facts["author"] = (pl.String, "who made the proposition")
        facts["reference"] = (pl.UInt32, "which of the references, from 0")
    for view in [ask.over for ask in asks if ask.over is not None]:
        for key in view.keys:
            facts.setdefault(key, (view.columns[key].dtype, view.columns[key].doc))
    return {key: Column(dtype, doc, role="unit") for key, (dtype, doc) in facts.items()}


def answered_by(filler: Filler) -> frozenset[str]:
    """The asks that a type of judge can answer, without those derived by a rule."""
    return frozenset(ask.name for kind in KINDS.values() for ask in kind.asks
                     if filler in ask.by and not kind.derived)  # fmt: skip


def kind_of(ask: str) -> type[Kind]:
    """The kind that an ask belongs to, whose table holds its rows."""
    return KINDS[ASKS[ask].kind]
