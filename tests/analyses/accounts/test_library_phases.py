from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.library_phases import is_module_call, phase_of
from gpuprof.analyses.accounts.phase import Phase


@pytest.mark.parametrize(
    ("filename", "function", "phase"),
    [
        ("torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__", Phase.DATA),
        ("torch/optim/adam.py", "Adam.step", Phase.OPTIMIZER),
        ("torch/_tensor.py", "Tensor.backward", Phase.BACKWARD),
        ("torch/_tensor.py", "backward", Phase.BACKWARD),
        ("torch/_tensor.py", "Tensor.__rsub__", None),
        ("torch/nn/functional.py", "cross_entropy", Phase.LOSS),
        ("torch/nn/functional.py", "mse_loss", Phase.LOSS),
        ("torch/nn/functional.py", "relu", None),
        ("torch/nn/modules/loss.py", "CrossEntropyLoss.forward", Phase.LOSS),
        ("torch/serialization.py", "save", Phase.CHECKPOINT),
        ("matplotlib/pyplot.py", "plot", Phase.PLOTTING),
        ("matplotlib\\pyplot.py", "plot", Phase.PLOTTING),
        ("sklearn/metrics/_ranking.py", "roc_auc_score", Phase.EVALUATION),
        ("sklearn/decomposition/_pca.py", "PCA.fit", None),
        ("transformers/generation/utils.py", "GenerationMixin.generate", Phase.GENERATION),
        ("<frozen importlib._bootstrap>", "_find_and_load", Phase.SET_UP),
        ("torch/_dynamo/convert_frame.py", "_compile", Phase.COMPILING),
        ("torch/_dynamo/eval_frame.py", "_fn", None),
        ("pandas/core/indexing.py", "_iLocIndexer.__getitem__", None),
    ],
)
def test_a_frame_of_a_library_says_what_it_is_for(filename: str, function: str, phase: Phase | None) -> None:
    assert phase_of(filename, function) is phase


def test_a_module_is_called_by_torch() -> None:
    assert is_module_call("torch/nn/modules/module.py", "Module._call_impl")
    assert not is_module_call("torch/nn/modules/module.py", "Module.to")
    assert not is_module_call("torch/nn/modules/linear.py", "Linear._call_impl")
