"""Messages: argument names for Python or shell users, reason codes, and pages of results.

A library cannot know its caller: a Python caller writes ``metrics="mrr"``, a shell user
``--metric mrr``. A message therefore holds a placeholder for the argument, delimited by
private-use characters that occur in no other text. ``str(error)`` gives the Python form, the
command line the shell form.

A reason for a missing value, verdict or answer is a code with facts. A table stores it as text,
which can be parsed back without loss:

    no_retrieval
    not_judged?kind=quality&by=people,model
    faithfulness: no_claims
    openai:gpt-5: timeout?said=no+reply+within+60+s&tries=all

A prefix names the subject, such as a component or a judge. Any other text, such as a model's own
reason, stays verbatim under the code ``said``. ``ragstone.report`` words reasons and renders
pages. It depends on the packages that raise errors and return results, so these cannot import
it: ``ragstone`` registers it here, and it is imported at the first use.
"""

import re
import shlex
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import PurePath
from typing import Any, Protocol, Self
from urllib.parse import parse_qsl, quote_plus

OPEN, BETWEEN, CLOSE = "\ue000", "\ue001", "\ue002"
_SIGNS = re.compile(f"[{OPEN}{BETWEEN}{CLOSE}]")
_ARGUMENT = re.compile(f"{OPEN}([a-z_]+(?:{BETWEEN}[^{OPEN}{BETWEEN}{CLOSE}]*)*){CLOSE}")
_CALL = re.compile(f"{OPEN}([a-z_]+)\\({CLOSE}(.*?){OPEN}\\){CLOSE}", re.DOTALL)
_NEXT = f"{CLOSE}{BETWEEN}{OPEN}"

# Arguments whose shell option is not simply their name with dashes for underscores.
OPTIONS: Mapping[str, str] = {
    "asked": "--label",
    "cached": "--cache",
    "columns": "--map",
    "data": "DATA",
    "metrics": "--metric",
    "others": "--other",
    "people": "--labels",
    "run": "RUN",
    "scales": "--scale",
    "scored": "RUN",
    "suites": "--suite",
}

# Functions whose shell command has another name.
COMMANDS: Mapping[str, str] = {
    "draw_sample": "sample",
    "mean_sizes": "plan mean",
    "rescore": "score",
}

# Options of the command line for which a function has no argument, with what to do in Python.
IN_PYTHON: Mapping[str, str] = {
    **dict.fromkeys(("kinds", "metrics_from"), "an import of their file"),
    "undo": "undo_correction",
    "without_corrections": "without_corrections()",
}


def renamed(old: str, new: str) -> str:
    """Return the note for users of an old name."""
    return f"{old} is now called {new}."


def warn_renamed(old: str, new: str) -> None:
    """Warn the caller's Python caller that a name has changed."""
    warnings.warn(renamed(old, new), DeprecationWarning, stacklevel=3)


class Renamed:
    """The old name of an attribute or method, which still works and warns.

    >>> class Run:
    ...     def correct(self) -> None: ...
    ...
    ...     overrule = Renamed("correct")
    """

    def __init__(self, new: str) -> None:
        self._new = new
        self._old = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._old = name

    def __get__(self, instance: object, owner: type) -> Any:
        warn_renamed(f"{owner.__name__}.{self._old}", f"{owner.__name__}.{self._new}")
        return getattr(owner if instance is None else instance, self._new)


class Notice(str):
    """A string in its Python form that keeps its placeholders, so the shell form can be made."""

    marked: str

    def __new__(cls, text: str) -> Self:
        notice: Self = super().__new__(cls, in_python(text))
        notice.marked = marked(text)
        return notice


