"""Highlights: claims, evidence and differing words marked in texts that are shown inert."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from markupsafe import Markup, escape

from ragstone.core.escape import html, visible
from ragstone.core.grouping import grouped
from ragstone.data.record_labels import Unit
from ragstone.judgements import Support
from ragstone.judges.local.sentences import sentences
from ragstone.report.run_contents import Dossier, JudgedPart
from ragstone.web.templating import drawn

# Characters of a text that are shown and compared.
LONGEST = 10_000

TOKEN = re.compile(r"\w+|[^\w\s]")


def word_diff(first: str, second: str, longest: int = LONGEST) -> tuple[Markup, Markup]:
    """Mark in both texts what is not in a longest common sequence of their words.

    Their beginnings if they are longer; the page says so beside them.
    """
    texts = first[:longest], second[:longest]
    words = [list(TOKEN.finditer(text)) for text in texts]
    alike = list(_alike(*([word.group() for word in word] for word in words)))
    left, right = ({pair[side] for pair in alike} for side in (0, 1))
    return (_marked(texts[0], words[0], left, "del"), _marked(texts[1], words[1], right, "ins"))


def _marked(text: str, words: Sequence[re.Match[str]], alike: set[int], tag: str) -> Markup:
    parts, at = [], 0
    other = [index for index in range(len(words)) if index not in alike]
    for index in other:
        start, end = words[index].span()
        if index - 1 in alike or not index:
            parts += [html(text[at:start]), f"<{tag}>", html(text[start:end])]
        else:
            parts.append(html(text[at:end]))
        at = end
        if index + 1 in alike or index + 1 == len(words):
            parts.append(f"</{tag}>")
    return drawn("".join([*parts, html(text[at:])]))


def _alike(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Return the places of a longest common sequence of words, from the last to the first.

    A row of the table is one whole number, so ten thousand words take a fraction of a second
    whatever they are.

    Source: Hyyrö (2004), "Bit-parallel LCS-length computation revisited".
    """
    where: dict[str, int] = {}
    for index, word in enumerate(first):
        where[word] = where.get(word, 0) | 1 << index
    whole = (1 << len(first)) - 1
    rows = [whole]
    for word in second:
        row = rows[-1]
        common = row & where.get(word, 0)
        rows.append(((row + common) | (row - common)) & whole)
    column, line = len(first), len(second)
    while column and line:
        if rows[line] >> (column - 1) & 1:
            column -= 1
        elif rows[line - 1] >> (column - 1) & 1:
            column, line = column - 1, line - 1
            yield column, line
        else:
            line -= 1


# Characters of one text that are shown at once; the rest is fetched where somebody asks for it.
AT_ONCE = 10_000

MOST_SPANS = 200
BREAK = 200
SHORT = 260
# Characters in which a quote is looked for whose white space or case differs from the text's.
LOOKED_THROUGH = 200_000

# Of several claims about the same words the worst verdict is shown.
RANK = {"contradicted": 3, "absent": 2, "": 1, "supported": 0}

