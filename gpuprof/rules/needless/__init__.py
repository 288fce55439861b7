"""Rules about work that need not be done, by the close look at values."""
