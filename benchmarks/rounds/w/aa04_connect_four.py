NAME = "Learns a Connect Four value network from self-play with one-step lookahead."
FAULT = "Each board is turned into input planes square by square in nested Python loops with single-element tensor writes."
CURE = "Build the planes with whole-array comparisons (board == player, board == -player)."
KIND = "time"
FAULT_LINES = [
    "                planes[0, r, c] = 1.0",
    "                planes[1, r, c] = 1.0",
    "            if board[r, c] == player:",
    "            elif board[r, c] == -player:",
    "        for c in range(COLS):",
    "    for r in range(ROWS):",
    "        batch = torch.stack([to_planes(b, player) for b in after])",
]
FAULT_CALLS = ["to_planes", "fill_", "select", "__setitem__", "copy_", "zeros", "as_strided", "lift_fresh", "to"]
FAULTY = r'''
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5)
random.seed(5)
np.random.seed(5)

ROWS, COLS = 6, 7


def to_planes(board, player):
    planes = torch.zeros(2, ROWS, COLS)
    for r in range(ROWS):
        for c in range(COLS):
            if board[r, c] == player:
                planes[0, r, c] = 1.0
            elif board[r, c] == -player:
                planes[1, r, c] = 1.0
    return planes


def wins(board, r, c):
    p = board[r, c]
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        run = 1
        for sign in (1, -1):
            rr, cc = r + sign * dr, c + sign * dc
            while 0 <= rr < ROWS and 0 <= cc < COLS and board[rr, cc] == p:
                run += 1
                rr, cc = rr + sign * dr, cc + sign * dc
        if run >= 4:
            return True
    return False


class ValueNet(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, ch, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(ch * ROWS * COLS, 48), nn.ReLU(), nn.Linear(48, 1), nn.Tanh())

    def forward(self, x):
        return self.body(x).squeeze(-1)


net = ValueNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
memory = deque(maxlen=8000)


def self_play(eps):
    board, height, player = np.zeros((ROWS, COLS), dtype=np.int8), [0] * COLS, 1
    history = []
    while True:
        legal = [c for c in range(COLS) if height[c] < ROWS]
        if not legal:
            winner = 0
            break
        after = []
        for c in legal:
            nb = board.copy()
            nb[height[c], c] = player
            after.append(nb)
        batch = torch.stack([to_planes(b, player) for b in after])
        with torch.no_grad():
            values = net(batch)
        k = random.randrange(len(legal)) if random.random() < eps else int(values.argmax())
        board, col = after[k], legal[k]
        row = height[col]
        height[col] += 1
        history.append((batch[k], player))
        if wins(board, row, col):
            winner = player
            break
        player = -player
    n = len(history)
    for i, (planes, who) in enumerate(history):
        memory.append((planes, float(winner * who) * 0.97 ** (n - 1 - i)))
    return winner, n


results, lengths = [], []
for game in range(1, 561):
    w, n = self_play(eps=max(0.1, 0.6 - game / 400))
    results.append(w)
    lengths.append(n)
    if len(memory) > 500:
        for _ in range(2):
            picks = random.sample(memory, 32)
            x = torch.stack([p[0] for p in picks])
            y = torch.tensor([p[1] for p in picks])
            loss = (net(x) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    if game % 140 == 0:
        first = np.mean(np.array(results[-140:]) == 1)
        print(f"game {game}: loss {loss.item():.3f}, first player wins {first:.2f}, length {np.mean(lengths[-140:]):.1f}")
'''
CURED = FAULTY.replace('''    planes = torch.zeros(2, ROWS, COLS)
    for r in range(ROWS):
        for c in range(COLS):
            if board[r, c] == player:
                planes[0, r, c] = 1.0
            elif board[r, c] == -player:
                planes[1, r, c] = 1.0
    return planes
''', '''    return torch.from_numpy(np.stack([board == player, board == -player]).astype(np.float32))
''')
