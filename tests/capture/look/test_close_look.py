"""What the look says of operators and values."""

from __future__ import annotations

import gc
import json
import threading
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.kinds import ValueKind
from tests.capture.look.looks import Found, look_at, table_texts


def test_equal_content_has_one_fingerprint_and_another_content_another() -> None:
    given, right = [torch.full((8, 8), number) for number in (1.0, 1.0, 2.0)], torch.eye(8)
    found = look_at(lambda: [torch.mm(each, right).relu() for each in given])
    left = [found.fingerprint(found.read(row)[0]) for row in found.named("mm")]
    assert left[0] == left[1] != left[2]
    assert 0 not in left
    assert found.facts.fingerprinted_share == 1.0
    # what an operator makes follows from what it reads
    assert [found.fingerprint(found.read(row)[0]) for row in found.named("relu")] == [0, 0, 0]
    assert len(set(found.operators["scalars"][found.named("mm")].tolist())) == 1


def test_what_is_random_or_no_operator_of_torchs_has_a_fingerprint() -> None:
    torch.library.define("gpuprof_test::twice", "(Tensor x) -> Tensor", lib=LIBRARY)
    torch.library.impl("gpuprof_test::twice", "cpu", lambda x: x * 2, lib=LIBRARY)

    def code() -> None:
        for _ in range(2):
            torch.manual_seed(1)
            torch.randn(8).relu()
        torch.ops.gpuprof_test.twice(torch.ones(8)).relu()

    found = look_at(code)
    first, second, third = (found.fingerprint(found.read(row)[0]) for row in found.named("relu"))
    assert first == second != 0
    assert third != 0


LIBRARY = torch.library.Library("gpuprof_test", "FRAGMENT")


def test_an_in_place_write_makes_a_new_value_of_the_same_storage() -> None:
    def code() -> None:
        x = torch.ones(4) * 2
        x.add_(1)
        x.sum()

    found = look_at(code)
    (write,), (total,) = found.named("add_"), found.named("sum")
    (before,), (after,) = found.read(write), found.made(write)
    assert found.values["storage"][before] == found.values["storage"][after]
    assert found.values["gone_at"][before] == write + 1
    assert found.values["made_by"][after] == write
    assert found.read(total) == [after]
    assert found.operators["writes"][write]


def storages(found: Found, values: list[int]) -> set[int]:
    return set(found.values["storage"][values].tolist())


@pytest.mark.parametrize(
    ("overwrite", "name"),
    [
        (lambda x: x.zero_(), "zero_"),
        (lambda x: x.copy_(torch.ones(4)), "copy_"),
        (lambda x: torch.add(torch.ones(4), 1, out=x), "add"),
    ],
)
def test_what_is_wholly_overwritten_is_not_read(overwrite, name) -> None:
    x = torch.ones(4)
    found = look_at(lambda: overwrite(x))
    row = found.named(name)[-1]
    assert not storages(found, found.read(row)) & storages(found, found.made(row))
    y = torch.ones(8)
    found = look_at(lambda: overwrite(y[:4]))
    row = found.named(name)[-1]
    assert storages(found, found.read(row)) & storages(found, found.made(row))


def test_views_are_their_storage_and_say_where_they_lie() -> None:
    x = torch.arange(12.0).view(3, 4) + 0

    found = look_at(lambda: x[1].mul(2))
    (select,), (row,) = found.named("select"), found.named("mul")
    assert found.results["alias"][found.results["operator"] == select].all()
    assert found.read(row)[0] == found.made(select)[0]
    place = np.flatnonzero(found.reads["operator"] == row)[0]
    assert table_texts(found, found.reads, "geometry")[place] == "4 (1,)"
    assert table_texts(found, found.reads, "shape")[place] == "[4]"
    assert found.reads["elements"][place] == 4
    assert found.values["elements"][found.read(row)[0]] == 12


