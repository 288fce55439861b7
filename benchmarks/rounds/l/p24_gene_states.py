NAME = 'Decodes the most likely hidden states along chromosomes with the Viterbi algorithm.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch

torch.set_num_threads(1)
torch.manual_seed(240)

n_states, n_marks = 400, 8
lengths = torch.randint(900, 3200, (22,)).sort(descending=True).values.tolist()

# sticky chain over states with an order, observations are counts of chromatin marks
dist = (torch.arange(n_states)[:, None] - torch.arange(n_states)[None, :]).abs().float()
log_trans = torch.log_softmax(-0.4 * dist + 0.3 * torch.randn(n_states, n_states), dim=1)
log_start = torch.log_softmax(torch.randn(n_states), 0)
rates = torch.rand(n_states, n_marks) * 6 + 0.2


def simulate(n):
    walk = torch.randint(-1, 2, (n,)).cumsum(0) + n_states // 2
    states = walk.clamp(0, n_states - 1)
    return states, torch.poisson(rates[states])


moves_in = log_trans.T.contiguous()
log_rates = rates.log()


def viterbi(counts):
    emit = counts @ log_rates.T - rates.sum(1)
    n = len(emit)
    cand = torch.empty(n_states, n_states)
    back = torch.empty(n, n_states, dtype=torch.long)
    score = log_start + emit[0]
    for t in range(1, n):
        torch.add(score, moves_in, out=cand)
        best, back[t] = cand.max(1)
        score = best + emit[t]
    path = [int(score.argmax())]
    for t in range(n - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return score.max().item(), torch.tensor(path[::-1])


total, right, bins = 0.0, 0, 0
for chrom, n in enumerate(lengths):
    true, counts = simulate(n)
    loglik, path = viterbi(counts)
    total += loglik
    right += (path == true).sum().item()
    bins += n

print(f"{bins} bins, log-likelihood per bin {total / bins:.4f}, agreement {right / bins:.4f}")
"""
