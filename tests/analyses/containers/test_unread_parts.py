"""What the items of a container hold that nothing reads."""

from __future__ import annotations

import pytest

from gpuprof.analyses.containers.unread_parts import UnreadParts, unread_parts
from gpuprof.model.memory import ItemPart

MEMBER = """class Member:
    def __init__(self):
        self.net = Net()
        self.opt = Adam(self.net.parameters())
    def fit(self, data):
        self.data = data
        for x in data:
            self.opt.step()
        return self
    def predict(self, x):
        return self.scaled(x)
    def scaled(self, x):
        return self.net(x)
    @property
    def size(self):
        return len(self.data)
"""
FILL = (
    "members = []\nfor seed in range(9):\n    m = Member().fit(data)\n    members.append(m)\n    print(m.losses[-1])\n"
)


def unread(*texts: str, steps: tuple[str, ...] = (".net", ".opt", ".data"), kind: str = "Member") -> UnreadParts | None:
    parts = [ItemPart(kind=kind, step=each, bytes=10 * (at + 1)) for at, each in enumerate(steps)]
    return unread_parts(texts, "members", None, parts)


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        ("y = [m.predict(x) for m in members]", (".opt", ".data")),
        ("for m in members:\n    m.predict(x)", (".opt", ".data")),
        ("for i, m in enumerate(members):\n    m.predict(x)", (".opt", ".data")),
        ("for i, (m, z) in enumerate(zip(members, zs)):\n    m.predict(x)", (".opt", ".data")),
        ("best = max(members, key=lambda m: m.score)\nbest.predict(x)", (".opt", ".data")),
        ("top = sorted(members, key=lambda m: m.score)[:3]\n[m.net for m in top]", (".opt", ".data")),
        ("members[-1].predict(x)", (".opt", ".data")),
        ("good = [m for m in members if m.score > 1]\ngood[0].predict(x)", (".opt", ".data")),
        ("def vote(every, x):\n    return sum(one.net(x) for one in every)\nvote(members, x)", (".opt", ".data")),
        ("def one(m):\n    return m.net(x)\ny = [one(m) for m in members]", (".opt", ".data")),
        # a property
        ("n = sum(m.size for m in members)", (".net", ".opt")),
        ("if members and not done:\n    print(len(members), members[0].losses)", (".net", ".opt", ".data")),
    ],
)
def test_what_nothing_reads(reads: str, expected: tuple[str, ...]) -> None:
    found = unread(MEMBER + FILL + reads)
    assert found is not None and found.steps == expected
    assert found.bytes == sum({".net": 10, ".opt": 20, ".data": 30}[each] for each in expected)


@pytest.mark.parametrize(
    "reads",
    [
        "torch.save(members, path)",
        "for m in members:\n    print(m)",
        "for m in members:\n    other(m)",
        "for m in members:\n    m.opt.step()\n    m.net(x)\n    m.data",
        "for m in members:\n    m.fit(data)\n    m.net",
        "vars(members[0])",
        "for m in members:\n    f(**vars(m))",
        "holder.members = members\nmembers[0].net",
        "everything = members or []\nmembers[0].net",
        "def get():\n    return members\nmembers[0].net",
        # nothing is read of them, so a later cell has to
        "print(len(members))",
        "",
    ],
)
def test_what_may_be_read(reads: str) -> None:
    assert unread(MEMBER + FILL + reads) is None


def test_the_item_goes_on_after_the_loop() -> None:
    after = unread(MEMBER + FILL + "m.opt.step()\ny = [m.net(x) for m in members]")
    assert after is not None and after.steps == (".data",)
    # and in the next turn
    carried = FILL.replace("    print", "    last = m\n    print").replace("    m =", "    last.opt\n    m =")
    found = unread(MEMBER + carried + "y = [m.net(x) for m in members]")
    assert found is not None and found.steps == (".data",)


def test_other_cells_read_too() -> None:
    other = "for m in members:\n    m.opt.step()\n"
    found = unread(MEMBER + FILL + "y = [m.net(x) for m in members]", other)
    assert found is not None and found.steps == (".data",)
    assert unread(MEMBER + FILL + "y = [m.net(x) for m in members]", "this is no text (") is None


def test_records() -> None:
    fill = 'members = []\nfor x in loader:\n    members.append({"loss": f(x), "logits": x})\n'
    steps = ('["logits"]', '["loss"]')
    found = unread(fill + 'print(sum(r["loss"] for r in members))', steps=steps, kind="dict")
    assert found is not None and (found.steps, found.read) == (('["logits"]',), ('["loss"]',))
    assert unread(fill + "print([r[key] for r in members])", steps=steps, kind="dict") is None
    pairs = "members = []\nfor x in loader:\n    members.append((f(x), x))\n"
    found = unread(pairs + "for loss, _ in members:\n    print(loss)", steps=("[0]", "[1]"), kind="tuple")
    assert found is not None and found.steps == ("[1]",)
    # a tuple with names is read by them
    assert unread(pairs + "print(members[0].loss)", steps=("[0]", "[1]"), kind="Pair") is None


def test_classes_that_are_not_known() -> None:
    """Their methods may read anything; their attributes are what they are."""
    assert unread(FILL + "y = [m.predict(x) for m in members]") is None
    found = unread(FILL + "y = [m.net for m in members]")
    assert found is not None and found.steps == (".opt", ".data")
    inherits = MEMBER.replace("class Member:", "class Member(Fitted):")
    assert unread(inherits + FILL + "y = [m.predict(x) for m in members]") is None
    base = "class Fitted:\n    def score(self):\n        return self.data\n"
    found = unread(base + inherits + FILL + "y = [m.score() for m in members]")
    assert found is not None and found.steps == (".net", ".opt")
    handed = MEMBER.replace("return self.scaled(x)", "return scaled(self, x)")
    assert unread(handed + FILL + "y = [m.predict(x) for m in members]") is None


def test_objects_that_are_called() -> None:
    module = "class Member(nn.Module):\n    def forward(self, x):\n        return self.net(x)\n"
    found = unread(module + FILL + "y = [m(x) for m in members]")
    assert found is not None and found.steps == (".opt", ".data")
