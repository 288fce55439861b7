"""What the repository's texts point to is there: files, pages, sections, modules, commands.

Texts are comments, docstrings and strings of Python, Markdown (of notebooks, too), and every line of the other tracked
text files. In strings of Python only paths from the top of the repository and dotted names count: the others are data.
"""

from __future__ import annotations

import ast
import fnmatch
import functools
import importlib
import io
import json
import re
import subprocess
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXTS = (".py", ".md", ".toml", ".jinja", ".js", ".css", ".ipynb", ".c", ".h")
WITHOUT_SUFFIX = ("Makefile", "run", "newer-python")
TOPS = ("gpuprof", "docs", "tests", "benchmarks", "notebooks", "design", "shared")

# Not references into the repository, each with its reason.
_EXAMPLES = (
    *(
        "trace.json",
        "trace.json.gz",
        "TRACE.json.gz",
        "before.json.gz",
        "after.json.gz",
        "model.py",
        "nvidia-h200.json",
    ),
    *("FILE.html", "FILE.md", "eval.html", "findings.json", "out.html", "report.html"),
)
_MADE = (
    *("gpuprof-report.html", "gpuprof-report-<run number>.html", "notebooks/quickstart.executed.ipynb"),
    *("iterations.npz", "module_calls.npz", "stack_nodes.npz", "stack_samples.npz", "stack_instants.npz"),
    *("looked_operators.npz", "looked_values.npz", "looked_reads.npz", "looked_results.npz"),
    *("results.json", "tests/recordings/traces"),
)
ALLOWED = {
    **dict.fromkeys(_EXAMPLES, "a user's file in an example"),
    **dict.fromkeys(_MADE, "made by gpuprof or by make, and not, or not yet, tracked"),
    "<host>_<process>.<time>.pt.trace.json": "how torch names its traces",
    **dict.fromkeys(("../shared/traces", "../shared/traces."), "where `make traces` looks for recordings first"),
    "gpuprof.NAME": "any of the public names",
    **dict.fromkeys(("gpuprof.clock", "gpuprof.closure"), "a range in the trace"),
    "gpuprof.insights": "a module of the other package of that name",
    "gpuprof.invalid": "stands for the address that the repository will have",
    "gpuprof.lod": "a mistake that a type checker has to see",
    "holoviews/plotting/renderer.py": "a file of HoloViews",
    "notebooks/train.ipynb": "a notebook that a test makes",
    "tests.append": "a list in a cell of a round",
    **dict.fromkeys(("gpuprof/rules/a.py", "tests/rules/test_a.py", "tests/rules/test_b.py"), "made up by a test"),
    "gpuprof.views.html": "a package, not a page",
    "profiler/data.py": "a file of the TensorBoard plugin",
    "v100-ddp-memory-nccl.json.gz": "a recorded trace by its name",
}
NOT_READ = {
    "benchmarks/mutation.md",
    "tests/test_references.py",
    "tests/recordings/manifest.toml",
    "benchmarks/observer/manifest.toml",
    "benchmarks/programs/manifest.toml",
}
FOREIGN = ("torch/", "transformers/", "site-packages/")
# Options of docker, torchrun and jupyter.
FOREIGN_OPTIONS = {"--gpus", "--shm-size", "--ipc", "--cap-add", "--execute", "--nproc-per-node"}

_SUFFIXES = r"(?:py|md|toml|jinja|js|css|ipynb|json\.gz|json|html|npz|sh|c|h)"
_URL = re.compile(r"\b(?:https?|file)://\S+")
_PATH = re.compile(
    rf"(?<![\w@%$~}}/.\\-])(?:\.{{1,2}}/)*(?:[\w.<>*-]+/)*[\w<>*-][\w.<>*-]*\.{_SUFFIXES}(?![\w/-]|\.\w)"
)
_FOLDER = re.compile(rf"(?<![\w./\\-])(?:\.\./)*(?:{'|'.join(TOPS)}|\.ci)/[\w.<>*/-]*[\w>*/]")
_OUTSIDE = re.compile(r"(?<![\w./\\-])(?:\.\./)+[\w-][\w./-]*")
_PLACEHOLDER = re.compile(r"<[^<>\n]{1,40}>")
_DOTTED = re.compile(r"(?<![\w./\\-])(?:gpuprof|benchmarks|tests)(?:\.[A-Za-z_]\w*)+(?![\w/-])")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SECTION = re.compile(
    r"([\w./-]+\.md)[,:(]\s*(?:formula\s+(\d+)|\"([^\"\n]+)\")|formula\s+(\d+)\s+of\s+([\w./-]+\.md)", re.I
)
_MAKE = re.compile(r"`make ([a-z][\w-]*)")
_COMMAND = re.compile(r"(?:`|^[!$] ?|^ {4})gpuprof ([a-z]+)\b(?! *=)", re.M)
_MAGIC = re.compile(r"(?<![\w%])%{1,2}(gpu\w+)")
_OPTION = re.compile(r"(?:`|%%gpuprofile [^`\n]*?)(--[a-z][a-z-]*[a-z])(?!-)")
_MAY_REFER = re.compile(r"#.*(?:[./]\w|`)")
_FENCE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)


