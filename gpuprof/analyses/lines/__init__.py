"""Lines of the notebook: where a thread was, and what each line cost."""
