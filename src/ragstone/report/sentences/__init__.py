"""Sentences: what is said of data, runs, judges, decisions and guarded answers, a module each."""
