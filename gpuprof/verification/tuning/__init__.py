"""Which settings of a cell are fastest: candidates as code, a race between them, and the proof of the best."""
