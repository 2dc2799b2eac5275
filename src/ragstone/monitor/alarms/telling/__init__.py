"""Telling: who is told of an alarm, and that it is done at least once.

queue    what is to be told, by the alarms and silences
message  an event of an alarm as data and in words
sending  takes what is due, in threads of its own, and tries again later
webhook, email, file, stdout   the ways
"""
