NAME = "Fits a small ensemble of CNN fitness predictors for protein variants and then designs sequences by gradient ascent on relaxed residues."
FAULT = "During design only the gradient at the sequence logits is used, yet backward also computes (and accumulates) the gradients of all weights of the trained predictors."
CURE = "Freeze the trained predictors (requires_grad_(False)) before the design loop."
KIND = "time"
FAULT_LINES = ["objective.backward()", "score = torch.stack([net(probs) for net in ensemble])",
               "def design(ensemble, n_designs, steps):", "designs, trace = design(ensemble, n_designs=48, steps=85)"]
FAULT_CALLS = ["backward", "run_backward", "convolution_backward", "ConvolutionBackward0", "AccumulateGrad", "mkldnn_convolution_backward", "design", "add_"]
FAULTY = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

ALPHABET = "ACDEFGHIKLMNPQRSTVWY"
LENGTH, N_VARIANTS = 96, 192

# hidden landscape: additive position effects plus a few neighbouring couplings
effects = torch.randn(LENGTH, 20) * 0.3
coupling = torch.randn(LENGTH - 3, 20, 20) * 0.15


def true_fitness(seq):
    pos = torch.arange(LENGTH)
    additive = effects[pos, seq].sum(-1)
    pairs = coupling[pos[:-3], seq[:, :-3], seq[:, 3:]].sum(-1)
    return additive + pairs


wild_type = torch.randint(0, 20, (LENGTH,))
variants = wild_type.repeat(N_VARIANTS, 1)
mutate = torch.rand(N_VARIANTS, LENGTH) < 0.15
variants[mutate] = torch.randint(0, 20, (int(mutate.sum()),))
fitness = true_fitness(variants)
mu, sd = fitness.mean(), fitness.std()
target = (fitness - mu) / sd


class FitnessCNN(nn.Module):
    def __init__(self, channels=80, kernel=7):
        super().__init__()
        self.stem = nn.Conv1d(20, channels, kernel, padding=kernel // 2)
        self.blocks = nn.ModuleList(
            [nn.Conv1d(channels, channels, kernel, padding=kernel // 2) for _ in range(3)])
        self.head = nn.Linear(channels * LENGTH, 1)

    def forward(self, x):                       # x: (batch, length, 20)
        h = F.relu(self.stem(x.transpose(1, 2)))
        for conv in self.blocks:
            h = h + F.relu(conv(h))
        return self.head(h.flatten(1)).squeeze(-1)


def fit(net, epochs=3):
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)
    rows = torch.randint(0, N_VARIANTS, (N_VARIANTS,))      # bootstrap
    for _ in range(epochs):
        for idx in rows[torch.randperm(len(rows))].split(64):
            x = F.one_hot(variants[idx], 20).float()
            loss = F.mse_loss(net(x), target[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net.eval(), loss.item()


ensemble = []
for member in range(3):
    net, last = fit(FitnessCNN())
    ensemble.append(net)
    print(f"member {member}: last batch loss {last:.3f}")


def design(ensemble, n_designs, steps):
    start = F.one_hot(wild_type, 20).float() * 2.0
    logits = (start + 0.5 * torch.randn(n_designs, LENGTH, 20)).requires_grad_()
    opt = torch.optim.Adam([logits], lr=0.08)
    trace = []
    for step in range(steps):
        temperature = 1.0 - 0.7 * step / steps
        probs = F.softmax(logits / temperature, dim=-1)
        score = torch.stack([net(probs) for net in ensemble])
        drift = 1.0 - probs[:, torch.arange(LENGTH), wild_type].mean(-1)
        objective = -(score.mean(0) - 0.5 * score.std(0) - 1.0 * drift).mean()
        opt.zero_grad()
        objective.backward()
        opt.step()
        trace.append(-objective.item())
    return logits.detach().argmax(-1), trace


designs, trace = design(ensemble, n_designs=48, steps=85)
print(f"objective {trace[0]:.2f} -> {trace[-1]:.2f}")
changed = (designs != wild_type).sum(-1).float().mean()
gain = (true_fitness(designs) - true_fitness(wild_type[None])).mean() / sd
print(f"mutations per design {changed.item():.1f}, true gain {gain.item():.2f} sd")
best = designs[true_fitness(designs).argmax()]
print("best:", "".join(ALPHABET[i] for i in best[:40].tolist()), "...")
'''
CURED = FAULTY.replace("    return net.eval(), loss.item()", "    return net.eval().requires_grad_(False), loss.item()")
