NAME = 'e24_latency_report'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
# How long does one request take?  (p50 / p95 by sequence length, batch size 1 as in the service)
import time
import torch
from torch import nn

torch.manual_seed(137)
torch.set_num_threads(1)


class IntentModel(nn.Module):
    def __init__(self, vocab=8000, dim=256, depth=4, intents=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(256, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 4, 4 * dim, dropout=0.1, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.intent = nn.Linear(dim, intents)

    def forward(self, tokens):
        h = self.body(self.emb(tokens) + self.pos[: tokens.shape[1]])
        return self.intent(self.norm(h.mean(1)))


model = IntentModel().eval()
n_params = sum(p.numel() for p in model.parameters())
print(f"{n_params / 1e6:.2f} M parameters")


def measure(fn, warmup=10, repeats=260):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(repeats):
        t0 = time.perf_counter()
        fn()
        times.append(time.perf_counter() - t0)
    t = torch.tensor(times) * 1e3
    return t.median().item(), t.quantile(0.95).item(), t.min().item()


rows = []
with torch.inference_mode():
    for length in (16, 48, 96, 192):
        request = torch.randint(0, 8000, (1, length))
        p50, p95, best = measure(lambda: model(request))
        rows.append((length, p50, p95, best))

print(f"{'tokens':>6} {'p50 ms':>8} {'p95 ms':>8} {'min ms':>8}")
for length, p50, p95, best in rows:
    print(f"{length:6d} {p50:8.2f} {p95:8.2f} {best:8.2f}")

# linear fit of latency against length, for the capacity plan
L = torch.tensor([[1.0, r[0]] for r in rows])
coef = torch.linalg.lstsq(L, torch.tensor([[r[1]] for r in rows])).solution.flatten()
print(f"latency ~ {coef[0]:.2f} ms + {coef[1] * 1000:.1f} us per token")
'''
