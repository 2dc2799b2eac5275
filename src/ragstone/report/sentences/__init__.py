"""The sentence for each code, one file for each package with codes; used by `report.words`."""
