NAME = 'GP hyperparameters by marginal likelihood; float64 needed for the ill-conditioned kernel'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = '''
import math
import torch

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)      # cond(K) is about 1e10: float32 Cholesky breaks down
n = 1400
x = torch.sort(torch.rand(n) * 10).values
y = torch.sin(x) + 0.3 * torch.cos(3 * x) + 1e-3 * torch.randn(n)
nhsq = (x[:, None] - x[None, :]).square().mul_(-0.5)

log_ell = torch.tensor(0.0, requires_grad=True)
log_sf = torch.tensor(0.0, requires_grad=True)
log_sn = torch.tensor(math.log(1e-4), requires_grad=True)
opt = torch.optim.Adam([log_ell, log_sf, log_sn], lr=0.05)

for it in range(22):
    K = torch.exp(2 * log_sf) * torch.exp(nhsq * torch.exp(-2 * log_ell))
    K.diagonal().add_(torch.exp(2 * log_sn))
    L = torch.linalg.cholesky(K)
    a = torch.linalg.solve_triangular(L, y[:, None], upper=False)
    nll = 0.5 * a.square().sum() + L.diagonal().log().sum() + 0.5 * n * math.log(2 * math.pi)
    opt.zero_grad()
    nll.backward()
    opt.step()
print(f"nll {nll.item():.3f}, lengthscale {log_ell.exp().item():.4f}, noise {log_sn.exp().item():.2e}")
torch.set_default_dtype(torch.float32)
'''
