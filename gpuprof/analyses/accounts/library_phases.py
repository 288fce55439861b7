"""Which phase a frame of a library stands for."""

from __future__ import annotations

from gpuprof.analyses.accounts.phase import Phase

# where optimizers are, by the path from the package on
OPTIMIZER_FILES = (
    *("torch/optim/", "timm/optim/", "fastai/optimizer.py", "keras/src/optimizers/"),
    "keras/src/backend/torch/optimizers/",
)
_TELLING = ("refresh", "display", "update", "write", "set_postfix", "set_postfix_str", "set_description", "moveto")
# the file's path from the package on; with the functions that count, else all of its functions
_FILES: tuple[tuple[str, tuple[str, ...], Phase], ...] = (
    ("<frozen importlib", (), Phase.SET_UP),
    ("importlib/", (), Phase.SET_UP),
    ("torch/utils/data/", (), Phase.DATA),
    *((each, (), Phase.OPTIMIZER) for each in OPTIMIZER_FILES),
    ("torch/amp/grad_scaler.py", (), Phase.OPTIMIZER),
    ("torch/nn/utils/clip_grad.py", (), Phase.OPTIMIZER),
    ("torch/_tensor.py", ("Tensor.backward", "backward"), Phase.BACKWARD),
    ("torch/autograd/__init__.py", ("backward", "grad"), Phase.BACKWARD),
    ("torch/_dynamo/", ("_compile", "compile_inner", "_compile_inner"), Phase.COMPILING),
    ("torch/_inductor/", ("compile_fx", "compile_fx_inner"), Phase.COMPILING),
    ("torch/serialization.py", (), Phase.CHECKPOINT),
    ("safetensors/", (), Phase.CHECKPOINT),
    ("pickle.py", (), Phase.CHECKPOINT),
    ("joblib/numpy_pickle.py", (), Phase.CHECKPOINT),
    ("torch/utils/tensorboard/", (), Phase.LOGGING),
    ("tensorboard/", (), Phase.LOGGING),
    ("tensorboardX/", (), Phase.LOGGING),
    ("wandb/", (), Phase.LOGGING),
    ("mlflow/", (), Phase.LOGGING),
    ("logging/", (), Phase.LOGGING),
    ("lightning/pytorch/loggers/", (), Phase.LOGGING),
    ("pytorch_lightning/loggers/", (), Phase.LOGGING),
    ("torchmetrics/utilities/prints.py", (), Phase.LOGGING),
    ("comet_ml/", (), Phase.LOGGING),
    ("neptune/", (), Phase.LOGGING),
    ("clearml/", (), Phase.LOGGING),
    ("aim/", (), Phase.LOGGING),
    ("swanlab/", (), Phase.LOGGING),
    ("loguru/", (), Phase.LOGGING),
    ("structlog/", (), Phase.LOGGING),
    ("rich/", (), Phase.LOGGING),
    # its iterator's frame stays on the stack while the loop's next item is made
    ("tqdm/", _TELLING, Phase.LOGGING),
    ("ipykernel/iostream.py", (), Phase.LOGGING),
    ("matplotlib/", (), Phase.PLOTTING),
    ("matplotlib_inline/", (), Phase.PLOTTING),
    ("seaborn/", (), Phase.PLOTTING),
    ("plotly/", (), Phase.PLOTTING),
    ("bokeh/", (), Phase.PLOTTING),
    ("holoviews/", (), Phase.PLOTTING),
    ("IPython/core/display_functions.py", (), Phase.PLOTTING),
    ("transformers/generation/", (), Phase.GENERATION),
    ("vllm/", (), Phase.GENERATION),
    ("sklearn/metrics/", (), Phase.EVALUATION),
    ("torchmetrics/", (), Phase.EVALUATION),
    ("torch/nn/modules/loss.py", (), Phase.LOSS),
    ("keras/src/losses/", (), Phase.LOSS),
)
_LOSSES = "torch/nn/functional.py"
_LOSS_NAMES = ("_loss", "cross_entropy", "kl_div", "_loss_with_logits")
# these hold another phase's work only where a frame of the user's follows: a closure, a user's own backward, a display
YIELDING = frozenset({Phase.OPTIMIZER, Phase.LOSS, Phase.LOGGING})


def phase_of(filename: str, function: str) -> Phase | None:
    """Of a library's frame; `filename` from its package on, `function` with or without its class. None: it does not
    say."""
    name = filename.replace("\\", "/")
    bare = function.rsplit(".", 1)[-1]
    if name == _LOSSES:
        return Phase.LOSS if bare.endswith(_LOSS_NAMES) else None
    for prefix, functions, phase in _FILES:
        if name.startswith(prefix) and (not functions or function in functions or bare in functions):
            return phase
    return None


def is_module_call(filename: str, function: str) -> bool:
    """Whether the frame calls an `nn.Module`, or a compiled function."""
    name = filename.replace("\\", "/")
    return name == "torch/nn/modules/module.py" and function.endswith("_call_impl")
