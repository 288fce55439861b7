"""Stable-Baselines3: rollouts without gradients, then training on them."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, Subject

FRAMEWORK = Framework(
    package="stable_baselines3",
    title="Stable-Baselines3",
    evaluates=(("stable_baselines3/common/evaluation.py", ("evaluate_policy",)),),
    words={
        2: {
            "unfused_optimizer": Change(
                "Set `policy_kwargs=dict(optimizer_kwargs=dict(fused=True))` for the algorithm.",
                "stable_baselines3.PPO stable_baselines3.common.policies.ActorCriticPolicy torch.optim.Adam",
                r"Make it `\w+\(\.\.\., fused=True\)`\.",
                Subject.OPTIMIZER,
            ),
            "evaluation_share": Change(
                "Evaluate less often: a larger `eval_freq=`, or fewer `n_eval_episodes=`, for `EvalCallback`.",
                "stable_baselines3.common.callbacks.EvalCallback",
                r"Evaluate less often: every few epochs or steps, or only when the result is printed or decides "
                r"something\.",
            ),
        }
    },
)
