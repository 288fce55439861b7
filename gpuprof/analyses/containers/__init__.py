"""What the text of a notebook does with the containers that hold its tensors: how they are filled, read and named."""
