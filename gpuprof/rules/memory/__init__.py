"""Rules about GPU memory: peaks, growth, allocator calls, fragmentation."""
