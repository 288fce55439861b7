"""Names of the cell that advice is given in."""

import pytest

from gpuprof.rules.advice.distribution_text import covariance_at
from gpuprof.rules.advice.loader_text import loader_made_at
from gpuprof.rules.advice.loss_text import targets_at


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("loss = F.cross_entropy(logits.view(-1, V), labels.view(-1), ignore_index=-100)", "labels"),
        ("loss = nn.functional.binary_cross_entropy(p, target=y)", "y"),
        ("loss = F.cross_entropy(logits, batch['y'])", ""),
        ("loss = F.cross_entropy(logits, make())", ""),
        ("loss = F.mse_loss(a, b)", ""),
        ("loss = F.cross_entropy(*both)", ""),
        ("loss = F.cross_entropy(a, b) + F.cross_entropy(a, c)", ""),
        ("loss = (", ""),
    ],
)
def test_targets_of_a_loss(line: str, targets: str) -> None:
    assert targets_at(line, 1) == targets


@pytest.mark.parametrize(
    ("line", "matrix"),
    [
        ("prior = MultivariateNormal(mean, covariance_matrix=K + noise)", "K + noise"),
        ("prior = D.MultivariateNormal(mean, K).log_prob(f)", "K"),
        ("prior = MultivariateNormal(mean, scale_tril=L)", ""),
        ("prior = Normal(mean, K)", ""),
        ("prior = (", ""),
    ],
)
def test_the_matrix_of_a_normal_distribution(line: str, matrix: str) -> None:
    assert covariance_at(line, 1) == matrix


LOADERS = """train = DataLoader(data, 32, shuffle=True)
test = torch.utils.data.DataLoader(other)
for epoch in range(3):
    for x, y in tqdm(enumerate(train)):
        step(x)
    hits = sum(check(x) for x in test)
    for x in given:
        step(x)
"""


@pytest.mark.parametrize(("line", "made"), [(4, 1), (6, 2), (7, 0), (3, 0)])
def test_where_a_loader_is_made(line: int, made: int) -> None:
    assert loader_made_at(LOADERS, line) == made
    assert loader_made_at(LOADERS + "train = DataLoader(more)\n", 4) == 0
    assert loader_made_at("for (", 1) == 0
