"""One capture from start to saved Recording."""
