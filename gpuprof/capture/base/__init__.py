"""What all of capture relies on: options, the user's stack, attributes read without side effects."""
