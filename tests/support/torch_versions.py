"""What the installed torch can do, by trying."""

import torch

_NODE = torch.ones(1, requires_grad=True).exp().grad_fn
# else the size of what a graph keeps is not known: asking for the tensor would run hooks of the user's
TELLS_WHAT_GRAPHS_KEEP = hasattr(getattr(_NODE, "_raw_saved_result", None), "data")
