"""What gpuprof does to real programs, and whether its figures of them are right: five that nobody wrote for it."""
