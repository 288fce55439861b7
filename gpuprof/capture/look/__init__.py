"""The close look: a few iterations in which every operator is seen with its tensors, by what they hold."""
