"""
number = 65
title = "Keep the replay memory in tensors"
family = "reinforcement"
rule = "host_cpu_bound"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 12
moves = 500
batch = 32
state = 48
width = 128

[sizes.cpu]
steps = 400
moves = 10000
batch = 64
state = 256
width = 512

[sizes.host_bound]
steps = 100
moves = 20000
batch = 128
state = 128
width = 256

[sizes.balanced]
steps = 100
moves = 20000
batch = 256
state = 128
width = 4096

[sizes.device_bound]
steps = 60
moves = 20000
batch = 512
state = 128
width = 16384

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "only the rewards pass through a list of Python numbers: a few dozen of them"
"""

# %% setup
import warnings
from typing import NamedTuple

import numpy as np
import torch

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
# the notebook's author did not see it either
warnings.filterwarnings("ignore", message="Creating a tensor from a list of numpy.ndarrays")


class Move(NamedTuple):
    state: np.ndarray
    action: int
    reward: float
    following: np.ndarray
    done: bool


draw = np.random.default_rng(0)


def state():
    return draw.normal(size=size.state).astype(np.float32)


memory = [
    Move(state(), int(draw.integers(4)), float(draw.normal()), state(), bool(draw.random() < 0.02))
    for _ in range(size.moves)
]


def network():
    hidden = [torch.nn.Linear(size.state, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, size.width)]
    return torch.nn.Sequential(*hidden, torch.nn.ReLU(), torch.nn.Linear(size.width, 4)).to(device)


policy, target = network(), network()
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.SGD(policy.parameters(), lr=0.001)


def improve(states, actions, rewards, following, done):
    """One step of Q-learning; returns its loss."""
    with torch.no_grad():
        wanted = rewards + 0.99 * target(following).amax(dim=1) * (1 - done)
    optimizer.zero_grad()
    loss = torch.nn.functional.smooth_l1_loss(policy(states).gather(1, actions[:, None]).squeeze(1), wanted)
    loss.backward()
    optimizer.step()
    return loss.detach()


# %% bad
chance = np.random.default_rng(1)
for step in range(size.steps):
    chosen = [memory[place] for place in chance.integers(len(memory), size=size.batch)]
    states = torch.tensor([move.state for move in chosen], device=device)  # <- host_cpu_bound
    actions = torch.tensor([move.action for move in chosen], device=device)
    rewards = torch.tensor([move.reward for move in chosen], device=device)
    following = torch.tensor([move.following for move in chosen], device=device)  # <- host_cpu_bound
    done = torch.tensor([move.done for move in chosen], dtype=torch.float32, device=device)
    loss = improve(states, actions, rewards, following, done)

# %% good
chance = np.random.default_rng(1)
states = torch.from_numpy(np.stack([move.state for move in memory])).to(device)
actions = torch.tensor([move.action for move in memory], device=device)
rewards = torch.tensor([move.reward for move in memory], device=device)
following = torch.from_numpy(np.stack([move.following for move in memory])).to(device)
done = torch.tensor([move.done for move in memory], dtype=torch.float32, device=device)
for step in range(size.steps):
    places = torch.from_numpy(chance.integers(len(memory), size=size.batch)).to(device)
    loss = improve(states[places], actions[places], rewards[places], following[places], done[places])

# %% negative
chance = np.random.default_rng(1)
states = torch.from_numpy(np.stack([move.state for move in memory])).to(device)
actions = torch.tensor([move.action for move in memory], device=device)
following = torch.from_numpy(np.stack([move.following for move in memory])).to(device)
done = torch.tensor([move.done for move in memory], dtype=torch.float32, device=device)
for step in range(size.steps):
    chosen = chance.integers(len(memory), size=size.batch)
    places = torch.from_numpy(chosen).to(device)
    rewards = torch.tensor([memory[place].reward for place in chosen], device=device)
    loss = improve(states[places], actions[places], rewards, following[places], done[places])
