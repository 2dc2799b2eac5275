"""Judging: the data in shards, the judges and their models, the tables of judged blocks."""
