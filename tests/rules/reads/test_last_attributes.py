"""Attributes that a method computes for each call in a loop and that are read after it; and what only looks like it."""

from __future__ import annotations

import pytest

from gpuprof.rules.reads.last_attributes import last_attributes

TRACKER = """from sklearn.metrics import roc_auc_score

class Tracker:
    def __init__(self):
        self.seen, self.auc = [], 0.0

    def add(self, score, target):
        self.seen.append((score, target))
        y = np.array(self.seen)
        self.auc = roc_auc_score(y[:, 1], y[:, 0])

    def line(self):
        return f"auc {self.auc}"

for epoch in range(9):
    tracker = Tracker()
    for x, target in batches:
        tracker.add(model(x), target)
    print(tracker.line())
"""


def changed(before: str, after: str) -> str:
    assert before in TRACKER
    return TRACKER.replace(before, after)


def test_what_is_read_by_a_method_that_is_called_after_the_loop() -> None:
    (found,) = last_attributes(TRACKER)
    assert (found.first, found.last, found.names, found.call) == (10, 10, ("self.auc",), "roc_auc_score")
    assert (found.loop, found.reader, found.known) == (17, 19, True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(tracker.line())", "print(tracker.line(), tracker.auc)"),
        ("    print(tracker.line())", "    report(tracker)\n\ndef report(one):\n    print(one.line())"),
        ("        self.auc = roc", "        if 0 < y.sum() < len(y):\n            self.auc = roc"),
        ("    def line(self):", "    @property\n    def line(self):"),
        ("for epoch in range(9):", "def train():"),
        ("        tracker.add(model(x), target)", "        tracker.add(model(x), target)\n        log(x)"),
    ],
)
def test_other_ways_to_write_it(before: str, after: str) -> None:
    assert [each.names for each in last_attributes(changed(before, after))] == [("self.auc",)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # the best so far, or what somebody asks for: which call gives it is not known
        ("        self.auc = roc", "        if y.sum() > self.best:\n            self.auc = roc"),
        ("        self.auc = roc", "        if wanted:\n            self.auc = roc"),
        ("        self.auc = roc", "        for _ in y:\n            self.auc = roc"),
        # each is read
        ("self.auc = roc_auc_score(", "self.auc = self.auc + roc_auc_score("),
        (
            "        tracker.add(model(x), target)",
            "        tracker.add(model(x), target)\n        print(tracker.line())",
        ),
        ("    print(tracker.line())", "    print(tracker.line())\n    tracker.add(0, 1)"),
        (
            "        tracker.add(model(x), target)\n    print(tracker.line())",
            "        tracker.add(model(x), target)\n        show(tracker)\n\ndef show(one):\n    print(one.line())",
        ),
        (
            "        tracker.add(model(x), target)\n    print(tracker.line())",
            "        tracker.add(model(x), target)\n        each(tracker)\n\ndef each(one):\n    show(one)\n\n"
            "def show(one):\n    print(one.line())",
        ),
        # by what the text does not show, or nobody
        ("    print(tracker.line())", "    pass"),
        ("def line(self)", "def __repr__(self)"),
        ("    print(tracker.line())", "    print(getattr(tracker, name))"),
        ("    print(tracker.line())", "    print(tracker.line(), tracker.__dict__)"),
        ("    def line(self):", "    def score(self):\n        return 2 * self.auc\n\n    def line(self):"),
        # what the method does is not known
        ("class Tracker:", "class Tracker(Base):"),
        ("    def add(self", "    @timed\n    def add(self"),
        ("    tracker = Tracker()", "    tracker = kept(Tracker())"),
        ("roc_auc_score(y[:, 1], y[:, 0])", "self.seen.pop()"),
        ("roc_auc_score(y[:, 1], y[:, 0])", "y"),
    ],
)
def test_what_is_read_or_not_known(before: str, after: str) -> None:
    assert last_attributes(changed(before, after)) == ()


def test_a_call_outside_of_the_inner_loop_is_read_as_often() -> None:
    assert last_attributes(changed("        tracker.add", "        pass\n    tracker.add")) == ()


def test_what_is_no_python_has_none() -> None:
    assert last_attributes("class (") == ()


MONITOR = """class Monitor:
    def __init__(self, model):
        self.model, self.norms = model, {}

    @torch.no_grad()
    def update(self):
        for name, p in self.model.named_parameters():
            if p.ndim == 2:
                self.norms[name] = torch.linalg.svdvals(p)[0].item()

    def line(self):
        return str(self.norms.values())

monitor = Monitor(model)
for epoch in range(9):
    for batch in batches:
        train(batch)
        monitor.update()
    print(monitor.line())
"""


def test_entries_of_which_each_call_gives_all_anew() -> None:
    (found,) = last_attributes(MONITOR)
    assert (found.first, found.names, found.call, found.loop, found.reader) == (
        9,
        ("self.norms",),
        "torch.linalg.svdvals",
        16,
        19,
    )
    constant = MONITOR.replace("self.norms[name]", "self.norms['largest']")
    assert [each.first for each in last_attributes(constant)] == [9]


@pytest.mark.parametrize(
    "changes",
    [
        # another key in each call, or for other data
        {"self.norms[name]": "self.norms[self.step]"},
        {"self.norms[name]": "self.norms[len(self.norms)]"},
        {"self.norms[name]": "self.norms[step]", "def update(self)": "def update(self, step)"},
        {"in self.model.named_parameters()": "in batch.items()", "def update(self)": "def update(self, batch)"},
        # not all of them, or asked for in between
        {"if p.ndim == 2:": "if p.ndim > 2:\n                break\n            if p.ndim == 2:"},
        {"        monitor.update()": "        monitor.update()\n        print(monitor.line())"},
        {"@torch.no_grad()": "@lru_cache"},
    ],
)
def test_entries_that_stay_or_are_read(changes: dict[str, str]) -> None:
    text = MONITOR
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    assert not last_attributes(text)


def test_what_one_of_many_iterations_reads() -> None:
    seldom = changed(
        "        tracker.add(model(x), target)\n    print(",
        "        tracker.add(model(x), target)\n        if step % 50 == 0:\n            print(",
    )
    seldom = seldom.replace("for x, target in batches", "for step, (x, target) in enumerate(batches)")
    (found,) = last_attributes(seldom)
    assert (found.names, found.loop, found.reader, found.every) == (("self.auc",), 17, 20, 50)
    assert found.of_object
    both = seldom + "    print(tracker.auc)\n"
    assert [each.every for each in last_attributes(both)] == [50]


@pytest.mark.parametrize(
    "reading",
    [
        "        if loss < 1:\n            print(tracker.line())",
        "        if step % 2 == 0:\n            print(tracker.line())",
        "        if step % 50 == 0:\n            print(tracker.line())\n        show(tracker.auc)",
        "        if step % 50 == 0:\n            print(step)\n        else:\n            print(tracker.line())",
    ],
)
def test_what_more_iterations_may_read(reading: str) -> None:
    seldom = changed("    print(tracker.line())", reading).replace(
        "for x, target in batches", "for step, (x, target) in enumerate(batches)"
    )
    assert not last_attributes(seldom)


def test_a_method_that_runs_as_seldom_as_it_is_read() -> None:
    once = changed(
        "        tracker.add(model(x), target)\n    print(tracker.line())",
        "        if step % 50 == 0:\n            tracker.add(model(x), target)\n            print(tracker.line())",
    ).replace("for x, target in batches", "for step, (x, target) in enumerate(batches)")
    assert not last_attributes(once)
