"""Rules about the input pipeline: waits for a DataLoader, its workers, the making of samples."""
