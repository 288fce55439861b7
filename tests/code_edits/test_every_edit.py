"""What holds for every edit: it changes what it must and keeps all else, whatever stands around it."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.code_edits.data.host_work import make_on_device, widen_on_device
from gpuprof.code_edits.data.joined_tensors import join_after_loop
from gpuprof.code_edits.data.loaders import copy_without_blocking, pin_batches, set_for_workers, set_loader
from gpuprof.code_edits.data.stacked_arrays import stack_arrays
from gpuprof.code_edits.data.whole_batches import fetch_whole_batches
from gpuprof.code_edits.loops.cancelled_terms import only_with_factor
from gpuprof.code_edits.loops.detached import without_graph
from gpuprof.code_edits.loops.evaluation import add_inference_mode
from gpuprof.code_edits.loops.hoisted import move_before_loop
from gpuprof.code_edits.loops.kept_losses import detach_kept
from gpuprof.code_edits.loops.kept_results import keep_without_graph
from gpuprof.code_edits.loops.kept_values import keep_value
from gpuprof.code_edits.loops.optimizers import drop_zeroing_in_place, set_optimizer
from gpuprof.code_edits.loops.reads import defer_reads
from gpuprof.code_edits.loops.seldom_needed import compute_after_loop, compute_where_read, drop_unread
from gpuprof.code_edits.loops.switches import leave_anomaly_mode, set_threads, try_out_convolutions
from gpuprof.code_edits.loops.used_again import use_again
from gpuprof.code_edits.models.attention import fuse_attention
from gpuprof.code_edits.models.biases import drop_bias_before_norm
from gpuprof.code_edits.models.checkpoints import checkpoint_blocks
from gpuprof.code_edits.models.modules import compile_model, compile_with_graphs, lay_out_channels_last, lay_out_model
from gpuprof.code_edits.models.precision import add_autocast, set_matmul_precision
from gpuprof.code_edits.models.products import order_products
from gpuprof.code_edits.syntax.masks import Masked
from gpuprof.code_edits.syntax.tree import LONGEST_SOURCE
from tests.code_edits.data import test_host_work
from tests.code_edits.data.test_joined_tensors import GROWN
from tests.code_edits.data.test_stacked_arrays import READ as ROWS
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, line_of, removed_and_added
from tests.code_edits.loops import (
    test_cancelled_terms,
    test_detached,
    test_evaluation,
    test_hoisted,
    test_kept_values,
    test_seldom_needed,
    test_used_again,
)
from tests.code_edits.loops.test_kept_losses import KEPT
from tests.code_edits.loops.test_kept_results import COLLECTED
from tests.code_edits.loops.test_switches import ANOMALY
from tests.code_edits.models import test_attention, test_biases, test_checkpoints, test_modules, test_products

Edit = Callable[[str], str | None]
TORCH = "import torch\n"
EDITS: dict[str, tuple[str, Edit]] = {
    "set_loader": (TRAINING, lambda s: set_loader(s, line_of(s, "for x, y in loader"), num_workers="2")),
    "set_for_workers": (
        TRAINING.replace("batch_size = 16 ,", "batch_size = 16, num_workers=1"),
        lambda s: set_for_workers(s, line_of(s, "for x, y in loader"), prefetch_factor="4"),
    ),
    "fetch_whole_batches": (TRAINING, lambda s: fetch_whole_batches(s, line_of(s, "for x, y in loader"))),
    "keep_value": (test_kept_values.CHAIN, lambda s: keep_value(s, [line_of(s, "# here")])),
    "use_again": (test_used_again.PARTS, lambda s: use_again(s, [line_of(s, "# here")])),
    "move_before_loop": (test_hoisted.CHAIN, lambda s: move_before_loop(s, [line_of(s, "# here")])),
    "move_before_loop, a part": (test_hoisted.PART, lambda s: move_before_loop(s, [line_of(s, "# here")])),
    "only_with_factor": (test_cancelled_terms.PLAIN, lambda s: only_with_factor(s, line_of(s, "# here"))),
    "compute_after_loop": (test_seldom_needed.LAST, lambda s: compute_after_loop(s, line_of(s, "# here"))),
    "compute_where_read": (
        test_seldom_needed.MOVED_IN,
        lambda s: compute_where_read(s, line_of(s, "# here"), line_of(s, "# test")),
    ),
    "drop_unread": (test_seldom_needed.UNREAD, lambda s: drop_unread(s, s[: s.find("# here")].count("\n") + 1)),
    "without_graph": (
        test_detached.TWO_MODELS,
        lambda s: without_graph(s, [line_of(s, "# here")], line_of(s, "# back")),
    ),
    "set_threads": (TRAINING, lambda s: set_threads(s, 2)),
    "pin_batches": (TRAINING, lambda s: pin_batches(s, [line_of(s, "for x, y in loader")])),
    "copy_without_blocking": (TRAINING, lambda s: copy_without_blocking(s, line_of(s, "for x, y in loader"))),
    "set_optimizer": (TRAINING, lambda s: set_optimizer(s, line_of(s, "opt.step()"), "Adam", fused="True")),
    "stack_arrays": (
        ROWS.format(call="tensor", dtype="float32"),
        lambda s: stack_arrays(s, [(line_of(s, "# one number"), "rows")]),
    ),
    "drop_zeroing_in_place": (TRAINING, drop_zeroing_in_place),
    "defer_reads": (TRAINING, lambda s: defer_reads(s, 3)),
    "set_matmul_precision": (TRAINING, lambda s: set_matmul_precision(s, "high")),
    "add_autocast": (TORCH + TRAINING, lambda s: add_autocast(s, "cuda", "bfloat16")),
    "compile_model": (TRAINING, compile_model),
    "compile_with_graphs": (test_modules.DROPPING, compile_with_graphs),
    "lay_out_model": (test_modules.IMAGES, lay_out_model),
    "lay_out_channels_last": (test_modules.IMAGES, lay_out_channels_last),
    "checkpoint_blocks": (test_checkpoints.REPEATED, checkpoint_blocks),
    "detach_kept": (KEPT, lambda s: detach_kept(s, [line_of(s, "total += loss"), line_of(s, "losses.append")])),
    "keep_without_graph": (COLLECTED, lambda s: keep_without_graph(s, "held", {"net"})),
    "join_after_loop": (
        GROWN,
        lambda s: join_after_loop(s, [line_of(s, "# all of them"), line_of(s, "# theirs")]),
    ),
    "drop_bias_before_norm": (test_biases.NORMED, drop_bias_before_norm),
    "order_products": (
        test_products.CHAIN,
        lambda s: order_products(s, line_of(s, "# here"), ((0, 1), 2), (0, (1, 2))),
    ),
    "fuse_attention": (test_attention.CLASS, fuse_attention),
    "leave_anomaly_mode": (ANOMALY, leave_anomaly_mode),
    "make_on_device": (test_host_work.FILLED, lambda s: make_on_device(s, "randn")),
    "widen_on_device": (test_host_work.WIDENED, lambda s: widen_on_device(s, "float32")),
    "try_out_convolutions": (TRAINING, try_out_convolutions),
    "add_inference_mode": (test_evaluation.CELL, lambda s: add_inference_mode(s, line_of(s, "# here"))),
}
AROUND = [
    "%matplotlib inline",
    "!pip list | grep 'torch (",
    "files = !ls",
    "odd   =  {'x' :1 , }  # kept",
    "# a comment  ",
    "",
    "   ",
    'text = """\n  %not a magic\n"""',
    "await nothing()",
    "x_y = (1\n      % 2)",
    "if  odd :  pass ; odd=2",
    "help?",
]
LINES = st.lists(st.sampled_from(AROUND), max_size=5)


@pytest.mark.parametrize("name", EDITS)
@settings(max_examples=10)
@given(before=LINES, after=LINES, newline=st.booleans())
def test_all_else_is_kept_byte_for_byte(name: str, before: list[str], after: list[str], newline: bool) -> None:
    cell, edit = EDITS[name]
    head = "".join(f"{each}\n" for each in before)
    source = head + cell + "\n".join(after) + ("\n" if newline and after else "")
    changed = edit(source)
    alone = edit(cell)
    assert changed is not None and alone is not None
    assert removed_and_added(source, changed) == removed_and_added(cell, alone)
    assert_rest_is_kept(source, changed)
    masked = Masked.of(changed)
    assert masked is not None
    compile(masked.code, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("wrong", ["x = (\n", "%%bash\nls\n", "for x in y:\nprint(x)\n", "return ?\n", "\x00"])
def test_what_cannot_be_read_is_left_alone(name: str, wrong: str) -> None:
    cell, edit = EDITS[name]
    source = wrong + cell if wrong.startswith("%%") else cell + wrong
    assert edit(source) is None


def test_whole_programs_are_not_searched() -> None:
    cell, edit = EDITS["drop_zeroing_in_place"]
    assert edit(cell + "#" * LONGEST_SOURCE) is None


@pytest.mark.parametrize("name", EDITS)
def test_what_was_changed_needs_no_second_change(name: str) -> None:
    cell, edit = EDITS[name]
    changed = edit(cell)
    assert changed is not None
    assert edit(changed) is None


@pytest.mark.parametrize("name", EDITS)
def test_windows_line_ends_stay(name: str) -> None:
    cell, edit = EDITS[name]
    plain = edit(cell)
    changed = edit(cell.replace("\n", "\r\n"))
    assert changed is not None and plain is not None
    assert changed == plain.replace("\n", "\r\n")
