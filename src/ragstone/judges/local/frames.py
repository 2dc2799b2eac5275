"""Frames: openings that say who says something, but not what.

``Yes, I heard that``, ``According to the passages,``, ``The context states that``: what follows is
the assertion that contexts can support.
"""

import re

from .words import terms

VERSION = "ragstone-frames/1"


def frame_end(text: str) -> int:
    """Where the assertion begins: after the frames; 0 if there is none.

    A frame is removed only if at least two content words follow it.
    """
    opening = _FRAMES.match(text)
    if opening is None or len(terms(text[opening.end() :])) < LEAST_LEFT:
        return 0
    return opening.end()


LEAST_LEFT = 2

_INTERJECTIONS = (
    "yes|yeah|yep|yup|no|nope|oh|ah|hmm|well|sure|ok|okay|right|exactly|hi|hello|hey|wow|haha|lol|"
    "cool|nice|great|true|absolutely|definitely|certainly|of course|indeed|also|actually|and|but|"
    "so|too|interesting|agreed|unfortunately|fortunately|i see"
)
_SPEAKING = (
    r"(?:i|we)(?:'m| am)? ?(?:also |really |just |do |did |can |would |only |have |'ve |n't |not )*"
    r"(?:think|know|believe|heard|hear|read|guess|learn|learned|learnt|understand|tell you|say|"
    r"sure|aware|agree(?: with (?:you|that))?(?: on this)?|bet|found out|find out|remember|"
    r"don't but|do n't but|do but)(?: about)?(?: is| was)?(?: that)?(?: it is| it's)?"
)
_SOURCES = r"(?:contexts?|passages?|documents?|texts?|information|sources?|articles?)"
_ATTRIBUTION = (
    r"did you know(?: that)?|it is true that|do n't but|don't but|"
    rf"(?:according to|based on) (?:the|these|this|my) (?:\w+ ){{0,3}}{_SOURCES}(?: provided)?|"
    rf"(?:the|these) (?:\w+ )?{_SOURCES} (?:says?|states?|mentions?|notes?|explains?)(?: that)?"
)
_FRAMES = re.compile(
    rf"(?:\s*(?:{_INTERJECTIONS}|{_SPEAKING}|{_ATTRIBUTION})(?![\w'’])[\s,.!:;…-]*)+", re.IGNORECASE
)
