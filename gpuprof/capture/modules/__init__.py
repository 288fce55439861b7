"""Which module of a model runs when, while kernels are recorded."""
