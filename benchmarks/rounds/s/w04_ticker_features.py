NAME = 'Builds rolling features for simulated price series with pandas and fits a small network that forecasts the next move.'
FAULT = 'The rolling range is computed by a Python lambda called for each window through rolling.apply.'
CURE = 'Use the built-in rolling max minus rolling min.'
KIND = 'time'
FAULT_LINES = [
    'out[f"range_{w}"] = log_price.rolling(w).apply(lambda v: v.max() - v.min())',
]
FAULT_CALLS = ['apply', 'rolling', 'max', 'min', '<lambda>']

FAULTY = r'''import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(7)

DAYS, TICKERS = 1800, 24
dates = pd.bdate_range("2015-01-01", periods=DAYS)


def simulate_prices():
    vol = 0.01 * np.exp(0.4 * rng.standard_normal(TICKERS))
    market = 0.006 * rng.standard_normal((DAYS, 1))
    returns = market + vol * rng.standard_normal((DAYS, TICKERS))
    for t in range(1, DAYS):
        returns[t] += 0.15 * returns[t - 1]
    prices = 100 * np.exp(np.cumsum(returns, axis=0))
    return pd.DataFrame(prices, index=dates, columns=[f"T{i:02d}" for i in range(TICKERS)])


def build_features(price):
    log_price = np.log(price)
    ret = log_price.diff()
    out = pd.DataFrame(index=price.index)
    for lag in (0, 1, 2, 5):
        out[f"ret_{lag}"] = ret.shift(lag)
    for w in (10, 21, 63):
        out[f"mean_{w}"] = ret.rolling(w).mean()
        out[f"std_{w}"] = ret.rolling(w).std()
        out[f"range_{w}"] = log_price.rolling(w).apply(lambda v: v.max() - v.min())
        out[f"gap_{w}"] = log_price - log_price.rolling(w).mean()
    out["target"] = ret.shift(-1)
    return out.dropna()


prices = simulate_prices()
frames = {name: build_features(prices[name]) for name in prices.columns}
table = pd.concat(frames, names=["ticker", "date"])
print("feature table", table.shape)
print("mean range_21: %.4f" % table["range_21"].mean())

split = dates[int(DAYS * 0.8)]
when = table.index.get_level_values("date")
columns = [c for c in table.columns if c != "target"]
train, test = table[when < split], table[when >= split]
mean, std = train[columns].mean(), train[columns].std()


def to_tensors(frame):
    x = ((frame[columns] - mean) / std).to_numpy(np.float32)
    y = (frame["target"].to_numpy(np.float32) * 100)[:, None]
    return torch.from_numpy(x), torch.from_numpy(y)


x_train, y_train = to_tensors(train)
x_test, y_test = to_tensors(test)

model = nn.Sequential(
    nn.Linear(len(columns), 256), nn.SiLU(),
    nn.Linear(256, 256), nn.SiLU(),
    nn.Linear(256, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, weight_decay=1e-4)
for epoch in range(6):
    for idx in torch.randperm(len(x_train)).split(256):
        loss = nn.functional.huber_loss(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with torch.no_grad():
    pred = model(x_test)
rmse = (pred - y_test).pow(2).mean().sqrt().item()
hit_rate = (pred.sign() == y_test.sign()).float().mean().item()
print("test rmse %.3f  hit rate %.3f" % (rmse, hit_rate))
'''

CURED = r'''import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(7)

DAYS, TICKERS = 1800, 24
dates = pd.bdate_range("2015-01-01", periods=DAYS)


def simulate_prices():
    vol = 0.01 * np.exp(0.4 * rng.standard_normal(TICKERS))
    market = 0.006 * rng.standard_normal((DAYS, 1))
    returns = market + vol * rng.standard_normal((DAYS, TICKERS))
    for t in range(1, DAYS):
        returns[t] += 0.15 * returns[t - 1]
    prices = 100 * np.exp(np.cumsum(returns, axis=0))
    return pd.DataFrame(prices, index=dates, columns=[f"T{i:02d}" for i in range(TICKERS)])


def build_features(price):
    log_price = np.log(price)
    ret = log_price.diff()
    out = pd.DataFrame(index=price.index)
    for lag in (0, 1, 2, 5):
        out[f"ret_{lag}"] = ret.shift(lag)
    for w in (10, 21, 63):
        out[f"mean_{w}"] = ret.rolling(w).mean()
        out[f"std_{w}"] = ret.rolling(w).std()
        out[f"range_{w}"] = log_price.rolling(w).max() - log_price.rolling(w).min()
        out[f"gap_{w}"] = log_price - log_price.rolling(w).mean()
    out["target"] = ret.shift(-1)
    return out.dropna()


prices = simulate_prices()
frames = {name: build_features(prices[name]) for name in prices.columns}
table = pd.concat(frames, names=["ticker", "date"])
print("feature table", table.shape)
print("mean range_21: %.4f" % table["range_21"].mean())

split = dates[int(DAYS * 0.8)]
when = table.index.get_level_values("date")
columns = [c for c in table.columns if c != "target"]
train, test = table[when < split], table[when >= split]
mean, std = train[columns].mean(), train[columns].std()


def to_tensors(frame):
    x = ((frame[columns] - mean) / std).to_numpy(np.float32)
    y = (frame["target"].to_numpy(np.float32) * 100)[:, None]
    return torch.from_numpy(x), torch.from_numpy(y)


x_train, y_train = to_tensors(train)
x_test, y_test = to_tensors(test)

model = nn.Sequential(
    nn.Linear(len(columns), 256), nn.SiLU(),
    nn.Linear(256, 256), nn.SiLU(),
    nn.Linear(256, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, weight_decay=1e-4)
for epoch in range(6):
    for idx in torch.randperm(len(x_train)).split(256):
        loss = nn.functional.huber_loss(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with torch.no_grad():
    pred = model(x_test)
rmse = (pred - y_test).pow(2).mean().sqrt().item()
hit_rate = (pred.sign() == y_test.sign()).float().mean().item()
print("test rmse %.3f  hit rate %.3f" % (rmse, hit_rate))
'''
