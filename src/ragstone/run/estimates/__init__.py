"""Estimates: from scores, in pieces, to means with intervals."""
