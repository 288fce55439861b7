"""The input pipeline: waits, workers, samples, contention for cores."""
