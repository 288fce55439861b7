NAME = 'value network playing connect four'
FAULT = 'every node of the look-ahead is made by copy.deepcopy of the whole game object'
CURE = 'give Game a clone method that copies the few lists by slicing'
KIND = 'time'
FAULT_LINES = ['after = copy.deepcopy(game)', 'leaf = copy.deepcopy(after)']
FAULT_CALLS = ['deepcopy', 'copy.deepcopy']
FAULTY = r'''
import copy, random
import torch
import torch.nn as nn

torch.manual_seed(6)
rnd = random.Random(6)
ROWS, COLS, GAMES = 6, 7, 150

class Game:
    def __init__(self):
        self.board = [[0] * COLS for _ in range(ROWS)]
        self.heights = [0] * COLS
        self.history = []
        self.player = 1
        self.winner = 0

    def moves(self):
        return [] if self.winner else [c for c in range(COLS) if self.heights[c] < ROWS]

    def play(self, col):
        row = self.heights[col]
        self.board[row][col] = self.player
        self.heights[col] += 1
        self.history.append((self.player, row, col))
        if self.wins(row, col):
            self.winner = self.player
        self.player = -self.player

    def wins(self, row, col):
        b, me = self.board, self.board[row][col]
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                r, c = row + sign * dr, col + sign * dc
                while 0 <= r < ROWS and 0 <= c < COLS and b[r][c] == me:
                    run += 1
                    r, c = r + sign * dr, c + sign * dc
            if run >= 4:
                return True
        return False

net = nn.Sequential(nn.Linear(ROWS * COLS, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1), nn.Tanh()).eval()

@torch.inference_mode()
def choose(game):
    leaves, owner = [], []
    for m in game.moves():
        after = copy.deepcopy(game)
        after.play(m)
        replies = after.moves()
        if not replies:
            leaves.append(after)
            owner.append(m)
        for r in replies:
            leaf = copy.deepcopy(after)
            leaf.play(r)
            leaves.append(leaf)
            owner.append(m)
    x = torch.tensor([leaf.board for leaf in leaves], dtype=torch.float32).flatten(1) * game.player
    values = net(x).squeeze(1).tolist()
    worst = {}
    for leaf, m, v in zip(leaves, owner, values):
        v = 2.0 * leaf.winner * game.player if leaf.winner else v
        worst[m] = min(worst.get(m, 9.0), v)
    return max(worst, key=worst.get)

tally, length = {-1: 0, 0: 0, 1: 0}, 0
for g in range(GAMES):
    game = Game()
    while game.moves():
        game.play(choose(game) if game.player == 1 else rnd.choice(game.moves()))
    tally[game.winner] += 1
    length += len(game.history)
print("wins/draws/losses", tally[1], tally[0], tally[-1], "mean length", round(length / GAMES, 2))
'''
CURED = r'''
import copy, random
import torch
import torch.nn as nn

torch.manual_seed(6)
rnd = random.Random(6)
ROWS, COLS, GAMES = 6, 7, 150

class Game:
    def __init__(self):
        self.board = [[0] * COLS for _ in range(ROWS)]
        self.heights = [0] * COLS
        self.history = []
        self.player = 1
        self.winner = 0

    def clone(self):
        new = Game.__new__(Game)
        new.board = [row[:] for row in self.board]
        new.heights = self.heights[:]
        new.history = self.history[:]
        new.player, new.winner = self.player, self.winner
        return new

    def moves(self):
        return [] if self.winner else [c for c in range(COLS) if self.heights[c] < ROWS]

    def play(self, col):
        row = self.heights[col]
        self.board[row][col] = self.player
        self.heights[col] += 1
        self.history.append((self.player, row, col))
        if self.wins(row, col):
            self.winner = self.player
        self.player = -self.player

    def wins(self, row, col):
        b, me = self.board, self.board[row][col]
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                r, c = row + sign * dr, col + sign * dc
                while 0 <= r < ROWS and 0 <= c < COLS and b[r][c] == me:
                    run += 1
                    r, c = r + sign * dr, c + sign * dc
            if run >= 4:
                return True
        return False

net = nn.Sequential(nn.Linear(ROWS * COLS, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1), nn.Tanh()).eval()

@torch.inference_mode()
def choose(game):
    leaves, owner = [], []
    for m in game.moves():
        after = game.clone()
        after.play(m)
        replies = after.moves()
        if not replies:
            leaves.append(after)
            owner.append(m)
        for r in replies:
            leaf = after.clone()
            leaf.play(r)
            leaves.append(leaf)
            owner.append(m)
    x = torch.tensor([leaf.board for leaf in leaves], dtype=torch.float32).flatten(1) * game.player
    values = net(x).squeeze(1).tolist()
    worst = {}
    for leaf, m, v in zip(leaves, owner, values):
        v = 2.0 * leaf.winner * game.player if leaf.winner else v
        worst[m] = min(worst.get(m, 9.0), v)
    return max(worst, key=worst.get)

tally, length = {-1: 0, 0: 0, 1: 0}, 0
for g in range(GAMES):
    game = Game()
    while game.moves():
        game.play(choose(game) if game.player == 1 else rnd.choice(game.moves()))
    tally[game.winner] += 1
    length += len(game.history)
print("wins/draws/losses", tally[1], tally[0], tally[-1], "mean length", round(length / GAMES, 2))
'''
