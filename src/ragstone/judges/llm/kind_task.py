"""Kind task: the task of a kind that needs no code of its own.

The verdict of an entry fills the deciding column; everything else a model gives is in the
details, ``focus: 3``, under the names of the columns.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal, cast

import polars as pl
from pydantic import create_model

from ragstone.judgements import Column, Criteria, Kind

from .prompts import Prompts, contexts_block, facts_of, has, shown
from .questions import NO_DETAILS, Item, Piece, ReplyEntry
from .replies import WHOLE
from .task import Row, Target, Task, TaskReply, groups, numbered, portions, said, why_lacking

YES_NO = {"yes": True, "no": False}
_DETAIL = re.compile(r"\W*([A-Za-z_]+)\W*[\s:=]\s*(.+)", re.DOTALL)


class KindItem(Item):
    """A model's verdict on one unit; each kind has its own subclass."""

    kind: ClassVar[type[Kind]]

    reason: str
    counted: list[str]

    @classmethod
    def verdicts(cls) -> tuple[str, ...]:
        return tuple(_words(cls.kind.columns[cls.kind.decides]))

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """Contradictory statements about the same field count as none."""
        columns = _given(cls.kind)
        counts = {name for column in cls.kind.columns.values() for name in column.counts}
        counted: list[str] = []
        values: dict[str, Any] = {}
        for detail in entry.details or ():
            read = _DETAIL.fullmatch(detail)
            name, value = (read[1].lower(), read[2].strip()) if read else ("", detail)
            if name in counts:
                counted.append(name)
            elif name in columns and name != cls.decides:
                meant = _meant(columns[name], value)
                values[name] = meant if values.get(name, meant) == meant else None
        values[cls.decides] = _meant(columns[cls.decides], str(entry.verdict))
        return {"reason": entry.reason, "counted": counted, **values}


_ITEMS: dict[type[Kind], type[KindItem]] = {}


def item_of(kind: type[Kind]) -> type[KindItem]:
    if kind in _ITEMS:
        return _ITEMS[kind]
    fields: dict[str, Any] = {name: (_type(column), ...) for name, column in _given(kind).items()}
    sort = create_model(f"{kind.__name__}Item", __base__=KindItem, **fields)
    sort.kind = kind
    sort.decides = _name(kind.columns[kind.decides])
    others = {name: column for name, column in _given(kind).items() if name != sort.decides}
    counts = dict.fromkeys(name for column in kind.columns.values() for name in column.counts)
    sort.example = (
        *(f"{name}: one part" for name in counts),
        *(f"{name}: {next(iter(_words(column)))}" for name, column in others.items()),
    )
    _ITEMS[kind] = sort
    return sort


