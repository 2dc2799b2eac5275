"""Kind: a table of judgements of one sort, with its columns, asks and rules."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.user_code import registry
from ragstone.data.record_labels import LABELS, RULES, Rule, know_label

from .ask import ASKS, Ask, Filler, enter, values_of
from .column import SAID, Column, Role
from .declared import faults_of
from .view import ABOUT, About

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
    """Whether its rows are extracted, such as claims, rather than judged. One judge extracts them
    and all judges use them."""
    derived: ClassVar[bool] = False
    """Whether its rows are derived by a rule from the rows its asks depend on, unless people
    labelled them."""
    unretrieved: ClassVar[Mapping[str, object] | None] = None
    """The values of its rows if nothing was retrieved, and there is no earlier turn that it reads,
    in which case no judge is asked; None if a judge is asked even then."""
    reads_turns: ClassVar[bool] = False
    """Whether judges read the earlier turns of the conversation as they read the contexts."""
    tokens: ClassVar[int] = 0
    """The estimated number of tokens that a model writes for one row."""
    repeats: ClassVar[bool] = False
    """Whether two rows about a subject may give the same unit the same values."""
    rules: ClassVar[tuple[Rule, ...]] = ()
    """The rules between its labels, hard and soft."""
    built_in: ClassVar[bool]
    """Whether Ragstone declares it, not a user."""
    columns: ClassVar[dict[str, Column]]
    key: ClassVar[tuple[str, ...] | None]
    """The columns that identify a row among those about a subject; None if rows may repeat."""
    judge = Column(pl.String, "who said so")
    reason = Column(pl.String, "why, in one sentence", role="words")

    def __init_subclass__(cls) -> None:
        own = {key: value for key, value in vars(cls).items() if isinstance(value, Column)}
        cls.built_in = cls.__module__.startswith(f"{__package__}.")
        if not cls.built_in:
            cls._refuse_faults(own)
        units = {key: one for key, one in _telling_apart(cls.asks).items() if key not in own}
        for key, one in units.items():
            setattr(cls, key, one)
            one.__set_name__(cls, key)
        own = units | own
        cls.columns = {**own, "reason": vars(Kind)["reason"], "judge": vars(Kind)["judge"]}
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
    def _refuse_faults(cls, columns: Mapping[str, Column]) -> None:
        """Raise before the kind is registered, so that it can be declared again.

        Raises:
            InputError: It cannot be judged as declared; lists every fault.
        """
        name = getattr(cls, "name", "")
        if faults := faults_of(name, cls.asks, cls.shows, cls.rules, columns, KINDS):
            place = Path(getattr(sys.modules[cls.__module__], "__file__", None) or cls.__module__)
            lines = [f"  {name or cls.__name__}: {fault}" for fault in faults]
            raise InputError(
                "\n".join([f"{place.name} defines a kind that cannot be judged:", *lines])
            )

    @classmethod
    def ask(cls, part: str = "") -> Ask:
        """The ask of one part, or of the kind as a whole.

        Raises:
            KeyError: The kind has no such part.
        """
        return {ask.part: ask for ask in cls.asks}[part]

    @classmethod
    def schema(cls) -> dict[str, pl.DataType | type[pl.DataType]]:
        """Columns of the stored table and their types, ``subject`` first."""
        return {"subject": pl.String, **{name: col.dtype for name, col in cls.columns.items()}}

    @classmethod
    def empty(cls) -> pl.DataFrame:
        """An empty table."""
        return pl.DataFrame(schema=cls.schema())

    @classmethod
    def having(cls, *roles: Role) -> list[str]:
        """Names of the columns with one of these roles."""
        return [name for name, column in cls.columns.items() if column.role in roles]

    @classmethod
    def filled_by(cls, ask: Ask) -> list[Column]:
        """The columns that one of its asks fills, without ``judge`` and ``reason``."""
        own = [column for name, column in cls.columns.items() if name not in ("judge", "reason")]
        return [column for column in own if column.name in (ask.columns or cls.columns)]

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
    return frozenset(
        ask.name
        for kind in KINDS.values()
        for ask in kind.asks
        if filler in ask.by and not kind.derived
    )


def kind_of(ask: str) -> type[Kind]:
    """The kind that an ask belongs to, whose table holds its rows."""
    return KINDS[ASKS[ask].kind]
