NAME = "Learns a heuristic for the 15-puzzle from random walks and solves scrambled boards by weighted best-first search."
FAULT = "The open list is a Python list that is sorted again on every expansion (and popped at the front), which costs time linear in the frontier per node."
CURE = "Keep the open list as a heap (heapq with a counter for ties)."
KIND = "time"
FAULT_LINES = ["frontier.sort(key=lambda e: e[0])", "_, board, g = frontier.pop(0)", "def search(net, start, weight=2.0, max_nodes=4000):"]
FAULT_CALLS = ["sort", "<lambda>", "search", "pop"]
FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(9)
random.seed(9)

N = 4
GOAL = tuple(list(range(1, N * N)) + [0])
MOVES = {}
for p in range(N * N):
    r, c = divmod(p, N)
    MOVES[p] = [q for q, ok in ((p - N, r > 0), (p + N, r < N - 1), (p - 1, c > 0), (p + 1, c < N - 1)) if ok]


def swap(board, p, q):
    b = list(board)
    b[p], b[q] = b[q], b[p]
    return tuple(b)


def scramble(k):
    b, p, last = GOAL, N * N - 1, -1
    for _ in range(k):
        q = random.choice([m for m in MOVES[p] if m != last])
        b = swap(b, p, q)
        last, p = p, q
    return b


class Heuristic(nn.Module):
    """steps-to-go from a board of tile numbers"""

    def __init__(self, width=96):
        super().__init__()
        self.table = nn.Embedding(N * N * N * N, width)
        self.offset = torch.arange(N * N) * N * N
        self.mlp = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, boards):
        return self.mlp(self.table(boards + self.offset).sum(1))[:, 0]


def train(net, steps=300, bs=128):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    total = 0.0
    for step in range(steps):
        ks = [random.randint(0, 50) for _ in range(bs)]
        x = torch.tensor([scramble(k) for k in ks])
        y = torch.tensor(ks, dtype=torch.float32)
        loss = F.smooth_l1_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / steps


@torch.no_grad()
def search(net, start, weight=2.0, max_nodes=4000):
    seen = {start: 0}
    frontier = [(0.0, start, 0)]
    expanded = 0
    while frontier and expanded < max_nodes:
        frontier.sort(key=lambda e: e[0])
        _, board, g = frontier.pop(0)
        if board == GOAL:
            return g, expanded
        expanded += 1
        p = board.index(0)
        fresh = []
        for q in MOVES[p]:
            nb = swap(board, p, q)
            if seen.get(nb, 10 ** 9) > g + 1:
                seen[nb] = g + 1
                fresh.append(nb)
        if not fresh:
            continue
        h = net(torch.tensor(fresh)).tolist()
        for nb, v in zip(fresh, h):
            frontier.append((g + 1 + weight * v, nb, g + 1))
    return None, expanded


net = Heuristic()
print("heuristic loss", round(train(net), 3))
solved, lengths, nodes = 0, [], 0
for i in range(8):
    length, n = search(net, scramble(90))
    nodes += n
    if length is not None:
        solved += 1
        lengths.append(length)
print(f"solved {solved}/8, expanded {nodes} boards")
print("solution lengths", lengths)
'''
CURED = FAULTY.replace("import random\nimport torch\n", "import heapq\nimport random\nimport torch\n").replace(
    "frontier = [(0.0, start, 0)]\n", "frontier, count = [(0.0, 0, start, 0)], 0\n").replace(
    "        frontier.sort(key=lambda e: e[0])\n        _, board, g = frontier.pop(0)\n", "        _, _, board, g = heapq.heappop(frontier)\n").replace(
    "            frontier.append((g + 1 + weight * v, nb, g + 1))", "            count += 1\n            heapq.heappush(frontier, (g + 1 + weight * v, count, nb, g + 1))")
