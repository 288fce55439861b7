NAME = 'backtest of a recurrent trading policy'
FAULT = 'every bar builds a one-row DataFrame and concatenates it to the growing ledger'
CURE = 'append the row dicts to a list and build the DataFrame once after the loop'
KIND = 'time'
FAULT_LINES = ['ledger = pd.concat([ledger, pd.DataFrame([row])], ignore_index=True)']
FAULT_CALLS = ['pd.concat', 'concat', 'DataFrame']
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.manual_seed(3)
rng = np.random.default_rng(3)
N_BARS, N_FEAT = 7000, 12
ret = rng.normal(0, 0.01, N_BARS)
price = 100 * np.exp(np.cumsum(ret))
feats = torch.tensor(rng.normal(size=(N_BARS, N_FEAT)), dtype=torch.float32)
stamps = pd.date_range("2021-01-04 09:30", periods=N_BARS, freq="min")

class Policy(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.cell1 = nn.GRUCell(N_FEAT, hidden)
        self.cell2 = nn.GRUCell(hidden, hidden)
        self.head = nn.Linear(hidden, 3)

    def forward(self, x, h1, h2):
        h1 = self.cell1(x, h1)
        h2 = self.cell2(h1, h2)
        return self.head(h2), h1, h2

policy = Policy().eval()
cash, shares = 10_000.0, 0
ledger = pd.DataFrame([{"time": stamps[0], "side": "open", "price": price[0], "shares": 0, "equity": cash}])
h1 = h2 = torch.zeros(1, 128)
with torch.inference_mode():
    for t in range(1, N_BARS):
        logits, h1, h2 = policy(feats[t:t + 1] * 3, h1, h2)
        action = int(logits.argmax())
        side = ("hold", "buy", "sell")[action]
        if side == "buy" and cash > price[t]:
            cash -= price[t]
            shares += 1
        elif side == "sell" and shares > 0:
            cash += price[t]
            shares -= 1
        row = {"time": stamps[t], "side": side, "price": price[t], "shares": shares, "equity": cash + shares * price[t]}
        ledger = pd.concat([ledger, pd.DataFrame([row])], ignore_index=True)

curve = ledger["equity"]
drawdown = (curve / curve.cummax() - 1).min()
print(ledger.groupby("side").size().to_dict())
print("final equity", round(curve.iloc[-1], 2), "max drawdown", round(drawdown, 4))
'''
CURED = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.manual_seed(3)
rng = np.random.default_rng(3)
N_BARS, N_FEAT = 7000, 12
ret = rng.normal(0, 0.01, N_BARS)
price = 100 * np.exp(np.cumsum(ret))
feats = torch.tensor(rng.normal(size=(N_BARS, N_FEAT)), dtype=torch.float32)
stamps = pd.date_range("2021-01-04 09:30", periods=N_BARS, freq="min")

class Policy(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.cell1 = nn.GRUCell(N_FEAT, hidden)
        self.cell2 = nn.GRUCell(hidden, hidden)
        self.head = nn.Linear(hidden, 3)

    def forward(self, x, h1, h2):
        h1 = self.cell1(x, h1)
        h2 = self.cell2(h1, h2)
        return self.head(h2), h1, h2

policy = Policy().eval()
cash, shares = 10_000.0, 0
rows = [{"time": stamps[0], "side": "open", "price": price[0], "shares": 0, "equity": cash}]
h1 = h2 = torch.zeros(1, 128)
with torch.inference_mode():
    for t in range(1, N_BARS):
        logits, h1, h2 = policy(feats[t:t + 1] * 3, h1, h2)
        action = int(logits.argmax())
        side = ("hold", "buy", "sell")[action]
        if side == "buy" and cash > price[t]:
            cash -= price[t]
            shares += 1
        elif side == "sell" and shares > 0:
            cash += price[t]
            shares -= 1
        row = {"time": stamps[t], "side": side, "price": price[t], "shares": shares, "equity": cash + shares * price[t]}
        rows.append(row)
ledger = pd.DataFrame(rows)

curve = ledger["equity"]
drawdown = (curve / curve.cummax() - 1).min()
print(ledger.groupby("side").size().to_dict())
print("final equity", round(curve.iloc[-1], 2), "max drawdown", round(drawdown, 4))
'''
