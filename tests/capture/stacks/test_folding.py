from __future__ import annotations

import sysconfig
from pathlib import Path

from gpuprof.capture.stacks.folding import OWN_FOLDER, StackTree, is_ours

CELL = "ipykernel_1/100.py"
OTHER = "ipykernel_1/200.py"
STDLIB = str(Path(sysconfig.get_paths()["stdlib"]) / "json" / "decoder.py")
TORCH = str(Path(sysconfig.get_paths()["purelib"]) / "torch" / "nn" / "modules" / "linear.py")


def test_a_stack_begins_with_the_users_code() -> None:
    tree = StackTree(CELL)
    node = tree.node([(STDLIB, "loads", 3), (CELL, "<module>", 5), (TORCH, "forward", 9)])

    table = tree.table()
    assert list(table["parent"]) == [-1, 0]
    assert node == 1
    assert [tree.files[row].kind for row in table["sampled_file"]] == ["cell", "library"]
    assert [tree.functions[row] for row in table["function"]] == ["<module>", "forward"]
    assert list(table["line"]) == [5, 9]


def test_library_files_are_named_from_their_package_on() -> None:
    tree = StackTree(CELL)
    tree.node([(CELL, "<module>", 5), (TORCH, "forward", 9), (STDLIB, "decode", 1), ("<frozen os>", "walk", 2)])

    assert [each.filename for each in tree.files[1:]] == [
        str(Path("torch", "nn", "modules", "linear.py")),
        str(Path("json", "decoder.py")),
        "<frozen os>",
    ]
    assert {each.kind for each in tree.files[1:]} == {"library"}


def test_other_cells_and_the_users_modules_are_the_users_code() -> None:
    tree = StackTree(CELL)
    tree.node([("/home/me/project/model.py", "forward", 3), (OTHER, "step", 4)])

    assert [each.kind for each in tree.files] == ["cell", "module", "notebook"]
    assert len(tree.table()) == 2


def test_frames_of_gpuprof_are_left_out() -> None:
    tree = StackTree(CELL)
    ours = (str(Path(OWN_FOLDER) / "capture" / "loading" / "loaders.py"), "next", 7)
    assert tree.node([(CELL, "<module>", 1), ours, (TORCH, "forward", 2)]) == tree.node(
        [(CELL, "<module>", 1), (TORCH, "forward", 2)]
    )


def test_the_same_stack_is_the_same_node_and_none_is_minus_one() -> None:
    tree = StackTree(None)
    first = tree.node([("/home/me/a.py", "f", 1)])
    assert tree.node([("/home/me/a.py", "f", 1)]) == first
    assert tree.node([("/home/me/a.py", "f", 2)]) != first
    assert tree.node([(STDLIB, "decode", 1)]) == -1
    assert tree.node([]) == -1


def test_the_time_in_which_a_recording_ends_is_ours() -> None:
    ending = (str(Path(OWN_FOLDER) / "capture" / "session" / "window.py"), "_finish", 7)
    hook = (str(Path(OWN_FOLDER) / "capture" / "loading" / "loaders.py"), "next", 7)
    assert is_ours([(CELL, "<module>", 1), hook, ending, (TORCH, "stop", 2)])
    assert not is_ours([(CELL, "<module>", 1), hook, (TORCH, "forward", 2)])


def test_the_time_in_which_we_read_the_system_is_ours() -> None:
    hook = (str(Path(OWN_FOLDER) / "capture" / "loading" / "load_times.py"), "timed_fetch", 7)
    reading = (str(Path(OWN_FOLDER) / "capture" / "process" / "core_times.py"), "thread_times", 7)
    assert is_ours([(CELL, "<module>", 1), hook, reading, (TORCH, "read_bytes", 2)])


def test_an_operator_that_is_looked_at_is_the_users_and_looking_is_not() -> None:
    look = f"{OWN_FOLDER}/capture/look"
    calling = [(CELL, "<module>", 1), (TORCH, "linear", 2), (f"{look}/mode_stack.py", "_dispatch", 3)]
    running = [*calling, (f"{look}/close_look.py", "CloseLook.dispatched", 4)]
    assert not is_ours(running) and not is_ours([*running, (TORCH, "decomposed", 5)])
    assert is_ours([*running, (f"{look}/operator_seen.py", "before", 5)]) and is_ours(calling)
    tree = StackTree(CELL)
    assert tree.node([*running, (TORCH, "OpOverload.__call__", 5)]) == tree.node(calling[:2])
