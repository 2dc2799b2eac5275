"""Queues of items that people label: who is given what, what they said, who changed what.

address    which store, and which queue of it, a text names
database   labels.sqlite, or PostgreSQL
snapshot   the same, to read alone
form       what is asked, of what, and what one person said of one item
queue      gives items out, and keeps what is said
turns      who has which item, and until when
people     who is in a queue, and by which token
routing    which examples come first, and how likely each was to be labelled
routed     that, in a store
pairs      two answers to one question, which people compare
taken_over  labels that were given elsewhere
own        what one person did, which is all that they may see
work       how far a queue is, and who did how much of it
pace       how fast people are, and how long the rest takes
texts      what people read, by name, so that words of it can be pointed to
check      what is wrong with what somebody says
divided    what people differ on, and what adjudicators decide
tags       names for what goes wrong, which notes are sorted into
records    what was said, as the rows of a label file
"""
