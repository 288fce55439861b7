NAME = "Learns the energy surface of a small particle cluster by matching forces, which are gradients of the network's energy."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'create_graph is needed in training because the loss is built on the forces, which are gradients themselves, and the evaluation needs autograd to obtain the forces at all.'

GOOD = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(91)

ATOMS, N_TRAIN, N_TEST, BATCH, EPOCHS = 8, 6000, 1000, 400, 12
FIRST, SECOND = torch.triu_indices(ATOMS, ATOMS, offset=1)


def distances(pos):
    gap = pos[:, FIRST] - pos[:, SECOND]
    return gap.pow(2).sum(-1).add(1e-6).sqrt()


def true_energy(pos):
    d = distances(pos)
    pair = (1.0 - torch.exp(-1.2 * (d - 1.3))).pow(2)
    crowd = torch.exp(-d).sum(1)
    return pair.clamp(max=4.0).sum(1) * 0.1 + 0.05 * crowd.pow(2)


def clusters(n):
    corners = torch.tensor([[x, y, z] for x in (0.0, 1.3) for y in (0.0, 1.3) for z in (0.0, 1.3)])
    pos = (corners + 0.12 * torch.randn(n, ATOMS, 3)).requires_grad_(True)
    energy = true_energy(pos)
    force = -torch.autograd.grad(energy.sum(), pos)[0]
    return pos.detach(), energy.detach(), force


class EnergyNet(nn.Module):
    def __init__(self, mean, std, width=640):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        pairs = len(FIRST)
        self.net = nn.Sequential(
            nn.Linear(pairs, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1))

    def forward(self, pos):
        d = (distances(pos) - self.mean) / self.std
        return self.net(d).squeeze(1)

    def energy_and_force(self, pos, training):
        pos = pos.detach().requires_grad_(True)
        energy = self(pos)
        grad, = torch.autograd.grad(energy.sum(), pos, create_graph=training)
        return energy, -grad


def evaluate(model, pos, energy, force):
    e, f = model.energy_and_force(pos, training=False)
    offset = (energy - e.detach()).mean()
    energy_mae = (e.detach() + offset - energy).abs().mean().item()
    cosine = torch.cosine_similarity(f.flatten(1), force.flatten(1), dim=1).mean().item()
    return energy_mae, (f - force).abs().mean().item(), cosine


pos, energy, force = clusters(N_TRAIN)
test_pos, test_energy, test_force = clusters(N_TEST)
d = distances(pos)
model = EnergyNet(d.mean(0), d.std(0))
shift = energy.mean()
force_scale = force.std()
print(f"energy spread {energy.std().item():.3f}, force spread {force_scale.item():.3f}")

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=EPOCHS)

for epoch in range(EPOCHS):
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        e, f = model.energy_and_force(pos[idx], training=True)
        force_loss = ((f - force[idx]) / force_scale).pow(2).mean()
        energy_loss = (e - (energy[idx] - shift)).pow(2).mean()
        loss = force_loss + 0.1 * energy_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += force_loss.item() * len(idx)
    sched.step()
    energy_mae, force_mae, cosine = evaluate(model, test_pos, test_energy, test_force)
    print(f"epoch {epoch}: force loss {total / N_TRAIN:.4f}, test energy MAE {energy_mae:.4f}, "
          f"force MAE {force_mae:.4f}, cosine {cosine:.4f}")
'''
