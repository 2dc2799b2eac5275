"""Databases that are a SQLite file for one machine, or PostgreSQL for teams.

layout             what is kept in one, and what is said where it cannot be used
reaction           what it does by itself when a row changes
database           both behind one seam: transactions, and readings of one moment
sqlite_database    in a file
postgres_database  on a server
postgres_address   what of an address can be shown
"""
