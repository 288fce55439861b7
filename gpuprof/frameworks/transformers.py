"""Hugging Face Transformers: the Trainer makes loaders and optimizer itself."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, Subject

_ARGUMENTS = "transformers.TrainingArguments"
_WORDS = {
    "input_stall": Change(
        "`dataloader_num_workers=\\g<workers>, dataloader_persistent_workers=True` in `TrainingArguments`",
        _ARGUMENTS,
        r"`num_workers=(?P<workers>\d+), persistent_workers=True` for the DataLoader",
        Subject.LOADER,
    ),
    "workers_restarted": Change(
        "Set `dataloader_persistent_workers=True` in `TrainingArguments`.",
        _ARGUMENTS,
        r"Use `persistent_workers=True` for the DataLoader, and make it once, before [^.]+\.",
        Subject.LOADER,
    ),
    "unfused_optimizer": Change(
        'Set `optim="adamw_torch_fused"` in `TrainingArguments`.',
        _ARGUMENTS,
        r"Make it `AdamW\(\.\.\., fused=True\)`\.",
        Subject.OPTIMIZER,
    ),
    "sync_in_step": Change(
        "Set `logging_nan_inf_filter=False` in `TrainingArguments`: the Trainer reads every loss for it. Log less "
        "often with `logging_steps=`.",
        _ARGUMENTS,
    ),
    "evaluation_share": Change(
        'Evaluate less often: set a larger `eval_steps=`, or `eval_strategy="epoch"`, in `TrainingArguments`.',
        _ARGUMENTS,
        r"Evaluate less often: every few epochs or steps, or only when the result is printed or decides something\.",
    ),
    "fp32_matmul": Change("Set `bf16=True` or `tf32=True` in `TrainingArguments`.", _ARGUMENTS, ".+"),
    "activations_dominate_peak": Change("Set `gradient_checkpointing=True` in `TrainingArguments`.", _ARGUMENTS),
    "launch_bound": Change(
        "Set `torch_compile=True` in `TrainingArguments`, or a larger `per_device_train_batch_size=`.", _ARGUMENTS
    ),
    "padding_waste": Change(
        'Set `train_sampling_strategy="group_by_length"` in `TrainingArguments`.',
        _ARGUMENTS,
        r"Put sequences of like length into a batch: `group_by_length=True` in Hugging Face’s Trainer, a bucketing "
        r"sampler elsewhere; or pack several into one row\.",
    ),
}

FRAMEWORK = Framework(
    package="transformers",
    title="Transformers",
    evaluates=(("transformers/trainer.py", ("evaluate", "evaluation_loop")),),
    words={5: _WORDS},
)