def test_arguments_are_those_of_the_schema() -> None:
    found = look_at(lambda: (torch.ones(3, 2).sum([1], keepdim=True), torch.ones(2).to(torch.float64)))
    text = table_texts(found, found.operators, "arguments")
    assert json.loads(text[found.named("sum")[0]]) == [None, [1], True, None]
    assert "torch.float64" in text[found.named("_to_copy")[0]]


def test_one_and_one_point_nought_and_true_are_three() -> None:
    x = torch.ones(2)
    found = look_at(lambda: [x.add(x, alpha=number) for number in (1, 1.0, 1)])
    first, second, third = found.operators["scalars"][found.named("add")].tolist()
    assert first == third != second


def test_backward_names_the_line_that_called_it_and_the_forward_line() -> None:
    layer = nn.Linear(4, 4)
    lines = {}

    def code() -> None:
        loss = layer(torch.ones(2, 4)).sum()
        lines["backward"] = __line__() + 1
        loss.backward()

    found = look_at(code)
    backward = found.operators["backward"]
    assert backward.any() and not backward.all()
    places = found.facts.places
    assert {places[place].line for place in found.operators["place"][backward]} == {lines["backward"]}
    forward = found.operators["forward_place"]
    assert (forward[~backward] == -1).all()
    assert lines["backward"] - 2 in {places[place].line for place in forward[backward] if place >= 0}
    assert found.operators["graph"][found.named("addmm")[0]]
    assert places[found.operators["place"][0]].function.endswith("code")


def __line__() -> int:
    import sys

    return sys._getframe(1).f_lineno


def test_what_values_are_to_a_model() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(net.parameters())

    def code() -> None:
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.randn(8, 4)).sum().backward()
            optimizer.step()

    found = look_at(code, namespace={"net": net})
    kinds = found.values["kind"]
    assert {ValueKind(kind) for kind in kinds} == set(ValueKind)
    (first, *_) = found.named("native_batch_norm")
    statistics = [value for value in found.made(first) if kinds[value] == ValueKind.BUFFER]
    assert len(statistics) == 2  # which its schema does not say
    assert (found.values["fingerprint"][kinds == ValueKind.PARAMETER] == 0).all()


def test_nothing_lives_longer() -> None:
    tensors = []

    def code() -> None:
        x = torch.ones(1000) + 1
        y = x * 2
        tensors.append(weakref.ref(x.untyped_storage()))
        del x
        assert tensors[0]() is None
        y.sum()

    gc.disable()
    try:
        found = look_at(code)
    finally:
        gc.enable()
    (row,) = found.named("mul")
    value = found.read(row)[0]
    assert found.values["gone_at"][value] == row + 1
    assert (found.values["gone_at"][found.made(row)] == len(found.operators)).all()


def test_numbers_of_storages_are_never_used_twice() -> None:
    found = look_at(lambda: [torch.ones(100) + number for number in range(50)])
    made = [found.made(row)[0] for row in found.named("add")]
    assert len({int(found.values["storage"][value]) for value in made}) == 50


@pytest.mark.parametrize(
    "reading",
    [
        lambda x: x.numpy(), lambda x: x.tolist(), np.asarray, lambda x: x.sum().item(), lambda x: x.data_ptr(),
        lambda x: bool((x > 0).all()), lambda x: torch.from_dlpack(x), lambda x: x.untyped_storage(), float, str,
    ],
    ids=["numpy", "tolist", "array", "item", "pointer", "bool", "dlpack", "storage", "float", "print"],
)  # fmt: skip
def test_reads_by_others_than_operators_show(reading) -> None:
    def code(read: bool) -> Found:
        def run() -> None:
            x = torch.ones(1) + 1
            if read:
                reading(x)

        return look_at(run)

    assert code(True).values["read_outside"].any()
    assert not code(False).values["read_outside"].any()
    assert not {"numpy", "tolist", "data_ptr", "untyped_storage"} & set(vars(torch.Tensor))


