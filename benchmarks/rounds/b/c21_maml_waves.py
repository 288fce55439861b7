NAME = 'second-order MAML on waveforms'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import torch
import torch.nn as nn
from torch.func import functional_call

torch.manual_seed(50)
WIDTH, POINTS, TASKS, META_STEPS, INNER, INNER_LR = 320, 512, 4, 14, 2, 0.01
net = nn.Sequential(nn.Linear(1, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                    nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
meta_opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

def sample_task():
    amp, phase = torch.rand(1) * 2 + 0.5, torch.rand(1) * 3.14
    def draw():
        x = torch.rand(POINTS, 1) * 10 - 5
        return x, amp * torch.sin(x + phase)
    return draw

def adapt(params, x, y):
    for _ in range(INNER):
        loss = (functional_call(net, params, (x,)) - y).pow(2).mean()
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
        params = {k: p - INNER_LR * g for (k, p), g in zip(params.items(), grads)}
    return params

history = []
for step in range(META_STEPS):
    meta_opt.zero_grad()
    total = 0.0
    for _ in range(TASKS):
        draw = sample_task()
        fast = adapt(dict(net.named_parameters()), *draw())
        xq, yq = draw()
        query = (functional_call(net, fast, (xq,)) - yq).pow(2).mean() / TASKS
        query.backward()
        total += query.item()
    meta_opt.step()
    history.append(total)
    print(f"step {step} query loss {total:.4f}")
print("mean of the last five", round(sum(history[-5:]) / 5, 4))
'''
