"""State that is kept and restored: objects, tensors, the process."""
