"""The judgement room: kinds, the asks they are filled by, and the views metrics see."""

from .agreement import CLAIM_VERDICTS, STATEMENT_VERDICTS, Agreement
from .asks import ASKS, REQUIREMENTS, Ask, Requirement
from .citations import Citation
from .claims import Claim
from .critique import Critique
from .grounding import Grounding
from .kind import KINDS, About, Column, Kind
from .lexical import Lexical
from .phrases import Phrases
from .preference import Preference
from .probes import Probe
from .quality import Quality
from .rating import Rating
from .relevance import Relevance
from .response import RESPONSE_TYPES, Response
from .similarity import BERTSCORES, COSINES, MEASURES, Similarity
from .statements import Statement
from .support import SUPPORT_VERDICTS, Support
from .tables import MISSING, UNDEFINED, VALUE, Judged, Tables, same_outcome
from .topic import Topic
from .view import VIEWS, Fact, View
from .views import (
    Answers,
    AnswerSentences,
    Claims,
    ClaimsAgainstReferences,
    Contexts,
    Evidence,
    KnownContexts,
    Preferences,
    Probes,
    Ratings,
    References,
    Sentences,
    Statements,
    Votes,
    weight,
)

__all__ = [
    "ASKS",
    "BERTSCORES",
    "CLAIM_VERDICTS",
    "COSINES",
    "KINDS",
    "MEASURES",
    "MISSING",
    "REQUIREMENTS",
    "RESPONSE_TYPES",
    "STATEMENT_VERDICTS",
    "SUPPORT_VERDICTS",
    "UNDEFINED",
    "VALUE",
    "VIEWS",
    "About",
    "Agreement",
    "AnswerSentences",
    "Answers",
    "Ask",
    "Citation",
    "Claim",
    "Claims",
    "ClaimsAgainstReferences",
    "Column",
    "Contexts",
    "Critique",
    "Evidence",
    "Fact",
    "Grounding",
    "Judged",
    "Kind",
    "KnownContexts",
    "Lexical",
    "Phrases",
    "Preference",
    "Preferences",
    "Probe",
    "Probes",
    "Quality",
    "Rating",
    "Ratings",
    "References",
    "Relevance",
    "Requirement",
    "Response",
    "Sentences",
    "Similarity",
    "Statement",
    "Statements",
    "Support",
    "Tables",
    "Topic",
    "View",
    "Votes",
    "same_outcome",
    "weight",
]
