"""Lightning: the user makes loaders and optimizer, the Trainer runs them."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, Subject

_TRAINER = "lightning.Trainer"
_LOOPS = "lightning/pytorch/loops/evaluation_loop.py"

WORDS = {
    "unfused_optimizer": Change(
        "In `configure_optimizers`, make it `\\g<name>(..., fused=True)`.",
        replaces=r"Make it `(?P<name>\w+)\(\.\.\., fused=True\)`\.",
        subject=Subject.OPTIMIZER,
    ),
    "sync_in_step": Change(
        "Without `prog_bar=True` in `self.log`, or with `Trainer(enable_progress_bar=False)`, Lightning reads no value "
        "in each step.",
        "lightning.Trainer lightning.LightningModule.log",
    ),
    "evaluation_share": Change(
        "Evaluate less often: `Trainer(val_check_interval=..., limit_val_batches=...)`, or `check_val_every_n_epoch=`.",
        _TRAINER,
        r"Evaluate less often: every few epochs or steps, or only when the result is printed or decides something\.",
    ),
    "fp32_matmul": Change(
        'Set `Trainer(precision="bf16-mixed")`, or `torch.set_float32_matmul_precision("high")` before the fit.',
        _TRAINER,
        ".+",
    ),
    "conv_autotune_off": Change(
        "Set `Trainer(benchmark=True)`, and compare the step times.",
        _TRAINER,
        r"Set `torch\.backends\.cudnn\.benchmark = True` before the first step, and compare the step times\.",
    ),
    "debug_mode_on": Change("Turn anomaly detection off: `Trainer(detect_anomaly=False)`.", _TRAINER),
}

FRAMEWORK = Framework(package="lightning", title="Lightning", evaluates=((_LOOPS, ()),), words={2: WORDS})