class Passage(NamedTuple):
    """A piece of text, where it begins, and whether it is a string of Python that may be data."""

    file: str
    line: int
    text: str
    is_string: bool = False

    def line_of(self, at: int) -> int:
        return self.line + self.text.count("\n", 0, at)


@dataclass(frozen=True, order=True)
class Dead:
    """A reference to nothing."""

    file: str
    line: int
    reference: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reference}"


@functools.cache
def tracked() -> tuple[str, ...]:
    """Every file of the repository, from its top."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return tuple(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


@functools.cache
def known() -> frozenset[str]:
    """All files and folders, from the top of the repository."""
    return frozenset(tracked()) | {str(parent) for name in tracked() for parent in Path(name).parents}


@functools.cache
def passages() -> tuple[Passage, ...]:
    """All texts but this file's examples, files of other repositories, and faults as they were found once."""
    found: list[Passage] = []
    for name in tracked():
        path = ROOT / name
        if name in NOT_READ or not (path.suffix in TEXTS or path.name in WITHOUT_SUFFIX):
            continue
        found.extend(_passages(name, path.read_text()))
    return tuple(found)


def _passages(name: str, text: str) -> Iterator[Passage]:
    if name.endswith(".py"):
        yield from _comments(name, text)
        yield from _strings(name, text)
    elif name.endswith(".ipynb"):
        for number, cell in enumerate(json.loads(text)["cells"], start=1):
            if cell["cell_type"] == "markdown":
                yield Passage(f"{name} cell {number}", 1, "".join(cell["source"]))
    else:
        yield Passage(name, 1, text)


def _comments(name: str, text: str) -> Iterator[Passage]:
    """Comments of lines that follow each other are one text."""
    if not _MAY_REFER.search(text):
        return  # tokenizing is slow
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if block and token.start[0] != last + 1:
            yield Passage(name, first, "\n".join(block))
            block = []
        first = first if block else token.start[0]
        last = token.start[0]
        block.append(token.string.lstrip("# "))
    if block:
        yield Passage(name, first, "\n".join(block))


def _strings(name: str, text: str) -> Iterator[Passage]:
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Passage(name, node.lineno, node.value, id(node) not in docstrings)


def resolve(path: str, origin: str) -> str | None:
    """The file or folder that is meant, from the top; None where there is none.

    A path is looked for from the file's folder, from each folder around it, from gpuprof/, and for a test from the
    folder that it tests. A name alone may be that of any file, except for pages: those are named by their path.
    """
    wanted = path.rstrip("/.")
    folder = Path(origin.partition(" ")[0]).parent
    tested = Path("gpuprof", *folder.parts[1:])
    for base in (folder, *folder.parents, Path("gpuprof"), tested):
        at = _normal(base / wanted)
        if at is not None and (match := next(iter(_matches(at)), None)):
            return match
        if wanted.startswith(".."):
            return None
    if "/" not in wanted and not wanted.endswith(".md"):
        return next((name for name in tracked() if fnmatch.fnmatch(Path(name).name, wanted)), None)
    return None