WORD = re.compile(r"[^\s|]+")
ELLIPSIS = re.compile(r"\.\.\.|…|\n\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Words that a judgement is about; ``quiet`` ones are marked only while they are lit.

    ``key`` is what lights up with them, such as the number of a claim.
    """

    start: int
    end: int
    key: str
    verdict: str = ""
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """Marked text, followed by text from ``start`` to ``end`` that is fetched when asked for."""

    text: Markup
    start: int = 0
    end: int = 0


def inert(text: str) -> Markup:
    """Return the text with every character shown, and none that means anything."""
    return escape(visible(text))


def shown_until(text: str, start: int, most_bytes: int) -> int:
    """Return where a piece ends: after ``AT_ONCE`` characters, or fewer that take more room."""
    end = min(len(text), start + AT_ONCE)
    while end - start > 1 and (size := len(inert(text[start:end]).encode())) > most_bytes:
        end = start + max(1, (end - start) * most_bytes // (size + 1))
    if end < len(text):
        space = max(text.rfind(" ", end - BREAK, end), text.rfind("\n", end - BREAK, end))
        end = space if space > start else end
    return end


def marked(text: str, spans: Iterable[Span], start: int, end: int, look: str) -> Markup:
    """Return the text from ``start`` to ``end`` with spans marked, each followed by its number."""
    inside = [span for span in spans if span.start < end and span.end > start][:MOST_SPANS]
    begins = grouped((max(span.start, start), span) for span in inside)
    cuts = sorted({start, end, *begins, *(min(span.end, end) for span in inside)})
    out: list[str] = []
    active: list[Span] = []
    for left, right in pairwise(cuts):
        active = [span for span in active if span.end > left] + begins.get(left, [])
        piece = inert(text[left:right])
        if active:
            keys = " ".join(dict.fromkeys(span.key for span in active))
            loud = [span for span in active if not span.quiet]
            worst = max(loud, key=lambda span: RANK.get(span.verdict, 1), default=None)
            looks = f"{look} {worst.verdict}" if worst else f"{look} quietly"
            piece = Markup('<span class="{}" data-k="{}">{}</span>').format(looks, keys, piece)
            if closing := [span.key for span in loud if span.end == right]:
                piece += Markup('<sup class="k">{}</sup>').format(together(closing))
        out.append(piece)
    return Markup("").join(out)


def together(keys: Sequence[str]) -> str:
    """Write numbers in short.

    >>> together(["4", "5", "6", "8"]), together(["3"]), together(["4", "5", "6"])
    ('4,5,6,8', '3', '4–6')
    """
    keys = list(dict.fromkeys(keys))
    if len(keys) > 2 and all(key.isdigit() for key in keys):
        first, last = int(keys[0]), int(keys[-1])
        if last - first == len(keys) - 1:
            return f"{first}–{last}"
    return ",".join(keys)


def quoted(quote: str, text: str) -> list[tuple[int, int]]:
    """Return where a text has the words of a quote; of one with ellipses, each of its parts."""
    spans = []
    for part in ELLIPSIS.split(quote[: 2 * AT_ONCE]):
        words = part.strip()
        at = text.find(words) if words else -1
        if at >= 0:
            spans.append((at, at + len(words)))
        elif words and (span := _folded(words, text[:LOOKED_THROUGH])):
            spans.append(span)
    return spans


def _folded(quote: str, text: str) -> tuple[int, int] | None:
    """Return where the text has the quote, whatever the case and the white space."""
    target = " ".join(word.group().lower() for word in WORD.finditer(quote))
    words = list(WORD.finditer(text))
    folded = [word.group().lower() for word in words]
    at = " ".join(folded).find(target)
    if not target or at < 0:
        return None
    starts = list(accumulate((len(word) + 1 for word in folded), initial=0))
    first = bisect_right(starts, at) - 1
    last = bisect_right(starts, at + len(target) - 1) - 1
    start = words[first].start() + at - starts[first]
    end = words[last].start() + at + len(target) - starts[last]
    return min(start, words[first].end()), min(end, words[last].end())


def answer_pieces(
    text: str, spans: Sequence[Span], start: int, most_bytes: int
) -> list[MarkedPiece]:
    """Return a text as it was written, from a character on, with its spans marked."""
    end = shown_until(text, start, most_bytes)
    return [MarkedPiece(marked(text, spans, start, end, "cl"), end, len(text))]


def context_pieces(
    text: str,
    spans: Sequence[Span],
    relevant: Collection[int],
    *,
    start: int = 0,
    end: int | None = None,
    most_bytes: int,
    folds: bool = True,
) -> list[MarkedPiece]:
    """Return a context with quotes and relevant sentences marked, and the other sentences folded.

    It is shown from ``start``, at most to ``end`` and in ``most_bytes``; a quote far behind comes
    too. ``relevant`` are positions of sentences, from 0; ``folds``: others are folded.
    """
    last = len(text) if end is None else min(end, len(text))
    until = min(shown_until(text, start, most_bytes), last)
    pieces = []
    piece = _sentences(text, spans, relevant, start, until, folds=folds)
    far = [span for span in spans if not span.quiet and until <= span.start < last]
    at = until
    # A quote far behind what is shown is shown too, between what is left out.
    for far_span in sorted(far, key=lambda span: span.start)[:5]:
        if far_span.start < at:
            continue
        pieces.append(MarkedPiece(piece, at, far_span.start))
        at = min(far_span.end, far_span.start + SHORT * 4)
        piece = marked(text, spans, far_span.start, at, "quote")
    return [*pieces, MarkedPiece(piece, at, last)]


def _sentences(
    text: str,
    spans: Sequence[Span],
    relevant: Collection[int],
    start: int,
    until: int,
    *,
    folds: bool,
) -> Markup:
    ends = [sentence.end for sentence in sentences(text[:until])]
    folded: list[Markup] = []
    out: list[Markup] = []
    left = 0
    loud = [span for span in spans if not span.quiet]
    for number, end in enumerate([*ends[:-1], until] if ends else [until]):
        begin, left = max(left, start), end
        if end <= start:
            continue
        piece = marked(text, spans, begin, end, "quote")
        is_relevant = number in relevant
        if is_relevant:
            piece = Markup('<span class="rel-s">{}</span>').format(piece)
        is_marked = any(span.start < end and span.end > begin for span in loud)
        if is_relevant or is_marked or not out or not folds:
            out += _fold(folded)
            folded = []
            out.append(piece)
        else:
            folded.append(piece)
    return Markup("").join([*out, *_fold(folded)])


def _fold(pieces: Sequence[Markup]) -> Iterator[Markup]:
    text = Markup("").join(pieces)
    if len(pieces) < 2 and len(text) <= SHORT:
        yield text
        return
    count = f"{len(pieces)} sentence{'' if len(pieces) == 1 else 's'}"
    yield Markup('<details class="fold"><summary>⋯ {}</summary>{}</details>').format(count, text)


# Begins the key of a statement; a claim's is its number.
LATE = "s"


def claim_spans(facts: Dossier) -> list[Span]:
    """Return the claims in the answer, each with the verdict of the contexts."""
    spans = []
    for part in facts.parts["claim"]:
        start, end = part.own.get("start"), part.own.get("end")
        if start is not None and end is not None:
            spans.append(Span(start, end, str(part.place + 1), support_of(part)))
    return spans


def quotes(facts: Dossier, context: JudgedPart) -> tuple[list[Span], str]:
    """Return where a context has the words that verdicts rest on, and the claims that do."""
    id, text = context.own["id"], context.text or ""
    spans: list[Span] = []
    uses: list[str] = []
    known: dict[str, list[tuple[int, int]]] = {}
    units: tuple[tuple[Unit, str], ...] = (("claim", ""), ("statement", LATE), ("evidence", "e"))
    several = len(facts.example.reference) > 1
    for unit, letter in units:
        for part in facts.parts[unit]:
            if id not in rests_on(part):
                continue
            number = str(part.place + 1)
            if unit == "claim":
                uses.append(number)
            elif unit == "statement" and several:
                number = f"{part.reference + 1}.{number}"
            quote = part.said[Support.name][0].values["quote"]
            if not quote:
                continue
            if quote not in known:
                known[quote] = quoted(quote, text)
            spans += [
                Span(start, end, letter + number, support_of(part), quiet=unit != "claim")
                for start, end in known[quote]
            ]
    return spans, together(uses) if len(uses) < 60 else f"1–{uses[-1]}"


def rests_on(part: JudgedPart) -> list[str]:
    """Return the ids of the contexts that the verdict on a claim or statement rests on."""
    rows = part.said.get(Support.name)
    return list(rows[0].values["evidence"] or ()) if rows else []


def support_of(part: JudgedPart) -> str:
    """Return what the contexts say of a claim or statement; empty if nobody said."""
    rows = part.said.get(Support.name)
    return str(rows[0].values["verdict"] or "") if rows else ""
