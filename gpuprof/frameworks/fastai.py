"""fastai: an optimizer and a DataLoader of its own."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, OwnOptimizer, Subject

FRAMEWORK = Framework(
    package="fastai",
    title="fastai",
    evaluates=(("fastai/learner.py", ("_do_epoch_validate", "validate")),),
    optimizers=(OwnOptimizer("fastai.optimizer", "Optimizer", "step", "param_lists", "state"),),
    words={
        2: {
            "input_stall": Change(
                "`dataloaders(..., num_workers=\\g<workers>, persistent_workers=True)`",
                "fastai.data.load.DataLoader",
                r"`num_workers=(?P<workers>\d+), persistent_workers=True` for the DataLoader",
                Subject.LOADER,
            ),
            "unfused_optimizer": Change(
                "Use torch's optimizer: `Learner(..., opt_func=partial(OptimWrapper, opt=torch.optim.AdamW, "
                "fused=True))`.",
                "fastai.learner.Learner fastai.optimizer.OptimWrapper torch.optim.AdamW",
                ".+",
                Subject.OPTIMIZER,
            ),
        }
    },
)
