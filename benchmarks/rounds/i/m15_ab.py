NAME = 'Scores customers with a small network, then bootstraps the uplift of an A/B test with pandas.'
FAULT = 'Every bootstrap replicate resamples the complete table (hundreds of embedding columns) although the statistic needs two columns.'
CURE = 'Select the needed columns before the bootstrap loop and resample only them.'
KIND = 'time'
FAULT_LINES = [
    'b = table.sample(len(table), replace=True, random_state=seed)',
    'draws = [uplift_once(df, s) for s in range(N_BOOT)]',
]
FAULT_CALLS = [
    'sample',
    'DataFrame.sample',
    'take',
    'uplift_once',
    '<listcomp>',
    'bootstrap',
]
FAULTY = r"""
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

# customers -> embedding -> propensity score
N, N_BOOT = 18000, 1500
feats = torch.randn(N, 64)
encoder = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 256))
scorer = nn.Linear(256, 1)
with torch.no_grad():
    emb = encoder(feats)
    score = torch.sigmoid(scorer(emb)).squeeze(-1).numpy()

df = pd.DataFrame(emb.numpy(), columns=[f"emb_{i:03d}" for i in range(256)])
df["score"] = score
df["arm"] = rng.choice(["A", "B"], N)
base = 0.10 + 0.25 * score + 0.03 * (df["arm"] == "B").to_numpy()
df["revenue"] = rng.gamma(2.0, 15.0, N) * (rng.random(N) < base)


def uplift_once(table, seed):
    b = table.sample(len(table), replace=True, random_state=seed)
    means = b.groupby("arm")["revenue"].mean()
    return means["B"] - means["A"]


point = df.groupby("arm")["revenue"].mean()
print("arms:", point.round(4).to_dict())
draws = [uplift_once(df, s) for s in range(N_BOOT)]
lo, hi = np.percentile(draws, [2.5, 97.5])
print(f"uplift {point['B'] - point['A']:.4f}   95% interval [{lo:.4f}, {hi:.4f}]   sd {np.std(draws):.5f}")
"""
CURED = r"""
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

# customers -> embedding -> propensity score
N, N_BOOT = 18000, 1500
feats = torch.randn(N, 64)
encoder = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 256))
scorer = nn.Linear(256, 1)
with torch.no_grad():
    emb = encoder(feats)
    score = torch.sigmoid(scorer(emb)).squeeze(-1).numpy()

df = pd.DataFrame(emb.numpy(), columns=[f"emb_{i:03d}" for i in range(256)])
df["score"] = score
df["arm"] = rng.choice(["A", "B"], N)
base = 0.10 + 0.25 * score + 0.03 * (df["arm"] == "B").to_numpy()
df["revenue"] = rng.gamma(2.0, 15.0, N) * (rng.random(N) < base)


def uplift_once(table, seed):
    b = table.sample(len(table), replace=True, random_state=seed)
    means = b.groupby("arm")["revenue"].mean()
    return means["B"] - means["A"]


point = df.groupby("arm")["revenue"].mean()
print("arms:", point.round(4).to_dict())
small = df[["arm", "revenue"]]
draws = [uplift_once(small, s) for s in range(N_BOOT)]
lo, hi = np.percentile(draws, [2.5, 97.5])
print(f"uplift {point['B'] - point['A']:.4f}   95% interval [{lo:.4f}, {hi:.4f}]   sd {np.std(draws):.5f}")
"""
