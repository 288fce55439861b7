"""
number = 74
title = "Count steps in a tensor, not in a number that compiled code looks at"
family = "face_margins"
rule = "recompiles_in_steady_state"
guard = "numerics"
shows_on = "cpu"
whole_cell = true
published = "nobody: measure"

[first_sight]
found = true
false = ["cold_start_dominates"]

[sizes.mini]
steps = 24
batch = 16
width = 32
layers = 2
people = 20
backend = "eager"

[sizes.cpu]
steps = 100
batch = 64
width = 384
layers = 2
people = 400
backend = "aot_eager"

[sizes.host_bound]
steps = 60
batch = 64
width = 256
layers = 6
people = 1000
backend = "inductor"

[sizes.balanced]
steps = 60
batch = 512
width = 2048
layers = 6
people = 10000
backend = "inductor"

[sizes.device_bound]
steps = 60
batch = 4096
width = 4096
layers = 8
people = 50000
backend = "inductor"

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the module counts its steps in a plain number as well, but outside of what is compiled"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
faces = torch.randn(4, size.batch, size.width, device=device)
who = torch.randint(0, size.people, (4, size.batch), device=device)
body = [layer for _ in range(size.layers) for layer in (nn.Linear(size.width, size.width), nn.PReLU())]
body = nn.Sequential(*body).to(device)


def margin_loss(cosines, kinds, margin):
    """Cross-entropy with the angle to the right person widened by the margin (ArcFace)."""
    angles = cosines.clamp(-0.999, 0.999).acos()
    right = nn.functional.one_hot(kinds, size.people)
    return nn.functional.cross_entropy(16 * (angles + right * margin).cos(), kinds)


# %% bad
class Verifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = body
        self.centres = nn.Parameter(torch.randn(size.people, size.width))
        self.seen = 0

    def forward(self, x, kinds):
        self.seen += 1  # <- recompiles_in_steady_state
        margin = 0.3 * min(1.0, self.seen / size.steps)
        normalize = nn.functional.normalize
        cosines = normalize(self.body(x)) @ normalize(self.centres).T
        return margin_loss(cosines, kinds, margin)


torch.manual_seed(1)
torch.compiler.reset()
model = Verifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
compiled = torch.compile(model, backend=size.backend)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = compiled(faces[step % 4], who[step % 4])  # <- recompiles_in_steady_state
    loss.backward()
    optimizer.step()


# %% good
class Verifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = body
        self.centres = nn.Parameter(torch.randn(size.people, size.width))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x, kinds):
        self.seen += 1
        margin = 0.3 * (self.seen / size.steps).clamp(max=1.0)
        normalize = nn.functional.normalize
        cosines = normalize(self.body(x)) @ normalize(self.centres).T
        return margin_loss(cosines, kinds, margin)


torch.manual_seed(1)
torch.compiler.reset()
model = Verifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
compiled = torch.compile(model, backend=size.backend)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = compiled(faces[step % 4], who[step % 4])
    loss.backward()
    optimizer.step()


# %% negative
class Verifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(size.people, size.width))
        self.body = torch.compile(body, backend=size.backend)
        self.seen = 0

    def forward(self, x, kinds):
        self.seen += 1
        margin = 0.3 * min(1.0, self.seen / size.steps)
        normalize = nn.functional.normalize
        cosines = normalize(self.body(x)) @ normalize(self.centres).T
        return margin_loss(cosines, kinds, margin)


torch.manual_seed(1)
torch.compiler.reset()
model = Verifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = model(faces[step % 4], who[step % 4])
    loss.backward()
    optimizer.step()
