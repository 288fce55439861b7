"""DataLoaders, their samples and their batches."""
