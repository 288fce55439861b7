NAME = "Learns a cost-to-go network for the 15-puzzle from random walks and solves scrambled boards with weighted A*."
FAULT = "The open list is a plain list that is scanned for its minimum and searched again for removal at each expanded board, so each expansion costs time in proportion to the whole frontier."
CURE = "Keep the open list as a binary heap (heapq.heappush / heappop)."
KIND = "time"
FAULT_LINES = ["        node = min(frontier)", "        frontier.remove(node)"]
FAULT_CALLS = ["min", "remove", "solve"]
FAULTY = r'''
import itertools
import random
import heapq
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)

SIDE = 4
GOAL = tuple(range(1, SIDE * SIDE)) + (0,)


def neighbour_cells(pos):
    r, c = divmod(pos, SIDE)
    out = []
    if r > 0: out.append(pos - SIDE)
    if r < SIDE - 1: out.append(pos + SIDE)
    if c > 0: out.append(pos - 1)
    if c < SIDE - 1: out.append(pos + 1)
    return out


MOVES = [neighbour_cells(p) for p in range(SIDE * SIDE)]


def children(board):
    z = board.index(0)
    for q in MOVES[z]:
        b = list(board)
        b[z], b[q] = b[q], 0
        yield tuple(b)


def random_walk(n):
    board, prev, path = GOAL, None, []
    for _ in range(n):
        options = [b for b in children(board) if b != prev]
        prev, board = board, random.choice(options)
        path.append(board)
    return path


def encode(boards):
    return nn.functional.one_hot(torch.tensor(boards), SIDE * SIDE).flatten(1).float()


class CostToGo(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(SIDE ** 4, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def fit(model, steps=150, walk=60, batch=12):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        boards, depth = [], []
        for _ in range(batch):
            path = random_walk(walk)
            boards += path
            depth += range(1, walk + 1)
        target = torch.tensor(depth, dtype=torch.float32) / 10
        loss = nn.functional.mse_loss(model(encode(boards)), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 49:
            print(f"step {step + 1}: loss {loss.item():.3f}")


@torch.no_grad()
def solve(model, start, weight=1.2, limit=6000):
    tick = itertools.count()
    frontier = [(0.0, next(tick), 0, start)]
    cost = {start: 0}
    expanded = 0
    while frontier and expanded < limit:
        node = min(frontier)
        frontier.remove(node)
        f, _, g, board = node
        if board == GOAL:
            return g, expanded
        if g > cost[board]:
            continue
        expanded += 1
        fresh = [b for b in children(board) if g + 1 < cost.get(b, 10 ** 9)]
        if not fresh:
            continue
        h = model(encode(fresh)).clamp(min=0).mul(10).tolist()
        for b, hb in zip(fresh, h):
            cost[b] = g + 1
            frontier.append((g + 1 + weight * hb, next(tick), g + 1, b))
    return None, expanded


model = CostToGo()
fit(model)
model.eval()
results = []
for k in range(10):
    start = random_walk(40 + 4 * k)[-1]
    length, expanded = solve(model, start)
    results.append((length, expanded))
    print(f"board {k}: length {length}, expanded {expanded}")
print("solved", sum(r[0] is not None for r in results), "of", len(results))
'''
CURED = (FAULTY
         .replace("        node = min(frontier)\n        frontier.remove(node)\n", "        node = heapq.heappop(frontier)\n")
         .replace("frontier.append((g + 1 + weight * hb, next(tick), g + 1, b))", "heapq.heappush(frontier, (g + 1 + weight * hb, next(tick), g + 1, b))"))
FAULTY = FAULTY.replace("import heapq\n", "")
