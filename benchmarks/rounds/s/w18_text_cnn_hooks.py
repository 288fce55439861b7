NAME = 'Trains a convolutional text classifier and logs the gradient norms of its layers through tensor hooks.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The hooks, the .item() of each step and the gradient clipping cost a few percent on the CPU, where .item() waits for nothing.'

GOOD = r'''from collections import defaultdict
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

VOCAB, LENGTH, CLASSES, PAD = 4000, 60, 4, 0


def make_reviews(n):
    topic_words = torch.arange(1, 1 + 40 * CLASSES).view(CLASSES, 40)
    labels = torch.randint(0, CLASSES, (n,))
    ids = torch.randint(1, VOCAB, (n, LENGTH))
    pick = topic_words[labels].gather(1, torch.randint(0, 40, (n, LENGTH)))
    ids = torch.where(torch.rand(n, LENGTH) < 0.08, pick, ids)
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (n, 1))
    return ids.masked_fill(torch.arange(LENGTH) >= lengths, PAD), labels


class TextCNN(nn.Module):
    def __init__(self, dim=64, channels=80):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.convs = nn.ModuleList(nn.Conv1d(dim, channels, k, padding=k // 2) for k in (3, 5))
        self.dropout = nn.Dropout(0.3)
        self.out = nn.Linear(2 * channels, CLASSES)

    def forward(self, ids):
        x = self.embedding(ids).transpose(1, 2)
        pooled = [F.relu(conv(x)).amax(dim=2) for conv in self.convs]
        return self.out(self.dropout(torch.cat(pooled, dim=1)))


grad_norms = defaultdict(list)


def watch(model):
    def make_hook(name):
        def hook(grad):
            grad_norms[name].append(grad.norm().item())
        return hook

    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            parameter.register_hook(make_hook(name))


x_train, y_train = make_reviews(6000)
x_test, y_test = make_reviews(2000)
model = TextCNN()
watch(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
history = []

for epoch in range(6):
    model.train()
    for idx in torch.randperm(len(x_train)).split(128):
        logits = model(x_train[idx])
        loss = F.cross_entropy(logits, y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        accuracy = (logits.argmax(1) == y_train[idx]).float().mean().item()
        history.append((loss.item(), accuracy))
    recent = torch.tensor(history[-47:]).mean(dim=0)
    print(f"epoch {epoch} loss {recent[0].item():.3f} accuracy {recent[1].item():.3f}")

model.eval()
with torch.no_grad():
    predicted = torch.cat([model(x).argmax(1) for x in x_test.split(256)])
confusion = torch.zeros(CLASSES, CLASSES, dtype=torch.long)
confusion.index_put_((y_test, predicted), torch.ones_like(y_test), accumulate=True)
print("confusion matrix", confusion.tolist())
print(f"test accuracy {(predicted == y_test).float().mean().item():.3f}")
for name, values in grad_norms.items():
    print(f"{name}: mean {sum(values) / len(values):.4f} max {max(values):.4f}")
'''
