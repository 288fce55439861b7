"""Judgement: from Results to Findings. One rule a file."""
