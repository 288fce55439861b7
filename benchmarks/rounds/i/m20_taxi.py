NAME = 'Tabular Q-learning on a grid world with traps.'
FAULT = 'The Q-table is a torch tensor that is read and written one scalar at a time, each of these tiny accesses paying the full cost of a tensor operation (indexing, max, argmax, item).'
CURE = 'Keep the table in plain Python lists (same float64 arithmetic) and turn it into a tensor at the end.'
KIND = 'time'
FAULT_LINES = [
    'Q = torch.zeros(N * N, 4, dtype=torch.float64)',
    'a = int(Q[s].argmax())',
    'target = r if done else r + gamma * Q[s2].max()',
    'Q[s, a] += alpha * (target - Q[s, a])',
]
FAULT_CALLS = [
    'argmax',
    'max',
    '__getitem__',
    '__setitem__',
    'q_learning',
    '__int__',
    '__iadd__',
    'select',
]
FAULTY = r"""
import random
import torch

torch.set_num_threads(1)
random.seed(42)

N = 12
START, GOAL = 0, N * N - 1
traps = set(random.sample(range(1, N * N - 1), 14)) - {1, N, N * N - 2, N * N - N - 1}
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def env_step(s, a):
    if random.random() < 0.1:
        a = random.randrange(4)              # slippery
    r, c = divmod(s, N)
    dr, dc = MOVES[a]
    r, c = min(max(r + dr, 0), N - 1), min(max(c + dc, 0), N - 1)
    s2 = r * N + c
    if s2 == GOAL:
        return s2, 10.0, True
    if s2 in traps:
        return s2, -5.0, True
    return s2, -0.05, False


def q_learning(episodes, alpha=0.2, gamma=0.98):
    Q = torch.zeros(N * N, 4, dtype=torch.float64)
    returns = []
    for ep in range(episodes):
        eps = max(0.05, 1.0 - ep / (0.7 * episodes))
        s, total, done, t = START, 0.0, False, 0
        while not done and t < 200:
            if random.random() < eps:
                a = random.randrange(4)
            else:
                a = int(Q[s].argmax())
            s2, r, done = env_step(s, a)
            target = r if done else r + gamma * Q[s2].max()
            Q[s, a] += alpha * (target - Q[s, a])
            s, total, t = s2, total + r, t + 1
        returns.append(total)
        if (ep + 1) % 2000 == 0:
            print(f"episode {ep + 1:6d}  mean return of the last 500: {sum(returns[-500:]) / 500:.3f}")
    return Q, returns


Q, returns = q_learning(14000)
print("value of start", round(Q[START].max().item(), 6), " sum of Q", round(Q.sum().item(), 5))
"""
CURED = r"""
import random
import torch

torch.set_num_threads(1)
random.seed(42)

N = 12
START, GOAL = 0, N * N - 1
traps = set(random.sample(range(1, N * N - 1), 14)) - {1, N, N * N - 2, N * N - N - 1}
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def env_step(s, a):
    if random.random() < 0.1:
        a = random.randrange(4)              # slippery
    r, c = divmod(s, N)
    dr, dc = MOVES[a]
    r, c = min(max(r + dr, 0), N - 1), min(max(c + dc, 0), N - 1)
    s2 = r * N + c
    if s2 == GOAL:
        return s2, 10.0, True
    if s2 in traps:
        return s2, -5.0, True
    return s2, -0.05, False


def q_learning(episodes, alpha=0.2, gamma=0.98):
    Q = [[0.0] * 4 for _ in range(N * N)]
    returns = []
    for ep in range(episodes):
        eps = max(0.05, 1.0 - ep / (0.7 * episodes))
        s, total, done, t = START, 0.0, False, 0
        while not done and t < 200:
            if random.random() < eps:
                a = random.randrange(4)
            else:
                a = Q[s].index(max(Q[s]))
            s2, r, done = env_step(s, a)
            target = r if done else r + gamma * max(Q[s2])
            Q[s][a] += alpha * (target - Q[s][a])
            s, total, t = s2, total + r, t + 1
        returns.append(total)
        if (ep + 1) % 2000 == 0:
            print(f"episode {ep + 1:6d}  mean return of the last 500: {sum(returns[-500:]) / 500:.3f}")
    return torch.tensor(Q, dtype=torch.float64), returns


Q, returns = q_learning(14000)
print("value of start", round(Q[START].max().item(), 6), " sum of Q", round(Q.sum().item(), 5))
"""
