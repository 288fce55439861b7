"""Rules about the training step: optimizer, gradients, graph recording."""
