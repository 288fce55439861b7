NAME = "Self-play for Connect Four: PUCT tree search over parallel games with a small policy-value network, then training on the games."
FAULT = "Every simulation copies the game with copy.deepcopy, which walks over the whole move history object by object, although only the board needs copying."
CURE = "Give Game a clone() that copies the array and takes a shallow copy of the list."
KIND = "time"
FAULT_LINES = [
    "game = copy.deepcopy(root_game)",
    "leaves = [descend(r, g) for r, g in zip(roots, live)]",
]
FAULT_CALLS = ["deepcopy", "_deepcopy_list", "_reconstruct", "_deepcopy_dict", "descend", "search"]
FAULTY = r'''
import copy, math, random
from dataclasses import dataclass
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0); np.random.seed(0); random.seed(0)
ROWS, COLS = 6, 7


@dataclass
class Move:
    player: int
    col: int
    row: int


class Game:
    def __init__(self):
        self.board = np.zeros((ROWS, COLS), dtype=np.int8)
        self.height = [0] * COLS
        self.player, self.winner, self.history = 1, None, []

    def legal(self):
        return [c for c in range(COLS) if self.height[c] < ROWS]

    def play(self, col):
        row = self.height[col]
        self.board[row, col] = self.player
        self.height[col] += 1
        self.history.append(Move(self.player, col, row))
        if self._wins(row, col):
            self.winner = self.player
        elif len(self.history) == ROWS * COLS:
            self.winner = 0
        self.player = -self.player

    def _wins(self, row, col):
        b, p = self.board, self.player
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            n = 1
            for s in (1, -1):
                r, c = row + s * dr, col + s * dc
                while 0 <= r < ROWS and 0 <= c < COLS and b[r, c] == p:
                    n += 1; r += s * dr; c += s * dc
            if n >= 4:
                return True
        return False

    def planes(self):
        return np.stack([self.board == self.player, self.board == -self.player]).astype(np.float32)


class Net(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, ch, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.pi, self.v = nn.Linear(ch * 42, COLS), nn.Linear(ch * 42, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), torch.tanh(self.v(h)).squeeze(-1)


class Node:
    __slots__ = ("prior", "n", "w", "kids")
    def __init__(self, prior):
        self.prior, self.n, self.w, self.kids = prior, 0, 0.0, {}


def descend(root, root_game):
    game = copy.deepcopy(root_game)
    node, path = root, [root]
    while node.kids and game.winner is None:
        s = 1.5 * math.sqrt(node.n)
        col, node = max(node.kids.items(),
                        key=lambda kv: (-kv[1].w / kv[1].n if kv[1].n else 0) + s * kv[1].prior / (1 + kv[1].n))
        game.play(col)
        path.append(node)
    return node, game, path


@torch.no_grad()
def search(net, live, n_sims):
    roots = [Node(1.0) for _ in live]
    for _ in range(n_sims):
        leaves = [descend(r, g) for r, g in zip(roots, live)]
        logits, values = net(torch.from_numpy(np.stack([g.planes() for _, g, _ in leaves])))
        probs, values = logits.softmax(-1).tolist(), values.tolist()
        for (node, g, path), p, v in zip(leaves, probs, values):
            if g.winner is None:
                node.kids = {c: Node(p[c]) for c in g.legal()}
            else:
                v = g.winner * g.player
            for nd in reversed(path):
                nd.n += 1; nd.w += v; v = -v
    return [np.array([r.kids[c].n if c in r.kids else 0 for c in range(COLS)], float) for r in roots]


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for rnd in range(4):
    games, samples = [Game() for _ in range(16)], []
    while (live := [g for g in games if g.winner is None]):
        for g, visits in zip(live, search(net, live, 48)):
            pi = visits / visits.sum()
            samples.append((g.planes(), pi, g.player, g))
            g.play(int(np.random.choice(COLS, p=pi)))
    x = torch.from_numpy(np.stack([s[0] for s in samples]))
    pi = torch.tensor(np.stack([s[1] for s in samples]), dtype=torch.float32)
    z = torch.tensor([float(s[3].winner * s[2]) for s in samples])
    for _ in range(20):
        lp, v = net(x)
        loss = F.cross_entropy(lp, pi) + F.mse_loss(v, z)
        opt.zero_grad(); loss.backward(); opt.step()
    print(f"round {rnd}: {len(samples)} positions, mean length {len(samples) / 16:.1f}, loss {loss.item():.3f}")
'''
CURED = (FAULTY
         .replace("    def legal(self):", "    def clone(self):\n        g = Game.__new__(Game)\n        g.board, g.height, g.history = self.board.copy(), self.height[:], self.history[:]\n        g.player, g.winner = self.player, self.winner\n        return g\n\n    def legal(self):", 1)
         .replace("copy.deepcopy(root_game)", "root_game.clone()"))
