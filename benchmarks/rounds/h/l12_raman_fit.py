NAME = 'Levenberg-Marquardt fits of Raman spectra (17 parameters, 360 channels each).'
FAULT = 'The Jacobian of 360 residuals by 17 parameters is built in reverse mode (jacrev: 360 vector-Jacobian products) where forward mode needs 17.'
CURE = 'Use torch.func.jacfwd.'
KIND = 'time'
FAULT_LINES = [
    'jacobian = jacrev(r)',
    'J = jacobian(theta)',
    'from torch.func import jacrev',
]
FAULT_CALLS = ['jacrev', 'jacobian', 'wrapper_fn', 'torch.func.jacrev', 'vjp', 'vmap', 'fit', '_autograd_grad', 'run_backward']
FAULTY = r"""
import torch
from torch.func import jacrev

torch.set_num_threads(1)
torch.manual_seed(17)
torch.set_default_dtype(torch.float64)

# Raman spectra: sum of Lorentzians on a sloping background
CHANNELS = 360
PEAKS = 5
N_SPECTRA = 130
MAX_ITER = 14
shift = torch.linspace(0.0, 10.0, CHANNELS)


def spectrum(theta):
    height = torch.exp(theta[:PEAKS])
    centre = theta[PEAKS:2 * PEAKS]
    width = torch.exp(theta[2 * PEAKS:3 * PEAKS])
    base = theta[-2] + theta[-1] * shift
    u = (shift[:, None] - centre) / width
    return (height / (1 + u ** 2)).sum(1) + base


def random_truth():
    centre = torch.arange(PEAKS) * 1.9 + 1.2 + 0.3 * torch.rand(PEAKS)
    height = 0.5 + 2 * torch.rand(PEAKS)
    width = 0.15 + 0.25 * torch.rand(PEAKS)
    return torch.cat([height.log(), centre, width.log(), torch.tensor([0.2, 0.03])])


def residual(theta, data, sigma):
    return (spectrum(theta) - data) / sigma


def fit(theta, data, sigma):
    '''Levenberg-Marquardt with Marquardt scaling'''
    def r(p):
        return residual(p, data, sigma)

    jacobian = jacrev(r)
    lam = 1e-2
    res = r(theta)
    chi2 = res @ res
    for it in range(MAX_ITER):
        J = jacobian(theta)
        A = J.T @ J
        g = J.T @ res
        for _ in range(8):
            step = torch.linalg.solve(A + lam * torch.diag(A.diagonal()), -g)
            trial = r(theta + step)
            chi2_trial = trial @ trial
            if chi2_trial < chi2:
                break
            lam *= 4
        else:
            break
        theta, res = theta + step, trial
        gain = (chi2 - chi2_trial) / chi2
        chi2 = chi2_trial
        lam = max(lam / 6, 1e-9)
        if gain < 1e-10:
            break
    cov = torch.linalg.inv(A)
    return theta, chi2, cov.diagonal().sqrt(), it + 1


SIGMA = 0.03
errors, chi, iters, pulls = [], [], [], []
for k in range(N_SPECTRA):
    truth = random_truth()
    data = spectrum(truth) + SIGMA * torch.randn(CHANNELS)
    guess = truth.clone()
    guess[:PEAKS] += 0.3 * torch.randn(PEAKS)
    guess[PEAKS:2 * PEAKS] += 0.08 * torch.randn(PEAKS)
    guess[2 * PEAKS:3 * PEAKS] += 0.25 * torch.randn(PEAKS)
    guess[-2:] = torch.tensor([data.min().item(), 0.0])
    theta, chi2, sd, n_it = fit(guess, data, SIGMA)
    errors.append((theta - truth)[PEAKS:2 * PEAKS].abs().mean())
    pulls.append(((theta - truth) / sd)[PEAKS:2 * PEAKS])
    chi.append(chi2 / (CHANNELS - len(theta)))
    iters.append(n_it)

pulls = torch.cat(pulls)
print(f'{N_SPECTRA} spectra, {sum(iters)} iterations, reduced chi2 {torch.stack(chi).mean():.3f}')
print(f'mean |centre error| {torch.stack(errors).mean():.5f}, pull width {pulls.std():.2f}')
"""
CURED = r"""
import torch
from torch.func import jacfwd

torch.set_num_threads(1)
torch.manual_seed(17)
torch.set_default_dtype(torch.float64)

# Raman spectra: sum of Lorentzians on a sloping background
CHANNELS = 360
PEAKS = 5
N_SPECTRA = 130
MAX_ITER = 14
shift = torch.linspace(0.0, 10.0, CHANNELS)


def spectrum(theta):
    height = torch.exp(theta[:PEAKS])
    centre = theta[PEAKS:2 * PEAKS]
    width = torch.exp(theta[2 * PEAKS:3 * PEAKS])
    base = theta[-2] + theta[-1] * shift
    u = (shift[:, None] - centre) / width
    return (height / (1 + u ** 2)).sum(1) + base


def random_truth():
    centre = torch.arange(PEAKS) * 1.9 + 1.2 + 0.3 * torch.rand(PEAKS)
    height = 0.5 + 2 * torch.rand(PEAKS)
    width = 0.15 + 0.25 * torch.rand(PEAKS)
    return torch.cat([height.log(), centre, width.log(), torch.tensor([0.2, 0.03])])


def residual(theta, data, sigma):
    return (spectrum(theta) - data) / sigma


def fit(theta, data, sigma):
    '''Levenberg-Marquardt with Marquardt scaling'''
    def r(p):
        return residual(p, data, sigma)

    jacobian = jacfwd(r)
    lam = 1e-2
    res = r(theta)
    chi2 = res @ res
    for it in range(MAX_ITER):
        J = jacobian(theta)
        A = J.T @ J
        g = J.T @ res
        for _ in range(8):
            step = torch.linalg.solve(A + lam * torch.diag(A.diagonal()), -g)
            trial = r(theta + step)
            chi2_trial = trial @ trial
            if chi2_trial < chi2:
                break
            lam *= 4
        else:
            break
        theta, res = theta + step, trial
        gain = (chi2 - chi2_trial) / chi2
        chi2 = chi2_trial
        lam = max(lam / 6, 1e-9)
        if gain < 1e-10:
            break
    cov = torch.linalg.inv(A)
    return theta, chi2, cov.diagonal().sqrt(), it + 1


SIGMA = 0.03
errors, chi, iters, pulls = [], [], [], []
for k in range(N_SPECTRA):
    truth = random_truth()
    data = spectrum(truth) + SIGMA * torch.randn(CHANNELS)
    guess = truth.clone()
    guess[:PEAKS] += 0.3 * torch.randn(PEAKS)
    guess[PEAKS:2 * PEAKS] += 0.08 * torch.randn(PEAKS)
    guess[2 * PEAKS:3 * PEAKS] += 0.25 * torch.randn(PEAKS)
    guess[-2:] = torch.tensor([data.min().item(), 0.0])
    theta, chi2, sd, n_it = fit(guess, data, SIGMA)
    errors.append((theta - truth)[PEAKS:2 * PEAKS].abs().mean())
    pulls.append(((theta - truth) / sd)[PEAKS:2 * PEAKS])
    chi.append(chi2 / (CHANNELS - len(theta)))
    iters.append(n_it)

pulls = torch.cat(pulls)
print(f'{N_SPECTRA} spectra, {sum(iters)} iterations, reduced chi2 {torch.stack(chi).mean():.3f}')
print(f'mean |centre error| {torch.stack(errors).mean():.5f}, pull width {pulls.std():.2f}')
"""
