"""Changes in the cell's own names: what is known where, and what a text for a person has to say of it."""
