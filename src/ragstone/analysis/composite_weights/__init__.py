"""Weighing: how much should each metric count? Imported file by file.

weights      weights fitted to people's opinions, and whether they are better
weighable    which metrics can be components
opinions     preferences and ratings, read from files
concordance  how often scores order answers as people do
"""
