"""Static page: a page of the app as a file, without what needs the server."""

import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from html.parser import HTMLParser

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)
CONTROLS = frozenset(("input", "select", "textarea", "label", "button"))

LIVE = re.compile(r'\s(?:hx-[\w:.-]+|data-choice)(?:="[^"]*")?')
CLASS = re.compile(r'\sclass="[^"]*"')

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' file:",
        "style-src 'self' file:",
        "font-src 'self' file:",
        "img-src 'self' file: data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
"""A file has no origin of its own, so that a browser may not take it for ``'self'``."""


def static_page(html: str, link: Callable[[str], str], note: str) -> str:
    """The page with links to other files, and without forms and what asks the server.

    Forms and their controls are left out, but for a table that a form holds. What leads to a page
    that is not a file is text.

    Args:
        html: The page, as the app gives it.
        link: The file for an address; empty if there is none.
        note: What the page says first.
    """
    reader = _Rewriter(html, link, note)
    reader.feed(html)
    reader.close()
    return "".join(reader.out)


class _Rewriter(HTMLParser):
    """Writes each tag again as it was, unless it has to go or to lead elsewhere."""

    def __init__(self, html: str, link: Callable[[str], str], note: str) -> None:
        super().__init__(convert_charrefs=False)
        self.out: list[str] = []
        self._link, self._note = link, note
        forms = [part.partition("</form>")[0] for part in html.split("<form")[1:]]
        self._holds_table = ["<table" in form for form in forms]
        self._dialogs = ['method="dialog"' in form for form in forms]
        self._forms = 0
        self._in_form = False
        self._left_out = 0
        """How many tags are open of what is left out."""
        self._closing: list[str] = []
        """For each open tag how it is closed."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._left_out:
            self._left_out += tag not in VOID
            return
        raw = self.get_starttag_text() or ""
        written, closed = self._written(tag, raw, {name: value or "" for name, value in attrs})
        if not written:
            self._left_out += tag not in VOID
            return
        self.out.append(written)
        if tag not in VOID:
            self._closing.append(closed)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if not self._left_out:
            self.out.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._in_form = False
        if self._left_out:
            self._left_out -= 1
        elif self._closing:
            self.out.append(self._closing.pop())

    def _written(self, tag: str, raw: str, attrs: Mapping[str, str]) -> tuple[str, str]:
        """The tag and how it is closed; empty if it is left out with all in it."""
        looks = attrs.get("class", "").split()
        if tag == "form":
            return self._form(raw)
        live = self._in_form or "form" in attrs or any(name.startswith("hx-") for name in attrs)
        if (
            (tag in CONTROLS and live)
            or {"sheet", "noting"} & set(looks)
            or (self._in_form and {"field", "token"} & set(looks))
            or (tag == "meta" and attrs.get("name") == "secret")
            or (tag == "script" and "htmx" in attrs.get("src", ""))
        ):
            return "", ""
        if "over" in looks or "set" in looks:
            return (
                f'<span class="{escape(" ".join(sorted({*looks} - {"over", "set"})))}">',
                "</span>",
            )
        raw, closed = LIVE.sub("", raw), f"</{tag}>"
        for name in ("href", "src"):
            if name in attrs and not attrs[name].startswith("#"):
                path = self._link(unescape(attrs[name]))
                if not path and (tag != "a" or {"btn", "token", "live"} & set(looks)):
                    return "", ""
                raw = _leading(raw, name, path)
        if tag == "head":
            raw += f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        if tag == "main":
            raw += f'<p class="note plain">{escape(self._note)}</p>'
        return raw, closed

    def _form(self, raw: str) -> tuple[str, str]:
        place, self._forms = self._forms, self._forms + 1
        if self._dialogs[place]:
            return raw, "</form>"
        self._in_form = True
        looks = CLASS.search(raw)
        kept = "" if looks is None or "filters" in looks[0] else looks[0]
        return (f"<div{kept}>", "</div>") if self._holds_table[place] else ("", "")

    def _as_it_is(self, text: str) -> None:
        if not self._left_out:
            self.out.append(text)

    def handle_data(self, data: str) -> None:
        self._as_it_is(data)

    def handle_entityref(self, name: str) -> None:
        self._as_it_is(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._as_it_is(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._as_it_is(f"<!{decl}>")


def _leading(raw: str, name: str, path: str) -> str:
    """A tag that leads to another file, or nowhere."""
    before, _, rest = raw.partition(f' {name}="')
    after = rest.partition('"')[2]
    return f'{before} {name}="{escape(path)}"{after}' if path else f"{before}{after}"
