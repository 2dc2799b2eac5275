"""Addresses: the links of a text, and what runs in a browser."""

import html
import re
from collections.abc import Iterator

# Where something begins and ends.
Place = tuple[int, int]


def addresses(text: str) -> Iterator[tuple[Place, str]]:
    """Yield the addresses of a text and what runs in a browser, each with a key: equal for the
    same.
    """
    if _IN_ANY_ADDRESS.search(text) is None:
        return
    for written in _ADDRESS.finditer(text):
        address = written.group().rstrip(_BEHIND_ADDRESS)
        if key := address_key(address):
            yield (written.start(), written.start() + len(address)), key


def address_key(written: str) -> str:
    """Return an address without what may be left out: protocol, `www.`, a slash at its end."""
    plain = _BEFORE_ADDRESS.sub("", html.unescape(written))
    host, slash, path = _SAME_ADDRESS.sub("", plain).partition("/")
    return f"{host.casefold()}{slash}{path}".rstrip("/")


_TAIL = r"(?:[^\s<>\"'`()\[\]{}|\\]|\([^\s()<>]*\))+"
_PLACES = r"(?:com|net|org|info|biz|edu|gov|mil|int|io|dev|app|xyz|top|online|site|shop)"
_ADDRESS = re.compile(
    # What is plain by its beginning.
    rf"https?:[/\\]{{2}}(?:\[[\da-f:.]+\])?{_TAIL}|url\([ \t]*[\"']?{_TAIL}"
    # Most words are passed over by what stands behind them.
    r"|\b(?<![\w+.@/:-])(?=[\w.+-]{1,255}[ \t]*[@:/=(])(?:"
    # A scheme; what a browser runs or opens; where mail goes; a host with a path.
    r"(?:[a-z][a-z0-9+.-]{1,15}://|(?:javascript|vbscript|blob|file|mailto):|data:[\w.+-]+/)"
    rf"{_TAIL}"
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|(?:(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}|(?:\d{1,3}\.){3}\d{1,3})(?::\d+)?/"
    rf"{_TAIL})"
    # An attribute of HTML, behind `xlink:` or a slash too.
    r"|\b(?<![\w+.@-])(?:(?:href|src|srcset|action|formaction|poster|background|ping)[ \t]*=[ \t]*"
    rf"[\"']?(?!#)[/\\]*{_TAIL}"
    # What runs by itself: by its name anywhere, by whatever name within a tag.
    r"|on(?:error|load|click|dblclick|mouse\w+|focus\w*|blur|key\w+|submit|change|input|toggle"
    r"|pointer\w+|touch\w+|animation\w+|transition\w+|wheel|drag\w*|drop|paste|copy|begin|message"
    r"|scroll|start|finish|show)[ \t]*=[ \t]*[^\s>]+)"
    rf"|\b(?<![\w+.@/:-])(?:www\.{_TAIL}"
    rf"|(?:[a-z0-9-]{{1,63}}\.){{1,8}}{_PLACES}(?![\w.-]{{0,63}}\w))"
    # The target of a link or an image in Markdown.
    rf"|(?<=\]\()[ \t]*<?(?![#)])[/\\]*{_TAIL}|(?<=\]:)[ \t]*<?[/\\]+{_TAIL}"
    r"|<[a-z][^<>]{0,300}?[\s/\"']on[a-z]{3,30}[ \t]*="
    r"|<(?:script|iframe|object|embed|applet|form|meta|link|base|style)\b[^<>\s]*",
    re.IGNORECASE,
)
_IN_ANY_ADDRESS = re.compile(r"[:@/=(<]|\.\S")
_BEFORE_ADDRESS = re.compile(r"\A(?:(?!on)\w+[ \t]*=|url\()?[ \t]*[<\"']?", re.IGNORECASE)
_SAME_ADDRESS = re.compile(r"\A(?:mailto:|(?:[a-z][a-z0-9+.-]*:)?//)?(?:www\.)?", re.IGNORECASE)
_BEHIND_ADDRESS = ".,;:!?*_~\"'"
