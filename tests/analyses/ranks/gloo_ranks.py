"""Three processes that exchange by gloo, each profiled twice, whole and by steps; rank 1 sleeps before its
all-reduce. Run by a test.

python -m tests.analyses.ranks.gloo_ranks FOLDER
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

RANKS, LATE, STEPS, SLEEP_S = 3, 1, 8, 0.1


def work(rank: int, folder: str) -> None:
    import torch
    import torch.distributed as dist
    from torch.profiler import ProfilerActivity, profile, schedule

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    model, value = torch.nn.Linear(64, 64), torch.ones(1000)
    once = schedule(wait=0, warmup=1, active=STEPS, repeat=1)
    for way, plan in (("whole", None), ("steps", once)):
        file = Path(folder) / way / f"rank{rank}.json"
        file.parent.mkdir(exist_ok=True)
        profiler = profile(
            activities=[ProfilerActivity.CPU],
            record_shapes=True,
            schedule=plan,
            on_trace_ready=lambda found, to=str(file): found.export_chrome_trace(to),
        )
        with profiler:
            for _ in range(STEPS + (plan is not None)):
                model(torch.ones(8, 64))
                if rank == LATE and plan is None:
                    time.sleep(SLEEP_S)
                elif rank == LATE:
                    with torch.profiler.record_function("validate"):
                        time.sleep(SLEEP_S)
                dist.all_reduce(value)
                dist.all_gather([torch.empty(1000) for _ in range(RANKS)], value)
                if plan is not None:
                    profiler.step()
    dist.destroy_process_group()


def main() -> None:
    import torch.multiprocessing as processes

    os.environ["GLOO_SOCKET_IFNAME"] = os.environ.get("GLOO_SOCKET_IFNAME", "lo")
    processes.spawn(work, (sys.argv[1],), nprocs=RANKS)


if __name__ == "__main__":
    main()
