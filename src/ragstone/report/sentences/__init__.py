"""What each code says to people, a file for each room that gives codes; read by `report.words`."""
