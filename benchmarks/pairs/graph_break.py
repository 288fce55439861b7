"""
number = 49
family = "compiling"
rule = "graph_breaks"
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
layers = 16
backend = "inductor"

[sizes.balanced]
steps = 60
batch = 512
width = 1024
layers = 16
backend = "inductor"

[sizes.device_bound]
steps = 40
batch = 8192
width = 2048
layers = 16
backend = "inductor"
"""

# %% setup
import torch

torch.manual_seed(0)
seen = []


class Layers(torch.nn.Module):
    def __init__(self, watched):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(size.width, size.width) for _ in range(size.layers))
        self.watched = watched

    def forward(self, x):
        for layer in self.layers:
            x = torch.nn.functional.gelu(layer(x)) + x
            if self.watched:
                seen.append(x.abs().max().item())
        return x


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