def argument(name: str, value: object = None) -> str:
    """An argument in a message.

    >>> in_python(argument("metrics", "mrr")), in_shell(argument("metrics", "mrr"))
    ('metrics="mrr"', '--metric mrr')
    >>> in_python(argument("offline", True)), in_shell(argument("offline", True))
    ('offline=True', '--offline')
    >>> in_python(argument("skip_bad")), in_shell(argument("skip_bad"))
    ('skip_bad=', '--skip-bad')
    >>> in_python(argument("columns", {"id": "ID"})), in_shell(argument("columns", {"id": "ID"}))
    ('columns={"id": ID}', '--map id=ID')

    >>> in_python(argument("by", ["a", "b"])), in_shell(argument("by", ["a", "b"]))
    ('by=["a", "b"]', '--by a --by b')

    Args:
        name: Its name in Python.
        value: The value given or suggested; None if only the argument is meant, True or False for
            a flag. A word in capitals is a placeholder for the caller's own value.
    """
    match value:
        case None:
            parts = []
        case list():
            parts = ["", *value]
        case Mapping():
            (parts,) = ([key, of] for key, of in value.items())
        case _:
            parts = [value]
    return f"{OPEN}{BETWEEN.join([name, *(_SIGNS.sub('', str(each)) for each in parts)])}{CLOSE}"


def call(function: str, *arguments: str) -> str:
    """Write a call of a function with these arguments; for shell users, the command.

    >>> said = call("rescore", argument("run", "RUN"), argument("metrics", "mrr"))
    >>> in_python(said), in_shell(said)
    ('rescore(run=RUN, metrics="mrr")', 'ragstone score RUN --metric mrr')
    """
    return f"{OPEN}{function}({CLOSE}{BETWEEN.join(arguments)}{OPEN}){CLOSE}"


def marked(text: str) -> str:
    """Return the text with its placeholders."""
    return text.marked if isinstance(text, Notice) else text


def noticed(text: str) -> str:
    """Return a stored text, as a ``Notice`` if it holds placeholders."""
    return Notice(text) if OPEN in text else text


def in_python(text: str) -> str:
    """Return the text in its form for Python callers."""
    if OPEN not in text:
        return text
    text = _CALL.sub(
        lambda match: f"{match[1]}({match[2].replace(_NEXT, f'{CLOSE}, {OPEN}')})", text
    )
    return _ARGUMENT.sub(lambda match: _assigned(*match[1].split(BETWEEN)), text)


def in_shell(text: str) -> str:
    """Return the text in its form for shell users."""
    text = marked(text)
    if OPEN not in text:
        return text
    text = _CALL.sub(
        lambda match: _command(match[1], match[2].replace(_NEXT, f"{CLOSE} {OPEN}")), text
    )
    return _ARGUMENT.sub(lambda match: _option(*match[1].split(BETWEEN)), text)


