"""Measuring a change against the original: interleaved blocks, restored state, a confidence sequence, a guard."""
