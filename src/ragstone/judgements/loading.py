"""Loading: kinds of a user's own, from a file or a module."""

from pathlib import Path

from ragstone.errors import InputError
from ragstone.own_file import own_module

from .ask import WAITING
from .kind import KINDS, Kind
from .requirements import REQUIREMENTS

SHOWN = ("question", "contexts", "answer", "sentences", "reference", "policy")


def load_kinds(name: str | Path) -> list[type[Kind]]:
    """The kinds that a Python file, or a module by its name, defines; they come along from then on.

    Raises:
        InputError: It is not there, does not run, or defines no kind that can be judged; says
            every fault of it.
    """
    module = own_module(name)
    found = [kind for kind in KINDS.values() if kind.__module__ == module.__name__]
    if not found:
        raise InputError(f"{name} defines no kind. Begin with: class Tone(Kind).")
    faults = [f"  {kind.name}: {fault}" for kind in found for fault in _faults(kind)]
    if faults:
        raise InputError("\n".join([f"{name} defines kinds that cannot be judged:", *faults]))
    return found


def _faults(kind: type[Kind]) -> list[str]:
    faults = []
    if not kind.name.isidentifier() or kind.name != kind.name.lower():
        faults.append("a name is a word of small letters, digits and _")
    if not kind.decides:
        faults.append('no column with role="verdict", so nothing is decided')
    elif kind.columns[kind.decides].dtype.is_numeric() and not kind.columns[kind.decides].values:
        faults.append(f"{kind.decides} has no values, so a model does not know what it may say")
    if not kind.asks:
        faults.append("no ask, so nobody is asked: asks = (Ask(over=Answers),)")
    for ask in kind.asks:
        unknown = [one for one in ask.requires if one not in REQUIREMENTS]
        if unknown:
            known = ", ".join(REQUIREMENTS)
            faults.append(f"requires {', '.join(unknown)}, which is none of {known}")
        others = [one for one in ask.by if one not in ("people", "model")]
        if others:
            faults.append(f"is answered by {', '.join(others)}; who can be asked: people, model")
        if any(ask in waiting for waiting in WAITING):
            faults.append(f"it comes after {', '.join(ask.after)}, which nobody is asked")
    unknown = [text for text in kind.shows if text not in SHOWN]
    if unknown:
        faults.append(f"shows {', '.join(unknown)}, which is none of {', '.join(SHOWN)}")
    return faults
