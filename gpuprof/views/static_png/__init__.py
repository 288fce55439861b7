"""The static picture of a run: budget bar, timeline, memory curve, as one PNG for places without scripts."""
