"""Memory: peaks, what they are made of, growth, allocator calls."""
