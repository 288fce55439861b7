"""What is known of training frameworks: their optimizers, the code that evaluates, and their names for a change.

Plain data, one file per framework, named like its package. No framework is imported, and only the files of those that
the run had loaded are read.
"""

from gpuprof.frameworks.framework import Change, Framework, OwnOptimizer, Subject
from gpuprof.frameworks.known import PACKAGES, framework

__all__ = ["PACKAGES", "Change", "Framework", "OwnOptimizer", "Subject", "framework"]
