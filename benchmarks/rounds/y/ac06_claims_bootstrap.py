NAME = "Bootstraps a Poisson frequency model of motor claims to give an interval for the premium of a few reference policies."
FAULT = "Each fitted model keeps its resampled data matrix as an attribute, and all fits stay in a list, so a copy of the portfolio per replicate is held until the end."
CURE = "Keep the data in local variables during the fit so that only the coefficients live on in the list."
KIND = "memory"
FAULT_LINES = ["self.X, self.claims, self.exposure = X, claims, exposure", "fits.append(PoissonModel().fit(X[rows], claims[rows], exposure[rows]))"]
FAULT_CALLS = ["fit", "index", "__getitem__", "PoissonModel"]
FAULTY = r'''
import torch

torch.set_num_threads(1)
torch.manual_seed(42)

N_POLICIES = 36_000
REPLICATES = 200


def make_portfolio(n):
    """Rating factors one-hot coded, plus standardised vehicle and driver age."""
    region = torch.nn.functional.one_hot(torch.randint(0, 20, (n,)), 20)[:, 1:]
    brand = torch.nn.functional.one_hot(torch.randint(0, 15, (n,)), 15)[:, 1:]
    fuel = torch.nn.functional.one_hot(torch.randint(0, 3, (n,)), 3)[:, 1:]
    age = torch.randn(n, 1)
    car = torch.randn(n, 1)
    density = torch.randn(n, 1)
    numeric = torch.cat([age, age ** 2, car, car ** 2, density, age * car, age * density], dim=1)
    X = torch.cat([torch.ones(n, 1), region, brand, fuel, numeric], dim=1).float()
    beta = 0.15 * torch.randn(X.shape[1])
    beta[0] = -2.0
    exposure = 0.2 + 0.8 * torch.rand(n)
    rate = torch.exp((X @ beta).clamp(max=1.5))
    claims = torch.poisson(rate * exposure)
    return X, claims, exposure


class PoissonModel:
    """Log-link claim frequency with exposure, fitted by L-BFGS."""

    def __init__(self, ridge=1e-4, max_iter=15):
        self.ridge = ridge
        self.max_iter = max_iter

    def _objective(self):
        eta = self.X @ self.beta
        nll = (self.exposure * eta.exp() - self.claims * eta).mean()
        return nll + self.ridge * self.beta[1:].pow(2).sum()

    def fit(self, X, claims, exposure):
        self.X, self.claims, self.exposure = X, claims, exposure
        start = torch.zeros(X.shape[1])
        start[0] = torch.log(claims.sum() / exposure.sum())
        self.beta = start.requires_grad_(True)
        opt = torch.optim.LBFGS([self.beta], max_iter=self.max_iter, line_search_fn="strong_wolfe")

        def closure():
            opt.zero_grad()
            loss = self._objective()
            loss.backward()
            return loss

        opt.step(closure)
        self.beta = self.beta.detach()
        return self

    def frequency(self, X):
        return torch.exp(X @ self.beta)


X, claims, exposure = make_portfolio(N_POLICIES)
print(f"{N_POLICIES} policies, {X.shape[1]} columns, {int(claims.sum())} claims")

fits = []
for r in range(REPLICATES):
    rows = torch.randint(0, N_POLICIES, (N_POLICIES,))
    fits.append(PoissonModel().fit(X[rows], claims[rows], exposure[rows]))
    if (r + 1) % 50 == 0:
        print(f"{r + 1} replicates, intercept so far "
              f"{torch.stack([f.beta[0] for f in fits]).mean():.4f}")

reference = X[:5]
draws = torch.stack([f.frequency(reference) for f in fits])
low, mid, high = torch.quantile(draws, torch.tensor([0.05, 0.5, 0.95]), dim=0)
for i in range(len(reference)):
    print(f"policy {i}: frequency {mid[i]:.4f}  [{low[i]:.4f}, {high[i]:.4f}]")

coef = torch.stack([f.beta for f in fits])
z = coef.mean(0) / coef.std(0)
print("coefficients with |z| > 3:", int((z.abs() > 3).sum()), "of", len(z))
'''
CURED = FAULTY.replace("def _objective(self):", "def _objective(self, X, claims, exposure):").replace("eta = self.X @ self.beta", "eta = X @ self.beta").replace("(self.exposure * eta.exp() - self.claims * eta)", "(exposure * eta.exp() - claims * eta)").replace("        self.X, self.claims, self.exposure = X, claims, exposure\n", "").replace("self._objective()", "self._objective(X, claims, exposure)")
