"""Queues of items that people label: who is given what, what they said, who changed what."""
