NAME = 'Meta-learns a sine regressor with second-order MAML and plots adaptation to a new task.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'create_graph=True in the inner loop and a loop over inner steps look like kept graphs, but the second-order meta-gradient goes through every inner update; the tasks are already batched with vmap-like batched weights.'
GOOD = r"""
import torch
import torch.nn.functional as F
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(123)

TASKS, SHOTS, QUERY, INNER_LR, INNER_STEPS, WIDTH = 24, 10, 15, 0.015, 4, 48


def sample_tasks(n, k):
    amp = 0.5 + 4 * torch.rand(n, 1, 1)
    phase = torch.pi * torch.rand(n, 1, 1)
    x = 10 * torch.rand(n, k, 1) - 5
    return x, amp * torch.sin(x + phase)


def init(*shape, gain=1.0):
    return (gain * torch.randn(*shape) / shape[0] ** 0.5).requires_grad_()


theta = [init(1, WIDTH, gain=0.5), torch.zeros(1, WIDTH, requires_grad=True),
         init(WIDTH, WIDTH), torch.zeros(1, WIDTH, requires_grad=True),
         init(WIDTH, 1), torch.zeros(1, 1, requires_grad=True)]


def net(x, w):
    # weights carry a leading task dimension
    h = torch.relu(x @ w[0] + w[1])
    h = torch.relu(h @ w[2] + w[3])
    return h @ w[4] + w[5]


def adapt(x, y, steps, create_graph):
    fast = [p.unsqueeze(0).expand(len(x), *p.shape) for p in theta]
    if not create_graph:
        fast = [p.detach().requires_grad_() for p in fast]
    for _ in range(steps):
        # sum over tasks: every task only sees its own weights
        loss = (net(x, fast) - y).pow(2).mean((1, 2)).sum()
        grads = torch.autograd.grad(loss, fast, create_graph=create_graph)
        fast = [p - INNER_LR * g for p, g in zip(fast, grads)]
        if not create_graph:
            fast = [p.detach().requires_grad_() for p in fast]
    return fast


opt = torch.optim.Adam(theta, lr=2e-3)
history = []
for it in range(384):
    x, y = sample_tasks(TASKS, SHOTS + QUERY)
    xs, xq = x.split([SHOTS, QUERY], 1)
    ys, yq = y.split([SHOTS, QUERY], 1)
    fast = adapt(xs, ys, INNER_STEPS, create_graph=True)
    meta = F.mse_loss(net(xq, fast), yq)
    opt.zero_grad()
    meta.backward()
    torch.nn.utils.clip_grad_norm_(theta, 10.0)
    opt.step()
    history.append(meta.item())
    if it % 96 == 95:
        print(f'iteration {it + 1:3d}: query mse {sum(history[-96:]) / 96:.4f}')

# evaluation: error after 0..10 gradient steps on unseen tasks
x, y = sample_tasks(200, SHOTS + 50)
xs, xq = x.split([SHOTS, 50], 1)
ys, yq = y.split([SHOTS, 50], 1)
errors = []
for steps in (0, 1, 2, 4, 6, 10):
    fast = adapt(xs, ys, steps, create_graph=False)
    with torch.no_grad():
        errors.append(F.mse_loss(net(xq, fast), yq).item())
print('test mse after 0, 1, 2, 4, 6, 10 steps:', [round(e, 3) for e in errors])

plt.subplot(121)
plt.semilogy(history)
plt.subplot(122)
plt.plot([0, 1, 2, 4, 6, 10], errors, marker='o')
plt.xlabel('adaptation steps')
plt.show()
"""