def test_memory_that_others_write_to_is_compared_each_time() -> None:
    array = np.ones(16, np.float32)
    tensor = torch.from_numpy(array)
    own = torch.ones(16)

    def code() -> None:
        for number in (1, 1, 5):
            array[:] = number
            tensor.mul(2)
            own.numpy()[:] = number
            own.mul(3)

    found = look_at(code)
    rows = found.named("mul")
    for first in (0, 1):
        values = [found.read(row)[0] for row in rows[first::2]]
        assert values[0] == values[1] != values[2]
        assert found.fingerprint(values[0]) != found.fingerprint(values[2])


def test_a_write_that_no_operator_shows_is_counted() -> None:
    tensor = torch.ones(16)

    def code() -> None:
        tensor.mul(2)
        thread = threading.Thread(target=lambda: tensor.add_(1))  # a mode is of one thread
        thread.start()
        thread.join()
        tensor.mul(2)

    found = look_at(code)
    first, second = (found.read(row)[0] for row in found.named("mul"))
    assert first != second and found.values["made_by"][second] == -1
    assert found.facts.unseen_writes == 1


def test_flops_of_a_product() -> None:
    found = look_at(lambda: torch.mm(torch.ones(2, 3), torch.ones(3, 5)).relu())
    assert found.operators["flops"][found.named("mm")] == [2 * 2 * 3 * 5]
    assert np.isnan(found.operators["flops"][found.named("relu")]).all()


def test_random_operators() -> None:
    def code() -> None:
        x = torch.randn(4)
        nn.functional.dropout(x, 0.5)
        nn.functional.dropout(x, 0.5, training=False)
        torch.native_dropout(x, 0.5, False)
        x.normal_()
        x + 1

    found = look_at(code)
    drawn = {
        found.name(found.operators["name"][row]): bool(random) for row, random in enumerate(found.operators["random"])
    }
    assert drawn["aten::randn"] and drawn["aten::normal_"] and not drawn["aten::add.Tensor"]
    assert not found.operators["random"][found.named("native_dropout")[-1]]


def test_iterations_end_the_look_and_budgets_too() -> None:
    def run(look: CloseLook) -> Found:
        with look:
            for _ in range(5):
                for _ in range(10):
                    torch.ones(4) + 1
                look.iteration_ended()
        return Found(look)

    two = run(CloseLook(__file__, iterations=2, most_seconds=60))
    assert (two.facts.iterations, two.facts.ended_by, two.facts.operators_share) == (2, "iterations", 1.0)
    assert np.bincount(two.operators["iteration"]).tolist() == [20, 20]
    few = run(CloseLook(__file__, iterations=3, most_seconds=60, most_operators=30))
    assert (len(few.operators), few.facts.ended_by, few.facts.iterations) == (30, "operators", 1)
    assert few.facts.operators_share == pytest.approx(30 / 40)
    short = run(CloseLook(__file__, iterations=3, most_seconds=1e-9))
    assert (len(short.operators), short.facts.ended_by) == (1, "seconds")
    unknown = run(CloseLook(__file__, most_seconds=60))
    # told of none, it finds those of the inner loop, and the last one may go on
    assert unknown.operators["iteration"].tolist() == [*(number for number in range(1, 50) for _ in range(2)), -1, -1]


def test_a_look_that_never_began_says_why() -> None:
    look = CloseLook(__file__)
    assert look.result()[1].skipped == "it was never started"


def test_what_the_end_of_the_cell_cuts_short_is_a_part() -> None:
    look = CloseLook(__file__, iterations=2)
    assert look.start()
    torch.ones(2).add(1)
    look.stop("cell")
    assert look.result()[1].operators_share is None and look.seen[0] == 0

    look = CloseLook(__file__, iterations=2)
    assert look.start()
    x = torch.ones(2)
    x.add(1)
    look.iteration_ended()
    x.add(1)
    look.stop("cell")
    share = look.result()[1].operators_share
    assert share is not None and 0.5 < share < 1.0 and look.seen == (1, 3)
