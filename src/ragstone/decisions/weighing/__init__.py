"""Weighing: what should count how much? Imported file by file.

weights      weights fitted to people, and whether they are better
weighable    which metrics can be parts
opinions     preferences and ratings, read
concordance  how often scores order answers as people do
"""