def _normal(path: Path) -> str | None:
    """Without `..`; None where it leaves the repository."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and not parts:
            return None
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts) or "."


def _matches(at: str) -> list[str]:
    """Itself or the page of that name, as a toctree has it."""
    return fnmatch.filter(known(), at) if "*" in at else [name for name in (at, f"{at}.md") if name in known()]


def dead_paths(passage: Passage) -> Iterator[tuple[int, str]]:
    text = _URL.sub(lambda found: " " * len(found[0]), passage.text)
    text = _PLACEHOLDER.sub(lambda found: "*" * len(found[0]), text)
    patterns = (_FOLDER, _OUTSIDE) if passage.is_string else (_PATH, _FOLDER, _OUTSIDE)
    for pattern in patterns:
        for found in pattern.finditer(text):
            if found[0].startswith(FOREIGN) or re.match(r"\**\.", Path(found[0]).name):
                continue
            if resolve(found[0], passage.file) is None:
                yield found.start(), passage.text[found.start() : found.end()]


def dead_names(passage: Passage) -> Iterator[tuple[int, str]]:
    for found in _DOTTED.finditer(passage.text):
        if not re.search(rf"\.{_SUFFIXES}$", found[0]) and not importable(found[0]):
            yield found.start(), found[0]


@functools.cache
def importable(name: str) -> bool:
    """Whether it is a module, or names in a module, one in the other."""
    parts = name.split(".")
    cut = next((n for n in range(len(parts), 0, -1) if _is_module("/".join(parts[:n]))), 0)
    if not cut or cut == len(parts):
        return bool(cut)
    value: object = importlib.import_module(".".join(parts[:cut]))
    for part in parts[cut:]:
        fields = {name for kind in getattr(value, "__mro__", ()) for name in getattr(kind, "__annotations__", ())}
        if not hasattr(value, part):
            return part in fields
        value = getattr(value, part)
    return True


def _is_module(path: str) -> bool:
    return f"{path}.py" in known() or path in known()


def dead_links(passage: Passage) -> Iterator[tuple[int, str]]:
    file = passage.file.partition(" ")[0]
    if not file.endswith((".md", ".ipynb")):
        return
    text = _FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), passage.text)
    for found in _LINK.finditer(text):
        if re.match(r"[a-z]+:", found[1]):
            continue
        path, _, anchor = found[1].partition("#")
        at = _normal(Path(file).parent / path) if path else file
        if at not in known() or (anchor and anchor not in anchors(at)):
            yield found.start(), found[1]


@functools.cache
def anchors(page: str) -> frozenset[str]:
    """Of its headings, as GitHub and MyST make them, and of its labels."""
    text = (ROOT / page).read_text()
    heads = re.findall(r"^#+ (.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    made = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    return frozenset(made) | set(re.findall(r"^\(([\w-]+)\)=", text, re.M))


def dead_sections(passage: Passage) -> Iterator[tuple[int, str]]:
    if passage.is_string:
        return
    for found in _SECTION.finditer(passage.text):
        page, number, quoted = found[1] or found[5], found[2] or found[4], found[3]
        at = resolve(page, passage.file)
        if at is None:
            continue
        text = (ROOT / at).read_text()
        there = re.search(rf"^#+ formula {number}\b", text, re.M | re.I) if number else quoted.lower() in text.lower()
        if not there:
            yield found.start(), " ".join(found[0].split())


def dead_commands(passage: Passage) -> Iterator[tuple[int, str]]:
    if passage.is_string:
        return
    for pattern, there in ((_MAKE, targets()), (_COMMAND, commands()), (_MAGIC, magics()), (_OPTION, options())):
        for found in pattern.finditer(passage.text):
            if found[1] not in there:
                yield found.start(1), found[0].strip("` ")


@functools.cache
def targets() -> set[str]:
    return set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.M))


@functools.cache
def _sources(top: str) -> str:
    return "\n".join((ROOT / name).read_text() for name in tracked() if name.startswith(top) and name.endswith(".py"))


@functools.cache
def commands() -> set[str]:
    return set(re.findall(r"add_parser\(\s*\"(\w+)\"", _sources("gpuprof/")))


@functools.cache
def magics() -> set[str]:
    return set(re.findall(r"\(\"(?:cell|line)\", \"(\w+)\"\)", _sources("gpuprof/magics/")))


@functools.cache
def options() -> set[str]:
    """Those of the command line and of the magics; custom properties of the style sheets look alike."""
    styles = "\n".join((ROOT / name).read_text() for name in tracked() if name.endswith(".css"))
    own = re.findall(r"\"(--[a-z][a-z-]+)\"", _sources("gpuprof/") + _sources("benchmarks/"))
    return {*own, *re.findall(r"(--[a-z][a-z-]*):", styles), *FOREIGN_OPTIONS}


@pytest.mark.parametrize("find", [dead_paths, dead_names, dead_links, dead_sections, dead_commands])
def test_every_reference_leads_somewhere(find: Callable[[Passage], Iterator[tuple[int, str]]]):
    dead = {Dead(each.file, each.line_of(at), what) for each in passages() for at, what in find(each)}
    listed = sorted(each for each in dead if each.reference not in ALLOWED)
    assert not listed, f"{len(listed)} dead references:\n" + "\n".join(map(str, listed))


@pytest.mark.parametrize(
    ("find", "text", "expected"),
    [
        (dead_paths, "see docs/index.md, nowhere/else.md and benchmarks/pairs", ["nowhere/else.md"]),
        (dead_paths, "`gpuprof/<name>.py`, https://example.org/a.py, /tmp/b.py", []),
        (dead_paths, "index.md and test_house.py", ["index.md"]),
        (dead_paths, "(`../elsewhere/traces`)", ["../elsewhere/traces"]),
        (dead_names, "gpuprof.units.duration, gpuprof.units.nothing, gpuprof.nothing", 2),
        (dead_links, "[a](README.md#gpuprof) [b](README.md#nothing) [c](#nothing) `[d](e)`", 2),
        (dead_commands, "`make test`, `make nothing`, `gpuprof doctor`, %gpufix 1, %%gpunothing", 2),
    ],
)
def test_dead_references_are_seen(find, text, expected):
    found = [what for _, what in find(Passage("README.md", 1, text))]
    assert found == expected if isinstance(expected, list) else len(found) == expected


def test_each_allowance_is_needed():
    dead = {what for find in (dead_paths, dead_names) for each in passages() for _, what in find(each)}
    assert not sorted(set(ALLOWED) - dead)
