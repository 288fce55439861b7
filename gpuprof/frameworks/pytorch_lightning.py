"""Lightning under the name of its older package."""

from __future__ import annotations

from dataclasses import replace

from gpuprof.frameworks.framework import Framework
from gpuprof.frameworks.lightning import WORDS

FRAMEWORK = Framework(
    package="pytorch_lightning",
    title="Lightning",
    evaluates=(("pytorch_lightning/loops/evaluation_loop.py", ()),),
    words={
        2: {rule: replace(each, of=each.of.replace("lightning.", "pytorch_lightning.")) for rule, each in WORDS.items()}
    },
)
