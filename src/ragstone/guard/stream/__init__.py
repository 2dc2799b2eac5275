"""Streams: an answer is judged unit by unit while it is being written."""
