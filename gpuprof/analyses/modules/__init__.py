"""What each module of a model takes: time on the host and on the device, forward and backward, and memory."""
