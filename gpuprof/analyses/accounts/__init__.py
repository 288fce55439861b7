"""What the time of the whole cell went on, in the user's terms: phase, line, and what ran."""
