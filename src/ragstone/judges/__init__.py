"""Judges: people, rules, the local judge and models, which all fill the same tables."""

from .human import HumanJudge
from .ids import IdsJudge
from .judge import LEDGER, Block, Filled, Judge, Proposition, Sheet, fingerprint
from .local.judge import LocalJudge
from .markers import MARKERS
from .names import JUDGES, Panel, parse_judges, who_fills
from .nli import NliJudge
from .rules import RulesJudge

__all__ = [
    "JUDGES",
    "LEDGER",
    "MARKERS",
    "Block",
    "Filled",
    "HumanJudge",
    "IdsJudge",
    "Judge",
    "LocalJudge",
    "NliJudge",
    "Panel",
    "Proposition",
    "RulesJudge",
    "Sheet",
    "fingerprint",
    "parse_judges",
    "who_fills",
]
