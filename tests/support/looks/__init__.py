"""Small programs under the close look, as they were recorded: their tables are in tests/data/looks."""
