"""The change as code: edits of the user's own cell on its concrete syntax tree.

Every edit is a function of source text to source text. It keeps each byte that it does not change, and returns None
where there is nothing to do or the source leaves any doubt: then the advice stays in words.
"""
