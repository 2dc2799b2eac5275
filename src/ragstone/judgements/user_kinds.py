"""Loading: user-defined kinds, from a file or a module."""

from collections.abc import Iterator
from pathlib import Path

from ragstone.core.errors import InputError
from ragstone.core.user_code import nothing_if_refused, own_module

from .guideline import filled, guideline_file, places
from .kind import KINDS, WAITING, Kind


@nothing_if_refused()
def load_kinds(name: str | Path) -> list[type[Kind]]:
    """Load and register the kinds that a Python file, or a module given by name, defines.

    Raises:
        InputError: It does not exist, fails to run, defines no kind, or defines kinds that cannot
            be judged; all their faults are listed.
    """
    module = own_module(name)
    kinds = [kind for kind in KINDS.values() if kind.__module__ == module.__name__]
    if not kinds:
        raise InputError(f"{name} defines no kind. Begin with: class Tone(Kind).")
    faults = [f"  {kind.name}: {fault}" for kind in kinds for fault in _faults(kind)]
    if faults:
        raise InputError("\n".join([f"{name} defines kinds that cannot be judged:", *faults]))
    return kinds


def _faults(kind: type[Kind]) -> Iterator[str]:
    """Faults that can be found only after the whole file, and its guideline, are in place."""
    for ask in kind.asks:
        if any(ask in waiting for waiting in WAITING):
            yield f"it comes after {', '.join(ask.after)}, but there is no such ask"
    file = guideline_file(kind)
    if file is None or not file.is_file():
        yield f"no guideline: write what is judged, and how, in {kind.name}.md next to the file"
        return
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield f"{file.name} cannot be read: {error}"
        return
    if not text.strip():
        yield f"{file.name} is empty: write there what is judged, and how"
    for placeholder in places(text):
        try:
            filled(placeholder, kind)
        except KeyError:
            yield f"{file.name} has a placeholder {placeholder}, but no kind has such a column"
