"""Memory of models, steps and the notebook, and the caching allocator."""
