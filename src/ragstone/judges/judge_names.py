"""Names: from the names of judges to the judges that are asked, in order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import argument
from ragstone.data.sources import on_disk
from ragstone.judgements import answered_by
from ragstone.models import Encoder
from ragstone.models.chat.chat_names import FORMS, is_chat, nearest
from ragstone.models.cross_encoder import CrossEncoder

from .judge import HUMAN, LLM, LOCAL, NLI, RULES, STRINGS, HumanJudge, IdsJudge, Judge
from .local.local_judge import LocalJudge
from .markers import MARKERS
from .nli_judge import NliJudge, nli_judge
from .rules import RulesJudge
from .similarity import BertscoreSettings, CrossEncoderJudge, SimilarityJudge

# Every judge that needs no model, in the order they are asked by default.
JUDGES: tuple[Judge, ...] = (HumanJudge(), IdsJudge(), LocalJudge(), RulesJudge())

NONE: Mapping[str, Judge] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Panel:
    """The judges to ask, in order, and the label files of people."""

    judges: tuple[Judge, ...]
    label_files: tuple[Path, ...] = ()


def parse_judges(names: Sequence[str], citations: str = MARKERS, local: Encoder | None = None,
                 encoder: Encoder | None = None, cross_encoder: CrossEncoder | None = None,
                 bertscore: BertscoreSettings | None = None, *, llm: Mapping[str, Judge] = NONE,
                 offline: bool = False) -> Panel:  # fmt: skip
    """Return the judges with these names, in order; without names: the labels in the data,
    ``local``.

    ``human`` is the labels and reference ids in the data, ``human:FILE`` those of a file,
    ``local:strings`` the local judge without a model, ``nli:NAME`` a cross-encoder that judges
    support alone. The models that are given fill the similarities, whoever judges the rest;
    ``rules`` always comes last, because it only counts.

    Args:
        local: The encoder of the local judge: ``builtin:minilm``, if it is stored here.
        encoder: Fills cosines and BERTScore.
        cross_encoder: Fills the similarity that has its name.
        llm: The judges by chat models, by the names the user gave them.

    Raises:
        UnknownName: There is no such judge.
        InputError: A file does not exist, or a member of a panel is not a model.
        ModelError: The model of ``nli:NAME`` is not available or not usable.
        MissingDependency: Its back end is not installed.
    """
    last: list[Judge] = []
    if encoder is not None:
        last.append(SimilarityJudge(encoder, bertscore or BertscoreSettings()))
    if cross_encoder is not None:
        last.append(CrossEncoderJudge(cross_encoder))
    last.append(RulesJudge(citation_pattern=citations))
    if not names:
        return Panel((HumanJudge(), IdsJudge(), LocalJudge(local), *last))
    chosen = [judge for name in names for judge in _named(name, local, llm, offline=offline)]
    once = {judge.name: judge for judge in chosen}
    return Panel((*once.values(), *last), tuple(_label_files(names)))


def _named(
    name: str, local: Encoder | None, llm: Mapping[str, Judge], *, offline: bool
) -> list[Judge]:
    kind, _, rest = name.partition(":")
    if name in llm:
        return [llm[name]]
    if kind == HUMAN:
        return [HumanJudge(), IdsJudge()]
    if name == LOCAL:
        return [LocalJudge(local)]
    if name == STRINGS:
        return [LocalJudge(name=STRINGS)]
    if kind == NLI and rest:
        return [nli_judge(rest, offline=offline)]
    if name == RULES:
        return []
    if "," in name:
        panel_models(name)
    raise _unknown(name)


def _label_files(names: Sequence[str]) -> Iterator[Path]:
    for name in names:
        kind, _, file = name.partition(":")
        if kind == HUMAN and "://" in file:
            # The address, which may have a password in it, is not repeated.
            raise InputError(
                f"{argument('judge', 'human:FILE')} reads labels from a file. Write those of the "
                "database to a file first."
            )
        if kind == HUMAN and file:
            if not on_disk(file).is_file():
                raise InputError(f"{argument('judge', name)}: there is no file {file}.")
            yield Path(file)


def panel_models(name: str) -> list[str]:
    """The models of a judge: of ``openai:MODEL,anthropic:MODEL`` two, which vote.

    Raises:
        UnknownName: One of them is no judge.
        InputError: One of several is a judge, but no model.
    """
    members = [part.strip() for part in name.split(",") if part.strip()]
    others = [member for member in members if not is_chat(member)]
    for member in others:
        if not is_without_model(member):
            raise _unknown(member)
    if others:
        raise InputError(
            f"{argument('judge', name)}: {others[0]} is not a model, and only models can be in a "
            f"panel. To ask them in turn, write {argument('judge', members)}"
        )
    return members


def check_name(name: str) -> None:
    """See that there is such a judge; nothing is opened or asked.

    Raises:
        UnknownName: There is none.
        InputError: There is no such file of labels, or a member of a panel is not a model.
    """
    if name.strip(" ,") in ("", NLI, f"{NLI}:"):
        raise _unknown(name)
    if not is_without_model(name):
        panel_models(name)
    list(_label_files([name]))


def is_without_model(name: str) -> bool:
    """True if this is the name of a judge that is not a chat model."""
    kind = name.partition(":")[0]
    return name in (STRINGS, *(judge.name for judge in JUDGES)) or kind in (HUMAN, NLI)


def _unknown(name: str) -> UnknownName:
    meant = nearest(name)
    if meant:
        return UnknownName("judge", name, (), hint=f"Did you mean {meant}?")
    known = (LOCAL, STRINGS, HUMAN, RULES, "nli:NAME", *FORMS)
    forms = ", ".join(FORMS)
    hint = f"For a model write {forms}. ragstone judges lists all judges."
    return UnknownName("judge", name, known, hint=hint)


def who_fills(ask: str) -> list[str]:
    fillers = {**{judge.name: judge.asks for judge in JUDGES}, NLI: NliJudge.asks,
               "encoder": SimilarityJudge.asks, LLM: answered_by("model"),
               "cross-encoder": CrossEncoderJudge.asks}  # fmt: skip
    return [name for name, asks in fillers.items() if ask in asks]
