"""Put small faults into the code, one at a time, and count those that the tests catch."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.mutation.bench import Bench
from benchmarks.mutation.choice import Choice
from benchmarks.mutation.mutants import Mutant, all_places, sample
from benchmarks.mutation.recorded import ROOT, recorded
from benchmarks.mutation.report import CAUGHT, EQUIVALENT, SURVIVED, Verdict, equivalents, page, share_caught

PACKAGES = "rules,analyses,whatif,ingest"


def main() -> None:
    options = _options()
    began = time.monotonic()
    chosen = _chosen(options)
    listed = equivalents(Path(__file__).with_name("equivalent.toml"))
    with tempfile.TemporaryDirectory(prefix="gpuprof-mutation-") as folder:
        benches = [Bench(ROOT, _made(Path(folder) / str(job))) for job in range(options.jobs)]
        with ThreadPoolExecutor(options.jobs) as pool:
            choice = Choice(recorded(benches, pool), ROOT)
            print(f"{len(chosen)} faults, after {time.monotonic() - began:.0f} s", flush=True)
            free = deque(benches)

            def judge(mutant: Mutant) -> Verdict:
                bench = free.popleft()  # there are as many as threads
                try:
                    return _judged(bench, choice, mutant, listed)
                finally:
                    free.append(bench)

            verdicts = []
            for verdict in pool.map(judge, chosen):
                verdicts.append(verdict)
                _tell(len(verdicts), verdict, verbose=options.verbose)
        for bench in benches:
            bench.__exit__()
    seconds = time.monotonic() - began
    print(f"{share_caught(verdicts):.1%} caught, {seconds:.0f} s")
    if options.out and not options.pick:
        command = " ".join(["python -m benchmarks.mutation", *sys.argv[1:]])
        options.out.write_text(page(verdicts, command=command, seed=options.seed, seconds=seconds))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--packages", default=PACKAGES, help="of gpuprof, with commas between them")
    parser.add_argument("--only", help="all faults of the files whose path contains this, instead of a sample")
    parser.add_argument("--pick", help="of the sample only these, by their numbers: 3,14,15; writes no report")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "mutation.md", help="the report")
    parser.add_argument("--no-report", dest="out", action="store_const", const=None)
    parser.add_argument("--verbose", action="store_true", help="name what was caught as well, and by which test")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    places = all_places(ROOT, options.packages.split(","))
    if not options.only:
        chosen = sample(places, options.count, options.seed)
        return [chosen[int(number) - 1] for number in options.pick.split(",")] if options.pick else chosen
    return [mutant for each in places.values() for place in each for mutant in place if options.only in mutant.path]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _judged(bench: Bench, choice: Choice, mutant: Mutant, listed: dict[tuple[str, str, str], str]) -> Verdict:
    if mutant.key in listed:
        return Verdict(mutant, EQUIVALENT, listed[mutant.key])
    batches = choice.batches(mutant)
    tests = sum(map(len, batches))
    for batch in batches:
        caught, by = bench.try_on(mutant, batch, choice.most_s(batch))
        if caught:
            return Verdict(mutant, CAUGHT, by, tests)
    return Verdict(mutant, SURVIVED, "", tests)


def _tell(number: int, verdict: Verdict, *, verbose: bool) -> None:
    mutant = verdict.mutant
    if verdict.outcome == SURVIVED or verbose:
        by = f"  [{verdict.by}]" if verdict.by else ""
        print(f"{number:4} {verdict.outcome}: {mutant.path}:{mutant.line}  {mutant.change}  | {mutant.source}{by}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
