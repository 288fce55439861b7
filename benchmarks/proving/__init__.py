"""The proving ground: labelled pairs of cells, what the rules say of them, and what their cures really give."""
