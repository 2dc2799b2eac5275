"""Judges: people, rules, the local judge and models, which all fill the same tables.

What a judge is, and what it is handed and returns, is imported from here; each judge from its own
module, and those of a text such as ``"human, openai:gpt-5-mini"`` through ``judge_names``. Most
commands read finished judgements and need no judge.
"""

from .judge import LEDGER, Block, Filled, Judge, Proposition, RowBuilder, fingerprint
from .markers import MARKERS

__all__ = ["LEDGER", "MARKERS", "Block", "Filled", "Judge", "Proposition", "RowBuilder",
           "fingerprint"]  # fmt: skip
