"""Helpers for tests, including yours: rows, scores, scripted models and encoders, tiny models."""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
