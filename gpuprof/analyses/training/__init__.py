"""The training step: forward, backward, optimizer, gradients, and the CPU gaps between them."""
