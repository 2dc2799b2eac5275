"""By encoder: the local judge with its encoder, inside a request."""

from collections.abc import Sequence

from ragstone.core.messages import reason
from ragstone.guard.answered import Answered
from ragstone.guard.grounding import ClaimVerdict, told
from ragstone.judges.local.aligner import Aligner, AlignmentInput
from ragstone.judges.local.claims_and_evidence import LocatedClaim
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.models import CachedEncoder, Encoder

MOST_CHARACTERS = 200_000
"""Of contexts that are read token by token: more takes longer than any request may."""


class EncoderJudge:
    """The local judge: strings, and the alignment of tokens by an encoder.

    The vectors of the contexts of the last requests are kept, so that further answers by the same
    contexts take only the time of their claims.
    """

    def __init__(self, encoder: Encoder, name: str) -> None:
        self.name = name
        self.parts = tuple(LocalJudge(encoder).parts)
        # Of requests, unlike of runs, nothing is kept on disk.
        inner = encoder.uncached if isinstance(encoder, CachedEncoder) else encoder
        self._aligner = Aligner(inner)

    def verdicts(
        self, one: Answered, claims: Sequence[LocatedClaim]
    ) -> Sequence[ClaimVerdict] | str:
        """A verdict for each claim; or why there are none."""
        if sum(map(len, one.grounds.texts)) > MOST_CHARACTERS:
            return reason("too_much_for_encoder", most=MOST_CHARACTERS)
        texts = tuple(claim.text for claim in claims)
        asked = AlignmentInput(one.grounds.texts, one.grounds.passages, texts)
        [matches] = self._aligner.align([asked])
        return [
            told(one.grounds.judge(text, one.question or None, match), one)
            for text, match in zip(texts, matches, strict=True)
        ]
