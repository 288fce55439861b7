NAME = 'value iteration of a large dense MDP whose stop test reads .item() after every sweep'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = '''
import torch

torch.manual_seed(2)
S, A, gamma = 2400, 4, 0.993
P = torch.rand(A * S, S)
P /= P.sum(1, keepdim=True)
R = torch.randn(A, S) - 0.5 * torch.rand(A, 1)

V = torch.zeros(S)
sweeps = 0
while True:
    Q = torch.addmv(R.view(-1), P, V, alpha=gamma).view(A, S)
    V_new = Q.amax(0)
    delta = (V_new - V).abs().amax().item()      # the loop has to know when it may stop
    V = V_new
    sweeps += 1
    if delta < 1e-4:
        break

policy = Q.argmax(0)
share = torch.bincount(policy, minlength=A) / S
print(f"{sweeps} sweeps, mean value {V.mean().item():.4f}, action shares {[round(v, 3) for v in share.tolist()]}")
'''
