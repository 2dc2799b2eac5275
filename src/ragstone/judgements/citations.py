"""Citations: which contexts does the answer name as its sources?

A marker such as ``[2]`` names the context of that rank, ``[doc-7]`` the one of
that id. A marker that no context answers to is fabricated.
"""

import polars as pl

from .column import Column
from .kind import Ask, Kind


class Citation(Kind):
    """One row per citation marker of the answer."""

    name = "citations"
    asks = (Ask(requires=("answer",), by=("counting",), beside=("contexts",), says="cites"),)
    made = True
    repeats = True

    sentence = Column(
        pl.UInt32, "the answer's sentence it stands in, from 0", role="unit", phrase=""
    )
    marker = Column(pl.String, "as written", role="unit", phrase="{}")
    context = Column(
        pl.String,
        "id of the context it names; null where there is none",
        phrase={None: "no retrieved context"},
        tones={None: "bad"},
    )
