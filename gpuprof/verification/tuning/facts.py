"""What is known of a profiled cell and its machine, as far as it decides which settings are worth a try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment, Loader, Optimizer
from gpuprof.rules.compiler.compilability import can_compile

_MODELS_LOOKED_THROUGH = 20


@dataclass(frozen=True)
class CellFacts:
    """`models`: names of the notebook that hold models; `convolves`: one of them has 2-d convolutions. `on_device`: a
    CUDA device is in use; `has_bfloat16`, `has_tf32`: it computes in these. `forks`: workers start as copies of this
    process, so that they know the classes of the notebook. `compiles`: torch.compile is worth a try here."""

    source: str
    loaders: tuple[Loader, ...] = ()
    optimizers: tuple[Optimizer, ...] = ()
    models: frozenset[str] = frozenset()
    convolves: bool = False
    cores: int = 1
    threads: int = 1
    on_device: bool = False
    has_bfloat16: bool = False
    has_tf32: bool = False
    forks: bool = False
    compiles: bool = False

    @classmethod
    def of(cls, results: Results, source: str, namespace: Mapping[str, Any]) -> CellFacts:
        """From the run's own record and the variables that the cell left."""
        import torch

        context = results.context
        models = {name: each for name, each in list(namespace.items()) if issubclass(type(each), torch.nn.Module)}
        cuda: Any = torch.cuda
        on_device = bool(cuda.is_available() and cuda.is_initialized())
        modern = on_device and cuda.get_device_capability()[0] >= _AMPERE
        return cls(
            source=source,
            loaders=context.loaders,
            optimizers=context.optimizers,
            models=frozenset(models),
            convolves=any(_convolves(each) for each in list(models.values())[:_MODELS_LOOKED_THROUGH]),
            cores=_cores(context.environment),
            threads=torch.get_num_threads(),
            on_device=on_device,
            has_bfloat16=modern or not on_device,
            has_tf32=modern,
            forks=_forks(context.environment),
            compiles=on_device and can_compile(results),
        )


_AMPERE = 8  # the first with bfloat16 and TF32


def _convolves(model: Any) -> bool:
    import torch

    return any(isinstance(each, torch.nn.Conv2d) for each in model.modules())


def _cores(environment: Environment | None) -> int:
    if environment is None:
        return 1
    known = [each for each in (environment.cores_allowed, environment.cores_limit) if each]
    return max(int(min(known)), 1) if known else 1


def _forks(environment: Environment | None) -> bool:
    import multiprocessing

    # the first of all is the default; asking for it otherwise would choose it for good
    chosen = multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]
    return environment is not None and chosen == "fork"
