"""Printed lists: lists of texts and objects as NumPy, pandas and Python print them.

Nothing is run: the text is taken apart into literals, and the calls that stand for objects, such as
``Document(page_content='…')``, become their fields.
"""

import ast
import tokenize
from contextlib import suppress
from io import StringIO
from typing import Any

from .json_text import opened

# Characters of a printed list that are parsed; Python's parser takes far more memory.
LONGEST = 1 << 20


class LeftOutError(ValueError):
    """NumPy printed three dots in place of elements."""


def read_printed(text: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or object that a text shows as printed; otherwise None.

    NumPy puts no commas between texts, and Python would join them; here each stays separate.

    >>> read_printed("['a' 'b']"), read_printed("array(['a', 'b'], dtype=object)")
    (['a', 'b'], ['a', 'b'])
    >>> read_printed("[Document(page_content='a')]"), read_printed("[1] As it says")
    ([{'page_content': 'a'}], None)

    Raises:
        LeftOutError: Elements were left out.
    """
    # Prose that begins with a citation is not taken apart.
    if len(text) > LONGEST or text.rstrip()[-1:] not in ("]", "}", ")"):
        return None
    try:
        tree = ast.parse(_with_commas(text), mode="eval")
        value = _value(tree.body)
    except LeftOutError:
        raise
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        return None
    return value if isinstance(value, (list, dict)) else None


def opened_or_printed(value: Any) -> Any:
    """Return the list or object that a text spells as JSON or as Python prints it; else the value.

    >>> opened_or_printed("{'a': None}"), opened_or_printed("{a}")
    ({'a': None}, '{a}')
    """
    value = opened(value)
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    with suppress(LeftOutError):
        printed = read_printed(value)
        return value if printed is None else printed
    return value


def _with_commas(text: str) -> str:
    pieces: list[str] = []
    after = False
    for kind, piece, *_ in tokenize.generate_tokens(StringIO(text).readline):
        if kind in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            continue
        if piece == "...":
            raise LeftOutError
        if after and (kind in (tokenize.STRING, tokenize.NAME) or piece == "["):
            pieces.append(",")
        pieces.append(f"{piece} ")
        after = kind == tokenize.STRING or piece in ("]", ")")
    return "".join(pieces)


def _value(node: ast.expr) -> Any:
    match node:
        case ast.List() | ast.Tuple():
            return [_value(element) for element in node.elts]
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {str(_value(key)): _value(item) for key, item in pairs if key is not None}
        case ast.Call(func=ast.Name(id="array" | "Index" | "list"), args=[elements]):
            return _value(elements)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[number]):
            return _value(number)
        case ast.Call(func=ast.Name(), args=[]) if node.keywords:
            return {str(field.arg): _value(field.value) for field in node.keywords if field.arg}
        case ast.Name(id="nan"):
            return None
        case _:
            return ast.literal_eval(node)