def throughout(value: Any, words: Callable[[str], str]) -> Any:
    """Apply ``words`` to every string in a value, also within lists, mappings and dataclasses."""
    match value:
        case str():
            return words(value)
        case list():
            return [throughout(item, words) for item in value]
        case tuple():
            return tuple(throughout(item, words) for item in value)
        case Mapping():
            return {throughout(key, words): throughout(item, words) for key, item in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            inside = {each.name: getattr(value, each.name) for each in fields(value)}
            return replace(value, **throughout(inside, words))
    return value


def _assigned(name: str, *values: str) -> str:
    match values:
        case _ if name in IN_PYTHON:
            return IN_PYTHON[name]
        case []:
            return f"{name}="
        case [one]:
            return f"{name}={_value(one)}"
        case ["", *several]:
            return f"{name}=[{', '.join(map(_value, several))}]"
    key, of = values
    return f"{name}={{{_value(key)}: {_ends(of)}}}"


def _value(text: str) -> str:
    if text in ("True", "False") or text.isupper() or re.fullmatch(r"-?[\d.]+", text):
        return text
    return f"'{text}'" if '"' in text else f'"{text}"'


def _ends(text: str) -> str:
    """The value of a key: ``FIRST:LAST`` as a pair, anything else as one value."""
    first, _, last = text.partition(":")
    return f"({first}, {last})" if text.isupper() and last else _value(text)


def _command(function: str, arguments: str) -> str:
    return f"ragstone {COMMANDS.get(function, function)}{' ' if arguments else ''}{arguments}"


def _option(name: str, *values: str) -> str:
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    lead = "" if option.isupper() else f"{option} "
    match values:
        case [] | ["True"]:
            return option
        case ["False"]:
            return f"--no-{option.removeprefix('--')}"
        case [one]:
            return lead + shlex.quote(one)
        case ["", *several]:
            return " ".join(lead + shlex.quote(value) for value in several)
    key, of = values
    return lead + shlex.quote(f"{key}={of}")


SAID = "said"
_SAFE = "/:,;()[]{}'!*@$~"
_PLAIN = re.compile(rf"[A-Za-z0-9 _.\-{re.escape(_SAFE)}]*")
_READ = re.compile(r"(?P<code>[a-z][a-z0-9_]*)(?:\?(?P<facts>\S+))?")


@dataclass(frozen=True, slots=True)
class Reason:
    """A parsed reason: a code, its facts by name, and what it is about: a component or a judge."""

    code: str
    facts: Mapping[str, str] = field(default_factory=dict)
    of: str = ""

    def __str__(self) -> str:
        if self.code == SAID:
            text = self.facts.get(SAID, "")
            return f"{self.of}: {text}" if self.of else text
        return _text(self.code, self.of, self.facts)

    def about(self, of: str) -> "Reason":
        """Put ``of`` before what the reason is already about."""
        return Reason(self.code, self.facts, f"{of}: {self.of}" if self.of else of)

    @classmethod
    def read(cls, text: str) -> "Reason":
        """Parse the text of a reason; text in any other form gets the code ``said``.

        >>> Reason.read("local: no_context_text"), Reason.read("It is so.").code
        (Reason(code='no_context_text', facts={}, of='local'), 'said')
        """
        # A code and its facts hold no space, so whatever is before the last colon is the prefix.
        of, colon, rest = text.rpartition(": ")
        match = _READ.fullmatch(rest)
        if match is None or of != of.strip() or bool(of) != bool(colon):
            return cls(SAID, {SAID: text})
        facts = dict(parse_qsl(match["facts"] or "", keep_blank_values=True))
        return cls(match["code"], facts, of)


def reason(code: str, *, of: str = "", **facts: object) -> str:
    """Write a reason; facts that are empty or None are left out.

    >>> reason("not_judged", kind="quality", by="people,model")
    'not_judged?kind=quality&by=people,model'
    """
    # Judges make a reason a row; going by way of a Reason takes twice as long.
    return _text(code, of, facts)


def _text(code: str, of: str, facts: Mapping[str, object]) -> str:
    written = "&".join(
        [f"{name}={_written(str(fact))}" for name, fact in facts.items() if fact not in (None, "")]
    )
    text = f"{code}?{written}" if written else code
    return f"{of}: {text}" if of else text


def _written(text: str) -> str:
    # Reasons are made row by row, and nearly all are of such characters: twice as fast.
    if _PLAIN.fullmatch(text):
        return text.replace(" ", "+")
    return quote_plus(text, safe=_SAFE, errors="backslashreplace")


class Renderer(Protocol):
    """A renderer of results as HTML and text."""

    def notebook_html(self, result: object, /) -> str: ...
    def printed(self, result: object, /) -> str: ...


_load_renderer: list[Callable[[], Renderer]] = []
_load_words: list[Callable[[], Callable[[str], str]]] = []


def reported_by(
    renderer: Callable[[], Renderer], words: Callable[[], Callable[[str], str]]
) -> None:
    """Register what imports the renderer of results, and the function that words reasons."""
    _load_renderer[:], _load_words[:] = [renderer], [words]


def plain(value: Any) -> Any:
    """Return a result as JSON has it: dataclasses and mappings as objects, tuples as lists."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return str(value) if isinstance(value, PurePath) else value


class Displayable:
    """A result with a page of its own."""

    __slots__ = ()

    def notebook(self) -> str:
        """Return the page as HTML, which is how a notebook shows it."""
        return _load_renderer[0]().notebook_html(self)

    def _repr_html_(self) -> str:
        return self.notebook()

    def __str__(self) -> str:
        return _load_renderer[0]().printed(self)


def worded(reason: str) -> str:
    """Return a reason in words, for people."""
    return _load_words[0]()(reason)
