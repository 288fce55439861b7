"""Whether a recording can be judged at all: one check a file, and the gate that asks them all."""
