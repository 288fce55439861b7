NAME = 'Fits a linear probe on made-up sentence embeddings with full-batch L-BFGS and compares several weight decays.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The closure recomputes loss and gradient over all rows at every call because the line search needs both at new weights; almost every call is one accepted iteration.'

GOOD = r'''
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(61)

N_TRAIN, N_VALID, DIM, CLASSES = 9000, 3000, 512, 60


def embeddings(n, centers, mix):
    y = torch.randint(0, CLASSES, (n,))
    x = centers[y] + 1.6 * torch.randn(n, DIM)
    x = F.normalize(x @ mix, dim=1) * DIM ** 0.5
    flip = torch.rand(n) < 0.05
    y[flip] = torch.randint(0, CLASSES, (int(flip.sum()),))
    return x, y


centers = 0.3 * torch.randn(CLASSES, DIM)
scales = torch.logspace(0, -1.0, DIM)
mix = torch.linalg.qr(torch.randn(DIM, DIM)).Q * scales
x_train, y_train = embeddings(N_TRAIN, centers, mix)
x_valid, y_valid = embeddings(N_VALID, centers, mix)
mu = x_train.mean(0)
x_train, x_valid = x_train - mu, x_valid - mu


class Probe:
    def __init__(self, decay):
        self.W = torch.zeros(DIM, CLASSES, requires_grad=True)
        self.b = torch.zeros(CLASSES, requires_grad=True)
        self.decay = decay
        self.calls = 0

    def logits(self, x):
        return torch.addmm(self.b, x, self.W)

    def fit(self, x, y, rounds, per_round):
        opt = torch.optim.LBFGS([self.W, self.b], lr=1.0, max_iter=per_round, history_size=10,
                                tolerance_grad=1e-7, tolerance_change=1e-10,
                                line_search_fn="strong_wolfe")

        def closure():
            opt.zero_grad()
            loss = F.cross_entropy(self.logits(x), y) + self.decay * self.W.pow(2).sum()
            loss.backward()
            self.calls += 1
            return loss

        history = []
        for _ in range(rounds):
            history.append(opt.step(closure).item())
        iterations = opt.state[self.W]["n_iter"]
        return history, iterations

    @torch.no_grad()
    def score(self, x, y):
        out = self.logits(x)
        return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


best = None
for decay in (1e-5, 1e-4, 1e-3):
    probe = Probe(decay)
    history, iterations = probe.fit(x_train, y_train, rounds=3, per_round=25)
    val_loss, val_acc = probe.score(x_valid, y_valid)
    print(f"decay {decay:g}: loss at the start of each round {[round(h, 3) for h in history]}")
    print(f"   {iterations} iterations, {probe.calls} closure calls, valid loss {val_loss:.3f}, acc {val_acc:.3f}")
    if best is None or val_loss < best[0]:
        best = (val_loss, decay, probe)

_, decay, probe = best
print(f"best decay {decay:g}, weight norm {probe.W.detach().norm().item():.3f}")
'''
