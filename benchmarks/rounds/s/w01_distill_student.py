NAME = 'Distils a small convolutional student from a fitted teacher on a fixed set of small images.'
FAULT = 'The frozen teacher is run on the same, unaugmented images again in every epoch.'
CURE = 'Compute the teacher logits once before the epochs and index them per batch.'
KIND = 'time'
FAULT_LINES = [
    'target_logits = teacher(x)',
    'with torch.no_grad():',
    'for epoch in range(EPOCHS):',
]
FAULT_CALLS = ['teacher', 'forward', 'conv2d', 'batch_norm']

FAULTY = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

N_TRAIN, N_TEST, CLASSES = 768, 256, 8
EPOCHS, BATCH, TEMPERATURE, ALPHA = 9, 64, 4.0, 0.7

prototypes = torch.randn(CLASSES, 3, 32, 32)


def make_split(n):
    labels = torch.randint(0, CLASSES, (n,))
    images = 0.35 * prototypes[labels] + torch.randn(n, 3, 32, 32)
    return images, labels


train_x, train_y = make_split(N_TRAIN)
test_x, test_y = make_split(N_TEST)


def conv_block(c_in, c_out, stride):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class ConvNet(nn.Module):
    def __init__(self, widths, strides):
        super().__init__()
        blocks, c_in = [], 3
        for width, stride in zip(widths, strides):
            blocks.append(conv_block(c_in, width, stride))
            c_in = width
        self.features = nn.Sequential(*blocks)
        self.head = nn.Linear(c_in, CLASSES)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))


teacher = ConvNet([48, 64, 96, 128], [1, 1, 2, 2])
student = ConvNet([16, 32, 64], [2, 1, 2])

opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for idx in torch.randperm(N_TRAIN).split(BATCH):
    loss = F.cross_entropy(teacher(train_x[idx]), train_y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
teacher.eval().requires_grad_(False)

opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(EPOCHS):
    student.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        x, y = train_x[idx], train_y[idx]
        with torch.no_grad():
            target_logits = teacher(x)
        logits = student(x)
        soft = F.kl_div(
            F.log_softmax(logits / TEMPERATURE, dim=1),
            F.softmax(target_logits / TEMPERATURE, dim=1),
            reduction="batchmean",
        ) * TEMPERATURE ** 2
        loss = ALPHA * soft + (1 - ALPHA) * F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch}: loss {total / N_TRAIN:.3f}")

student.eval()
with torch.no_grad():
    accuracy = (student(test_x).argmax(1) == test_y).float().mean().item()
print(f"test accuracy {accuracy:.2f}")
'''

CURED = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

N_TRAIN, N_TEST, CLASSES = 768, 256, 8
EPOCHS, BATCH, TEMPERATURE, ALPHA = 9, 64, 4.0, 0.7

prototypes = torch.randn(CLASSES, 3, 32, 32)


def make_split(n):
    labels = torch.randint(0, CLASSES, (n,))
    images = 0.35 * prototypes[labels] + torch.randn(n, 3, 32, 32)
    return images, labels


train_x, train_y = make_split(N_TRAIN)
test_x, test_y = make_split(N_TEST)


def conv_block(c_in, c_out, stride):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class ConvNet(nn.Module):
    def __init__(self, widths, strides):
        super().__init__()
        blocks, c_in = [], 3
        for width, stride in zip(widths, strides):
            blocks.append(conv_block(c_in, width, stride))
            c_in = width
        self.features = nn.Sequential(*blocks)
        self.head = nn.Linear(c_in, CLASSES)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))


teacher = ConvNet([48, 64, 96, 128], [1, 1, 2, 2])
student = ConvNet([16, 32, 64], [2, 1, 2])

opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for idx in torch.randperm(N_TRAIN).split(BATCH):
    loss = F.cross_entropy(teacher(train_x[idx]), train_y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
teacher.eval().requires_grad_(False)
with torch.no_grad():
    teacher_logits = torch.cat([teacher(x) for x in train_x.split(BATCH)])

opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(EPOCHS):
    student.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        x, y = train_x[idx], train_y[idx]
        target_logits = teacher_logits[idx]
        logits = student(x)
        soft = F.kl_div(
            F.log_softmax(logits / TEMPERATURE, dim=1),
            F.softmax(target_logits / TEMPERATURE, dim=1),
            reduction="batchmean",
        ) * TEMPERATURE ** 2
        loss = ALPHA * soft + (1 - ALPHA) * F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch}: loss {total / N_TRAIN:.3f}")

student.eval()
with torch.no_grad():
    accuracy = (student(test_x).argmax(1) == test_y).float().mean().item()
print(f"test accuracy {accuracy:.2f}")
'''
