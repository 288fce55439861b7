NAME = 'Force-directed layout of a social network, drawn to a PNG'
FAULT = 'Every edge is drawn by its own ax.plot call, which makes thousands of Line2D artists.'
CURE = 'Draw all edges as one LineCollection.'
KIND = 'time'
FAULT_LINES = [
    'ax.plot(xy[[a, b], 0], xy[[a, b], 1], color=shade[k], linewidth=0.5, zorder=1)',
    'for k, (a, b) in enumerate(edges.T):',
    'fig.savefig(png, format="png", dpi=110)',
]
FAULT_CALLS = ['Axes.plot', 'Figure.savefig', 'Line2D.draw', 'draw_network']
FAULTY = r"""import io

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import torch
from PIL import Image

torch.set_num_threads(1)
torch.manual_seed(53)

G = nx.random_partition_graph([110, 100, 90, 80, 70], 0.34, 0.004, seed=53)
n = G.number_of_nodes()
edges = np.array(G.edges()).T
group = np.empty(n, dtype=int)
for gi, members in enumerate(G.graph["partition"]):
    group[list(members)] = gi
print(n, "people,", edges.shape[1], "ties")


def layout(edges, steps=200, lr=0.05):
    src, dst = torch.from_numpy(edges)
    pos = torch.nn.Parameter(torch.randn(n, 2))
    opt = torch.optim.Adam([pos], lr=lr)
    for step in range(steps):
        d2 = (pos.unsqueeze(1) - pos.unsqueeze(0)).pow(2).sum(-1)
        repel = (1.0 / (d2 + 0.05)).sum() / n
        attract = (pos[src] - pos[dst]).pow(2).sum() / n
        energy = repel + 0.5 * attract
        opt.zero_grad()
        energy.backward()
        opt.step()
        if step % 50 == 49:
            print(f"layout step {step + 1}: energy {energy.item():.3f}")
    return pos.detach().numpy()


def draw_network(xy, title):
    palette = np.array(["#4477aa", "#ee6677", "#228833", "#ccbb44", "#aa3377"])
    fig, ax = plt.subplots(figsize=(9, 9))
    same = group[edges[0]] == group[edges[1]]
    shade = np.where(same, palette[group[edges[0]]], "#bbbbbb")
    for k, (a, b) in enumerate(edges.T):
        ax.plot(xy[[a, b], 0], xy[[a, b], 1], color=shade[k], linewidth=0.5, zorder=1)
    degree = np.bincount(edges.ravel(), minlength=n)
    ax.scatter(xy[:, 0], xy[:, 1], s=4 + 2 * degree, c=palette[group], zorder=2)
    ax.set_title(title)
    ax.set_axis_off()
    png = io.BytesIO()
    fig.savefig(png, format="png", dpi=110)
    plt.close(fig)
    return Image.open(png).convert("L")


xy = layout(edges)
image = draw_network(xy, "Ties within and between groups")
within = np.linalg.norm(xy[edges[0]] - xy[edges[1]], axis=1)
print("figure", image.size, "mean tie length", round(float(within.mean()), 3))
centres = np.stack([xy[group == g].mean(0) for g in range(5)])
spread = [float(np.linalg.norm(xy[group == g] - centres[g], axis=1).mean()) for g in range(5)]
print("spread per group", np.round(spread, 3))
"""
CURED = r"""import io

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection
import networkx as nx
import numpy as np
import torch
from PIL import Image

torch.set_num_threads(1)
torch.manual_seed(53)

G = nx.random_partition_graph([110, 100, 90, 80, 70], 0.34, 0.004, seed=53)
n = G.number_of_nodes()
edges = np.array(G.edges()).T
group = np.empty(n, dtype=int)
for gi, members in enumerate(G.graph["partition"]):
    group[list(members)] = gi
print(n, "people,", edges.shape[1], "ties")


def layout(edges, steps=200, lr=0.05):
    src, dst = torch.from_numpy(edges)
    pos = torch.nn.Parameter(torch.randn(n, 2))
    opt = torch.optim.Adam([pos], lr=lr)
    for step in range(steps):
        d2 = (pos.unsqueeze(1) - pos.unsqueeze(0)).pow(2).sum(-1)
        repel = (1.0 / (d2 + 0.05)).sum() / n
        attract = (pos[src] - pos[dst]).pow(2).sum() / n
        energy = repel + 0.5 * attract
        opt.zero_grad()
        energy.backward()
        opt.step()
        if step % 50 == 49:
            print(f"layout step {step + 1}: energy {energy.item():.3f}")
    return pos.detach().numpy()


def draw_network(xy, title):
    palette = np.array(["#4477aa", "#ee6677", "#228833", "#ccbb44", "#aa3377"])
    fig, ax = plt.subplots(figsize=(9, 9))
    same = group[edges[0]] == group[edges[1]]
    shade = np.where(same, palette[group[edges[0]]], "#bbbbbb")
    ax.add_collection(LineCollection(xy[edges.T], colors=list(shade), linewidths=0.5, zorder=1))
    degree = np.bincount(edges.ravel(), minlength=n)
    ax.scatter(xy[:, 0], xy[:, 1], s=4 + 2 * degree, c=palette[group], zorder=2)
    ax.set_title(title)
    ax.set_axis_off()
    png = io.BytesIO()
    fig.savefig(png, format="png", dpi=110)
    plt.close(fig)
    return Image.open(png).convert("L")


xy = layout(edges)
image = draw_network(xy, "Ties within and between groups")
within = np.linalg.norm(xy[edges[0]] - xy[edges[1]], axis=1)
print("figure", image.size, "mean tie length", round(float(within.mean()), 3))
centres = np.stack([xy[group == g].mean(0) for g in range(5)])
spread = [float(np.linalg.norm(xy[group == g] - centres[g], axis=1).mean()) for g in range(5)]
print("spread per group", np.round(spread, 3))
"""
