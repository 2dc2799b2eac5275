"""Watches a system in production: its traces, how good its answers are, and when they get worse.

store      everything that is kept, in SQLite or PostgreSQL
"""
