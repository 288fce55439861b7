"""Rules about torch.compile and about first calls."""
