NAME = 'Measures the diversity of sets of generated molecule descriptors by the Vendi score (entropy of kernel eigenvalues).'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'A full eigenvalue decomposition of a large dense matrix inside a loop looks heavy, but each kernel matrix is another one, all eigenvalues enter the entropy, and only values are computed.'
GOOD = r"""
import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(64)


def descriptors(n, modes, spread):
    centres = 2.0 * torch.randn(modes, 60)
    return centres[torch.randint(modes, (n,))] + spread * torch.randn(n, 60)


def vendi(x, width):
    k = torch.exp(-torch.cdist(x, x).pow(2) / (2 * width ** 2))
    ev = torch.linalg.eigvalsh(k / len(x))
    ev = ev[ev > 0]
    return torch.exp(-(ev * ev.log()).sum()).item()


rows = []
for modes in (2, 5, 10, 20, 50):
    for spread in (0.2, 0.6, 1.0):
        x = descriptors(2500, modes, spread)
        v = vendi(x, width=6.0)
        rows.append((modes, spread, v))
        print(f'modes {modes:3d}  spread {spread:.1f}  score {v:9.2f}')

table = np.array(rows)
for modes in np.unique(table[:, 0]):
    part = table[table[:, 0] == modes]
    slope = np.polyfit(part[:, 1], np.log(part[:, 2]), 1)[0]
    print(f'modes {int(modes):3d}: log-score slope over spread {slope:.3f}')
"""
