"""Names: from what a user writes after ``--judge`` to the judges that are asked, in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragstone.errors import InputError, UnknownName
from ragstone.judgements import ASKS

from .human import HumanJudge
from .ids import IdsJudge
from .judge import Judge
from .local.judge import LocalJudge
from .markers import MARKERS
from .rules import RulesJudge

JUDGES: tuple[Judge, ...] = (HumanJudge(), IdsJudge(), LocalJudge(), RulesJudge())
"""Every judge of this version, in the order they are asked by default."""

LATER = ("openai", "anthropic", "gemini", "http", "https")


@dataclass(frozen=True, slots=True)
class Panel:
    """The judges to ask, in order, and the label files that people's words come from."""

    judges: tuple[Judge, ...]
    label_files: tuple[Path, ...] = ()


def parse_judges(names: Sequence[str], citations: str = MARKERS) -> Panel:
    """The judges these names mean, in their order; none: the labels in the data, then ``local``.

    ``rules`` always comes last: counting needs nobody's opinion. ``human`` is
    the labels and reference ids in the data, ``human:FILE`` those of a file.
    ``citations`` is the pattern of the markers by which an answer cites.

    Raises:
        UnknownName: No judge is called that.
        InputError: A judge that this version does not have yet, or a file that
            is not there.
    """
    rules = RulesJudge(citation_pattern=citations)
    if not names:
        return Panel((*JUDGES[:-1], rules))
    chosen: list[Judge] = []
    files: list[Path] = []
    for name in names:
        kind, _, rest = name.partition(":")
        if kind == "human":
            chosen += [HumanJudge(), IdsJudge()]
            if rest:
                files.append(Path(rest))
                if not files[-1].is_file():
                    raise InputError(f"--judge {name}: there is no file {rest}.")
        elif name == "local":
            chosen.append(LocalJudge())
        elif name != "rules":
            if kind in LATER:
                raise InputError(
                    f"--judge {name}: model judges come with a later version. This one has "
                    "local, human and human:FILE."
                )
            raise UnknownName(
                "judge", name, ["local", "human", "rules"], hint="ragstone judges lists them."
            )
    return Panel(tuple(dict.fromkeys([*chosen, rules])), tuple(files))


def who_fills(ask: str, judges: Sequence[Judge] = JUDGES) -> list[str]:
    """The judges that can be asked this."""
    return [judge.name for judge in judges if ask in judge.asks and ask in ASKS]
