NAME = "Trains a residual policy-value network for Connect Four with PPO against frozen copies of itself."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The whole network is deep-copied in every iteration, games advance in a Python loop over moves and positions are evaluated again in the update; the copy takes about a millisecond and must stay frozen while the learner changes, moves depend on one another, and PPO needs fresh log-probabilities with gradients."
GOOD = r'''
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(22)

ROWS, COLS = 6, 7
GAMES = 128

line_filters = torch.zeros(4, 1, 4, 4)
line_filters[0, 0, 0, :] = 1
line_filters[1, 0, :, 0] = 1
line_filters[2, 0] = torch.eye(4)
line_filters[3, 0] = torch.eye(4).flip(1)


def has_won(stones):
    """stones: (n, 6, 7) of 0/1; is there a line of four?"""
    padded = F.pad(stones.unsqueeze(1), (3, 3, 0, 3))
    return F.conv2d(padded, line_filters).amax(dim=(1, 2, 3)) > 3.5



class Block(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.a = nn.Conv2d(ch, ch, 3, padding=1)
        self.b = nn.Conv2d(ch, ch, 3, padding=1)

    def forward(self, x):
        return F.relu(x + self.b(F.relu(self.a(x))))


class PolicyValue(nn.Module):
    def __init__(self, ch=48, depth=3):
        super().__init__()
        self.stem = nn.Conv2d(2, ch, 3, padding=1)
        self.tower = nn.Sequential(*[Block(ch) for _ in range(depth)])
        self.policy = nn.Linear(ch * ROWS, 1)
        self.value = nn.Linear(ch, 1)

    def forward(self, planes):
        h = self.tower(F.relu(self.stem(planes)))
        logits = self.policy(h.permute(0, 3, 1, 2).flatten(2)).squeeze(-1)
        full = planes[:, :, 0].sum(1) > 0
        return logits.masked_fill(full, -1e9), torch.tanh(self.value(h.mean(dim=(2, 3)))).squeeze(-1)


@torch.no_grad()
def play(learner, rival):
    boards = torch.zeros(GAMES, 2, ROWS, COLS)
    live = torch.arange(GAMES)
    result = torch.zeros(GAMES)
    memory = []
    turn = torch.randint(0, 2, (1,)).item()
    for ply in range(ROWS * COLS):
        me = (ply + turn) % 2
        view = boards[live] if me == 0 else boards[live].flip(1)
        logits, value = (learner if me == 0 else rival)(view)
        dist = torch.distributions.Categorical(logits=logits)
        col = dist.sample()
        if me == 0:
            memory.append((live, view, col, dist.log_prob(col), value))
        height = boards[live, :, :, col].sum(dim=(1, 2)).long()
        boards[live, me, ROWS - 1 - height, col] = 1
        won = has_won(boards[live, me])
        result[live[won]] = 1.0 if me == 0 else -1.0
        live = live[~won]
        if len(live) == 0:
            break
    who, views, cols, logp, values = (torch.cat(part) for part in zip(*memory))
    return views, cols, logp, result[who], values, result


net = PolicyValue()
opt = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)

for it in range(8):
    rival = copy.deepcopy(net).eval()
    views, cols, old_logp, ret, values, result = play(net, rival)
    adv = ret - values
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    for _ in range(2):
        for idx in torch.randperm(len(cols)).split(128):
            logits, value = net(views[idx])
            logp = F.log_softmax(logits, dim=1)
            new = logp.gather(1, cols[idx, None]).squeeze(1)
            ratio = (new - old_logp[idx]).exp()
            gain = torch.minimum(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
            entropy = -(logp.exp() * logp).sum(1).mean()
            loss = -gain + 0.5 * F.mse_loss(value, ret[idx]) - 0.01 * entropy
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"iteration {it + 1}: {len(cols)} positions, wins {(result > 0).sum()}, losses {(result < 0).sum()}, entropy {entropy:.3f}")
'''
