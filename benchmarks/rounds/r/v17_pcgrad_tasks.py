NAME = 'Trains a shared network for three conflicting molecule-property tasks with PCGrad, projecting conflicting task gradients.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'PCGrad needs the separate shared gradient of every task before it can project them, so the per-task backward passes with retain_graph cannot be merged into one.'

GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(51)

N, N_TEST, BITS, TASKS = 6000, 1500, 256, 3


def molecules(n, weights):
    x = (torch.rand(n, BITS) < 0.2).float()
    h = torch.tanh((x - 0.2) @ weights["in"])
    y = h @ weights["out"] + 0.1 * torch.randn(n, TASKS)
    return x, y


weights = {"in": torch.randn(BITS, 20) / 4, "out": torch.randn(20, TASKS) / 3}
weights["out"][:, 1] = -0.6 * weights["out"][:, 0] + 0.5 * weights["out"][:, 1]
x_train, y_train = molecules(N, weights)
x_test, y_test = molecules(N_TEST, weights)


class SharedNet(nn.Module):
    def __init__(self, hidden=640):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(BITS, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(hidden, 1) for _ in range(TASKS)])

    def forward(self, x):
        h = self.trunk(x)
        return torch.cat([head(h) for head in self.heads], dim=1)


def flat(grads):
    return torch.cat([g.reshape(-1) for g in grads])


def project(task_grads):
    merged = torch.zeros_like(task_grads[0])
    conflicts = 0
    for i, g in enumerate(task_grads):
        g = g.clone()
        for j in torch.randperm(TASKS).tolist():
            if j == i:
                continue
            dot = torch.dot(g, task_grads[j])
            if dot < 0:
                g -= dot / task_grads[j].pow(2).sum() * task_grads[j]
                conflicts += 1
        merged += g
    return merged, conflicts


model = SharedNet()
shared = list(model.trunk.parameters())
sizes = [p.numel() for p in shared]
opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)

for epoch in range(8):
    model.train()
    sums, conflicts = torch.zeros(TASKS), 0
    for idx in torch.randperm(N).split(500):
        losses = F.mse_loss(model(x_train[idx]), y_train[idx], reduction="none").mean(0)
        opt.zero_grad()
        task_grads = []
        for k, head in enumerate(model.heads):
            own = list(head.parameters())
            grads = torch.autograd.grad(losses[k], shared + own, retain_graph=k < TASKS - 1)
            task_grads.append(flat(grads[:len(shared)]))
            for p, g in zip(own, grads[len(shared):]):
                p.grad = g
        merged, n = project(task_grads)
        for p, g in zip(shared, merged.split(sizes)):
            p.grad = g.view_as(p)
        opt.step()
        conflicts += n
        sums += losses.detach() * len(idx)
    model.eval()
    with torch.no_grad():
        test = F.mse_loss(model(x_test), y_test, reduction="none").mean(0)
    print(f"epoch {epoch}: train {[round(v, 3) for v in (sums / N).tolist()]}, "
          f"test {[round(v, 3) for v in test.tolist()]}, projections {conflicts}")
'''
