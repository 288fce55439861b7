NAME = 'd08_bayes_logistic'
FAULT = 'Each leapfrog step evaluates the gradient twice although the closing half-kick and the next opening half-kick are at the same position.'
CURE = 'Keep the gradient from the end of one leapfrog step and reuse it for the next, so there is one evaluation per step.'
KIND = 'time'
FAULT_LINES = (24, 26, 37)
FAULT_CALLS = ('grad_U', 'leapfrog', 'grad', 'potential')
FAULTY = """\
import torch

torch.manual_seed(11)

N, D = 6000, 60
A = torch.randn(N, D) / D ** 0.5
theta_true = torch.randn(D)
t = (torch.rand(N) < torch.sigmoid(A @ theta_true * 2)).float()


def potential(q):
    logit = A @ q
    nll = torch.nn.functional.binary_cross_entropy_with_logits(logit, t, reduction="sum")
    return nll + 0.5 * (q ** 2).sum()


def grad_U(q):
    q = q.detach().requires_grad_(True)
    return torch.autograd.grad(potential(q), q)[0]


def leapfrog(q, p, eps, steps):
    for _ in range(steps):
        p = p - 0.5 * eps * grad_U(q)
        q = q + eps * p
        p = p - 0.5 * eps * grad_U(q)
    return q, p


q = torch.zeros(D)
eps, steps = 0.03, 25
kept, accepted = [], 0
for it in range(220):
    p0 = torch.randn(D)
    with torch.no_grad():
        h0 = potential(q) + 0.5 * (p0 ** 2).sum()
    q_new, p_new = leapfrog(q, p0, eps, steps)
    with torch.no_grad():
        h1 = potential(q_new) + 0.5 * (p_new ** 2).sum()
    if torch.rand(()) < torch.exp(h0 - h1):
        q = q_new
        accepted += 1
    if it >= 60:
        kept.append(q)

post = torch.stack(kept)
print("accept %.2f" % (accepted / 220))
print("posterior mean norm %.2f, mean sd %.3f" % (post.mean(0).norm(), post.std(0).mean()))
"""
CURED = """\
import torch

torch.manual_seed(11)

N, D = 6000, 60
A = torch.randn(N, D) / D ** 0.5
theta_true = torch.randn(D)
t = (torch.rand(N) < torch.sigmoid(A @ theta_true * 2)).float()


def potential(q):
    logit = A @ q
    nll = torch.nn.functional.binary_cross_entropy_with_logits(logit, t, reduction="sum")
    return nll + 0.5 * (q ** 2).sum()


def grad_U(q):
    q = q.detach().requires_grad_(True)
    return torch.autograd.grad(potential(q), q)[0]


def leapfrog(q, p, eps, steps):
    g = grad_U(q)
    for _ in range(steps):
        p = p - 0.5 * eps * g
        q = q + eps * p
        g = grad_U(q)
        p = p - 0.5 * eps * g
    return q, p


q = torch.zeros(D)
eps, steps = 0.03, 25
kept, accepted = [], 0
for it in range(220):
    p0 = torch.randn(D)
    with torch.no_grad():
        h0 = potential(q) + 0.5 * (p0 ** 2).sum()
    q_new, p_new = leapfrog(q, p0, eps, steps)
    with torch.no_grad():
        h1 = potential(q_new) + 0.5 * (p_new ** 2).sum()
    if torch.rand(()) < torch.exp(h0 - h1):
        q = q_new
        accepted += 1
    if it >= 60:
        kept.append(q)

post = torch.stack(kept)
print("accept %.2f" % (accepted / 220))
print("posterior mean norm %.2f, mean sd %.3f" % (post.mean(0).norm(), post.std(0).mean()))
"""
