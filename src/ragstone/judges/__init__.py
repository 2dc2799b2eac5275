"""Judges: people, rules, the local judge and models, which all fill the same tables.

What a judge is, and what it is handed and returns, is imported from here; each judge from its own
module, and those of a text such as ``"human, openai:gpt-5-mini"`` through ``judge_names``. Most
commands read finished judgements and need no judge.
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
