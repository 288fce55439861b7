"""A cell as syntax: statements, keywords, bindings, diffs."""
