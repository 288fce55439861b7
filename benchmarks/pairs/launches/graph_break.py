"""
number = 49
title = "Keep Python out of the compiled function"
family = "compiling"
rule = ["graph_breaks", "sync_in_step"]
guard = "numerics"
shows_on = "cuda"
published = "nobody: measure"

[sizes.mini]
steps = 30
batch = 8
width = 64
layers = 6
backend = "eager"

[sizes.host_bound]
steps = 60
batch = 16
width = 256
layers = 15
backend = "inductor"

[sizes.balanced]
steps = 60
batch = 512
width = 1024
layers = 15
backend = "inductor"

[sizes.device_bound]
steps = 40
batch = 8192
width = 2048
layers = 15
backend = "inductor"
"""

# %% setup
import torch

torch.manual_seed(0)


class Layers(torch.nn.Module):
    def __init__(self, watched):
        super().__init__()
        self.lower, self.middle, self.upper = (
            torch.nn.Sequential(
                *(
                    part
                    for _ in range(size.layers // 3)
                    for part in (torch.nn.Linear(size.width, size.width), torch.nn.GELU())
                )
            )
            for _ in range(3)
        )
        self.watched = watched

    def forward(self, x):
        x = self.lower(x)
        if self.watched:
            self.largest = x.abs().max().item()
        x = self.middle(x)
        if self.watched:
            self.largest = x.abs().max().item()
        return self.upper(x)


x = torch.randn(size.batch, size.width, device=device)

# %% bad
torch.manual_seed(0)
model = Layers(watched=True).to(device)
compiled = torch.compile(model, backend=size.backend)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = compiled(x).square().mean()  # <- graph_breaks
    loss.backward()
    optimizer.step()

# %% good
torch.manual_seed(0)
model = Layers(watched=False).to(device)
compiled = torch.compile(model, backend=size.backend)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = compiled(x).square().mean()
    loss.backward()
    optimizer.step()
