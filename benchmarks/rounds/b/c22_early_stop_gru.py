NAME = 'machine vibration forecast with early stopping'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import copy
import torch
import torch.nn as nn

torch.manual_seed(51)
N, T, CH, HID, EPOCHS, PATIENCE = 1800, 48, 6, 112, 8, 3
t = torch.arange(T + 1).float()
freq = torch.rand(N, 1, CH) * 0.5 + 0.1
series = torch.sin(t[None, :, None] * freq + torch.rand(N, 1, CH) * 6) + 0.1 * torch.randn(N, T + 1, CH)
x, y = series[:, :-1].contiguous(), series[:, 1:].contiguous()
x_tr, y_tr, x_va, y_va = x[:1700], y[:1700], x[1700:], y[1700:]

class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(CH, HID, num_layers=2, batch_first=True)
        self.head = nn.Linear(HID, CH)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out)

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
best, best_state, bad, log = float("inf"), None, 0, []
for epoch in range(EPOCHS):
    model.train()
    for idx in torch.randperm(len(x_tr)).split(170):
        loss = nn.functional.mse_loss(model(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        log.append({"epoch": epoch, "loss": loss.item()})
    model.eval()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(x_va), y_va).item()
    if val < best:
        best, best_state, bad = val, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
        if bad > PATIENCE:
            break
model.load_state_dict(best_state)
print("epochs", epoch + 1, "best validation mse", round(best, 5), "batches", len(log))
'''
