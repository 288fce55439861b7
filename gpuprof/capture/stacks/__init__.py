"""Which code the cell's thread runs, seen from outside: samples of its stack over the whole cell."""
