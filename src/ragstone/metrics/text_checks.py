"""Text checks: what an answer contains, whether it is JSON, how long it is; without a judge."""

from dataclasses import dataclass
from math import inf

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Answers, References

from .answer_rates import AnswerRate
from .metric import Metric, Range, Undefined
from .text_overlap import Overlap

# Scripts without spaces between words, and a word: a letter of theirs, or what holds a letter or
# a digit between white space or such letters.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_REST = rf"[^\s{_UNSPACED}]*"
_WORD = rf"[[{_UNSPACED}]&&\p{{L}}]\p{{M}}*|{_REST}[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]{_REST}"


@dataclass(frozen=True)
class Contains(AnswerRate):
    """Share of answers that contain a text, letter for letter.

    With ``ignore_case``, capital and small letters are the same.
    """

    name = "contains"

    text: str = ""
    ignore_case: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.text:
            raise InputError('contains needs the text to look for: contains(text="Paris").')

    def fact(self) -> pl.Expr:
        if self.ignore_case:
            return Answers.text.str.to_lowercase().str.contains(self.text.lower(), literal=True)
        return Answers.text.str.contains(self.text, literal=True)


@dataclass(frozen=True)
class Regex(AnswerRate):
    r"""Share of answers in which a regular expression matches somewhere.

    ``(?i)`` before the pattern ignores case; ``^`` and ``$`` are the start and end of the answer.
    Patterns are Rust's, without look-around or back-references, so none is slow.
    """

    name = "regex"

    pattern: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.pattern:
            raise InputError(r'regex needs a pattern: regex(pattern="\\bparagraph \\d+").')
        try:
            pl.select(pl.lit("").str.contains(self.pattern))
        except pl.exceptions.ComputeError as error:
            why = str(error).partition("\n\nThis error")[0]
            raise InputError(f"regex: the pattern cannot be read: {why}") from None

    def fact(self) -> pl.Expr:
        return Answers.text.str.contains(self.pattern)


class ValidJson(AnswerRate):
    """Share of answers that are JSON as a whole, with no word or code fence around it."""

    name = "valid_json"

    def fact(self) -> pl.Expr:
        is_null = Answers.text.str.strip_chars() == "null"
        return Answers.text.str.json_path_match("$").is_not_null() | is_null


class WordCount(Metric):
    """Number of words in the answer: pieces between white space that hold a letter or a digit.

    In scripts without spaces between words, such as Chinese, Japanese and Thai, each character
    counts as a word.
    """

    name = "word_count"
    family = "answer"
    over = Answers
    range = Range(0, inf, "0")
    empty = Undefined("no_answer")

    def rule(self) -> pl.Expr:
        return Answers.text.str.count_matches(_WORD).first()


class ContainsReference(Overlap):
    """1 if the answer contains the reference, letter for letter, else 0."""

    name = "contains_reference"
    range = Range(0, 1, "+", rate=True)

    def rule(self) -> pl.Expr:
        holds = References.answer.str.contains(References.text, literal=True)
        return (holds & (References.text != "")).first().cast(pl.Float64)
