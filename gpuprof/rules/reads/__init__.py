"""What of a result is read, by the text of a cell."""
