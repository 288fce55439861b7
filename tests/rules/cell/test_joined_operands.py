from __future__ import annotations

import pytest

from gpuprof.rules.cell.joined_operands import operand_names

LEFT = ((0, 1), 2)


@pytest.mark.parametrize(
    ("line", "diagonal", "names"),
    [
        ("y = a @ net.b.T @ f(x)", (), ("a", "net.b.T", "f(x)")),
        ("y = torch.diag(u) @ K @ torch.diag_embed(self.v)", (0, 2), ("u", "K", "self.v")),
        ("y = D @ K @ x", (0,), None),  # its vector is not known
        ("y = torch.diag(u + 1) @ K @ x", (0,), None),
        ("y = torch.diag(u, 0) @ K @ x", (0,), None),
        ("y = inverse(u) @ K @ x", (0,), None),
        ("y = a @ (b @ x)", (), None),
        ("y = a @ b @ x + c @ d", (), None),
        ("y = a @ (b + c) @ x", (), None),
        ("y = a @ what_has_a_name_that_is_too_long @ x", (), None),
        ("y = a @@ b", (), None),
    ],
)
def test_what_a_line_calls_its_operands(line: str, diagonal: tuple[int, ...], names: tuple[str, ...] | None) -> None:
    flags = [number in diagonal for number in range(3)]
    assert operand_names(f"\n{line}\n", 2, LEFT, flags) == names
    assert operand_names(f"\n{line}\n", 1, LEFT, flags) is None
