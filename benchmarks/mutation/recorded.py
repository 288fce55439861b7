"""Has the tests recorded where they, or the code, have changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.mutation.bench import Bench
from benchmarks.mutation.record import FileRecord, Shelf

ROOT = Path(__file__).resolve().parents[2]
TESTS = ("rules", "analyses", "whatif", "ingest", "model", "report")
_AT_A_TIME = 8  # test files recorded in one go


def recorded(benches: Sequence[Bench], pool: ThreadPoolExecutor, rooms: Sequence[str] = TESTS) -> list[FileRecord]:
    """The records of all tests in these rooms, with all workers at what is missing; says so where something is."""
    files = sorted(path for name in rooms for path in (ROOT / "tests" / name).rglob("test_*.py"))
    names = [str(path.relative_to(ROOT)) for path in files]
    list(pool.map(lambda bench: bench.warm_up(names), benches))
    shelf = Shelf(ROOT / ".gpuprof" / "mutation", ROOT, files)
    missing = shelf.missing()
    if missing:
        print(f"recording which lines the tests in {len(missing)} files run", flush=True)

    free = deque(benches)

    def record(asked: list[Path]) -> None:
        bench = free.popleft()
        try:
            shelf.keep(bench.record([str(path.relative_to(ROOT)) for path in asked]), asked)
        finally:
            free.append(bench)

    list(pool.map(record, (missing[at : at + _AT_A_TIME] for at in range(0, len(missing), _AT_A_TIME))))
    return shelf.all()
