"""One check a file, each with `run(check)`; `benchmarks.gpu_check.plan` says in which order they run."""