@dataclass(frozen=True)
class KindTask(Task):
    """Shows the texts that the kind names, and asks about each unit once.

    An answer is never split. If the contexts do not fit, each part of them is asked about, and
    of several verdicts the strongest counts: the one that the kind names first.
    """

    kind: type[Kind]

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        example = target.example
        instructions = prompts.instructions(self.name)
        blocks = shown(example, *self.kind.shows)
        sort = item_of(self.kind)
        listed = self.kind.about == "proposition"
        title = "CRITERIA" if self.kind.asks[0].over is Criteria else "PROPOSITIONS"
        return portions(Piece(self.name, instructions, blocks, dict.fromkeys(texts, sort), contexts,
                              texts={name: text for name, text in texts.items() if text},
                              lists=dict.fromkeys(texts, title) if listed else {},
                              details=() if sort.example else NO_DETAILS)
                        for contexts, texts in self._shown(target, room))  # fmt: skip

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        return [unit | self._judged(names, target, reply)
                for unit, names in self._units(ask, target, reply.room)]  # fmt: skip

    def facts(self, target: Target) -> Iterable[object]:
        texts = ["answer" if text == "sentences" else text for text in self.kind.shows]
        yield from facts_of(target.example, *texts)
        if self.kind.about == "context":
            yield [(context.rank, context.text) for context in target.example.contexts or ()]
        for origin in self._origins(self.asks):
            yield origin, list(target.propositions.get(origin, ()))

    def _origins(self, asks: Collection[str]) -> list[str]:
        return [ask.origin for ask in self.kind.asks if ask.name in asks and ask.origin]

    def _propositions(self, target: Target) -> dict[str, str]:
        every = chain.from_iterable(
            target.propositions.get(origin, ()) for origin in self._origins(self.asks)
        )
        return numbered(sorted({proposition.text for proposition in every}))

    def _shown(self, target: Target, room: int) -> Iterator[tuple[str | None, Mapping[str, str]]]:
        about = self.kind.about
        parts = groups(target.example, room) if self.splits_contexts else ()
        if about == "context":
            for part in parts:
                yield contexts_block(part), {passage.id: passage.text for passage in part}
            return
        if about == "proposition":
            units = self._propositions(target)
        else:
            units = {} if target.example.answer is None else {self.kind.item: ""}
        if not parts:
            yield None, units
        for part in parts:
            yield contexts_block(part), units

    def _units(self, ask: str, target: Target, room: int) -> Iterator[tuple[Row, Sequence[str]]]:
        if self.kind.about == "context":
            ranks: dict[int, list[str]] = {}
            for passage in chain.from_iterable(groups(target.example, room)):
                ranks.setdefault(passage.rank, []).append(passage.id)
            yield from (({"rank": rank}, names) for rank, names in ranks.items())
        elif self.kind.about == "proposition":
            names = {text: name for name, text in self._propositions(target).items()}
            for origin in self._origins([ask]):
                for proposition in target.propositions.get(origin, ()):
                    columns = proposition.columns(origin).items()
                    unit = {name: value for name, value in columns if name in self.kind.columns}
                    yield unit, [names[proposition.text]]
        elif target.example.answer is not None:
            yield {}, [self.kind.item]

    def _judged(self, names: Sequence[str], target: Target, reply: TaskReply) -> Row:
        """Give the strongest verdict; nothing if a part that is lacking could be stronger."""
        sort = item_of(self.kind)
        order = list(_words(self.kind.columns[self.kind.decides]).values())
        ranked = sorted((item for name in names for item in said(reply, name, sort)),
                        key=lambda item: order.index(getattr(item, sort.decides)))  # fmt: skip
        lacking = [name for name in names if name in reply.lacking or not reply.items.get(name)]
        if not ranked or (lacking and getattr(ranked[0], sort.decides) != order[0]):
            return {"reason": why_lacking(reply, next(iter(lacking), ""))}
        return _row(self.kind, ranked[0], target)


def _given(kind: type[Kind]) -> dict[str, Column]:
    return {_name(column): column for column in kind.columns.values()
            if column.role in ("verdict", "grade", "number") and _words(column)}  # fmt: skip


def _name(column: Column) -> str:
    return column.reply or column.name


def _words(column: Column) -> dict[str, str | int | bool]:
    if column.values:
        values = cast(Sequence[str | int], list(column.values))
        ranked = sorted(values, reverse=True) if column.role == "grade" else values
        return {str(value): value for value in ranked}
    return dict(YES_NO) if column.dtype == pl.Boolean else {}


def _type(column: Column) -> Any:
    words = tuple(_words(column).values())
    if column.dtype == pl.Boolean:
        return bool
    return Literal[words] if isinstance(words[0], str) else Annotated[Literal[words], WHOLE]


def _meant(column: Column, word: str) -> Any:
    words = _words(column)
    word = word.strip(" .\"'`").lower()
    return words.get(word, word)


def _row(kind: type[Kind], item: KindItem, target: Target) -> Row:
    row: Row = {}
    for column in kind.columns.values():
        lacks = bool(column.only_with) and not has(target.example, column.only_with)
        if column.counts:
            row[column.name] = (
                0 if lacks else sum(detail in column.counts for detail in item.counted)
            )
        elif _name(column) in type(item).model_fields:
            value = getattr(item, _name(column))
            if column.role == "number":
                value = value / max(map(int, column.values))
            row[column.name] = None if lacks else value
    return row
