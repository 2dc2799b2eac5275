"""Judgements: their kinds, the questions that fill them, and the views that metrics read."""

from .column import Column
from .guideline import (
    ENGLISH,
    Guideline,
    filled,
    guideline_of,
    instructions_for_people,
    is_in,
    languages,
    meaning,
)
from .kind import ASKS, KINDS, Ask, Filler, Kind, Topic, answered_by, kind_of, name_for, values_of
from .tables import MISSING, UNDEFINED, VALUE, Judged, Tables, same_outcome
from .user_kinds import load_kinds
from .view import NO_ANSWER, REQUIREMENTS, VIEWS, About, Fact, Requirement, View
from .views import (
    AnswerFacts,
    Answers,
    AnswerSentences,
    Claims,
    ClaimsAgainstReferences,
    Contexts,
    Criteria,
    Evidence,
    ExampleTexts,
    KnownContexts,
    References,
    Sentences,
    Statements,
    weight,
)

# isort: split
# Kinds in the order in which judges are asked, which is also that of every list of them.
# isort: off
from .response import RESPONSE_TYPES, Response
from .claims import Claim, Statement
from .relevance import Relevance
from .counts import Citation
from .counts import Lexical
from .counts import Ngrams
from .counts import SquadWords
from .entities import Entities, EntitiesByModel, Entity
from .counts import Phrases
from .support import SUPPORT_VERDICTS, ConversationSupport, Support
from .agreement import CLAIM_VERDICTS, STATEMENT_VERDICTS, Agreement
from .agreement import Importance
from .grounding import Grounding
from .quality import Quality
from .criteria import Criterion
from .probes import Probe, Probes
from .rating import Critique, Rating, Ratings, Votes
from .rating import Preference, Preferences
from .counts import AnswerSentence
from .similarity import BERTSCORES, COSINES, MEASURES, Similarity
# isort: on

__all__ = [
    "ASKS", "BERTSCORES", "CLAIM_VERDICTS", "COSINES", "ENGLISH", "KINDS", "MEASURES",
    "MISSING", "NO_ANSWER", "REQUIREMENTS", "RESPONSE_TYPES", "STATEMENT_VERDICTS",
    "SUPPORT_VERDICTS", "UNDEFINED", "VALUE", "VIEWS", "About", "Agreement", "AnswerFacts",
    "AnswerSentence", "AnswerSentences", "Answers", "Ask", "Citation", "Claim", "Claims",
    "ClaimsAgainstReferences", "Column", "Contexts", "ConversationSupport", "Criteria", "Criterion",
    "Critique",
    "Entities", "EntitiesByModel", "Entity", "Evidence", "ExampleTexts", "Fact", "Filler",
    "Grounding", "Guideline", "Importance", "Judged", "Kind", "KnownContexts", "Lexical",
    "Ngrams", "Phrases", "Preference", "Preferences", "Probe", "Probes", "Quality", "Rating",
    "Ratings", "References", "Relevance", "Requirement", "Response", "Sentences", "Similarity",
    "SquadWords", "Statement", "Statements", "Support", "Tables", "Topic", "View", "Votes",
    "answered_by", "filled", "guideline_of", "instructions_for_people", "is_in", "kind_of",
    "languages", "load_kinds", "meaning", "name_for", "same_outcome", "values_of", "weight",
]  # fmt: skip
