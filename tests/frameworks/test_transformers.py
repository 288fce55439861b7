from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset

import gpuprof
from gpuprof.analyses.accounts.evaluations import Evaluations
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.run import Run
from tests.frameworks.stopwatch import (
    Stopwatch,
    above_low,
    finding,
    is_near,
    makers,
    optimizer_is_exact,
    steps,
)

transformers = pytest.importorskip("transformers")


class Sentences(Dataset[dict[str, Any]]):
    def __init__(self, count: int):
        self.tokens = torch.randint(5, 200, (count, 16))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"input_ids": self.tokens[index], "labels": int(self.tokens[index, 0]) % 2}


class SlowSamples(Sentences):
    def __getitem__(self, index: int) -> dict[str, Any]:
        end = time.perf_counter() + 0.003
        while time.perf_counter() < end:
            pass
        return super().__getitem__(index)


def trainer(folder: Path, data: Dataset[Any] | None = None, *, layers: int = 1, **settings: Any) -> Any:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=200,
        hidden_size=64,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=32,
    )
    off = {"report_to": [], "save_strategy": "no", "disable_tqdm": True, "use_cpu": True}
    arguments = transformers.TrainingArguments(str(folder), per_device_train_batch_size=8, **{**off, **settings})
    model = transformers.BertForSequenceClassification(config)
    return transformers.Trainer(
        model=model, args=arguments, train_dataset=data or Sentences(512), eval_dataset=Sentences(64)
    )


def fit(trainer: Any) -> Run:
    with gpuprof.profile() as run:
        trainer.train()
    return run


@pytest.mark.parametrize("accumulated", [1, 3])
def test_a_healthy_fit(tmp_path: Path, accumulated: int) -> None:
    optimizer, evaluation = Stopwatch(), Stopwatch()
    fitting = trainer(
        tmp_path, max_steps=150 // accumulated, gradient_accumulation_steps=accumulated, eval_strategy="steps",
        eval_steps=50, logging_steps=25,
    )  # fmt: skip
    with optimizer.on(torch.optim.AdamW, "step"), evaluation.on(transformers.Trainer, "evaluate"):
        run = fit(fitting)
    assert steps(run) == fitting.state.global_step == optimizer.calls == 150 // accumulated
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert is_near(run, evaluation, Phase.EVALUATION)
    assert above_low(run) == []
    assert makers(run) == {"transformers"}


def test_slow_samples(tmp_path: Path) -> None:
    run = fit(trainer(tmp_path, SlowSamples(256), max_steps=20))
    assert finding(run, "input_stall").evidence["stall_share"] > 0.3
    change = finding(run, "input_stall").change
    assert "SlowSamples" in change or "it is the dataset’s own" in change


def test_parameters_one_by_one(tmp_path: Path) -> None:
    run = fit(trainer(tmp_path, layers=4, max_steps=25, optim="adamw_torch", optim_args="foreach=False"))
    assert 'Set `optim="adamw_torch_fused"` in `TrainingArguments`.' in finding(run, "unfused_optimizer").change


def test_evaluation_after_each_step(tmp_path: Path) -> None:
    fitting = trainer(tmp_path, max_steps=25, eval_strategy="steps", eval_steps=1)
    run = fit(fitting)
    assert steps(run) == fitting.state.global_step == 25
    assert run.report_data.results.get(Evaluations).steps_between == 1
    assert "set a larger `eval_steps=`" in finding(run, "evaluation_share").change


def test_every_loss_is_read_for_the_filter(tmp_path: Path) -> None:
    assert "`logging_nan_inf_filter=False`" in finding(fit(trainer(tmp_path, max_steps=40)), "sync_in_step").change
    without = fit(trainer(tmp_path, max_steps=40, logging_nan_inf_filter=False, max_grad_norm=0.0))
    assert "sync_in_step" not in {each.rule for each in without.findings}
