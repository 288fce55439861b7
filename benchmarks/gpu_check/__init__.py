"""The GPU check: everything only a GPU can show, in one go, resumable, inside a time budget.

    python -m benchmarks.gpu_check --output DIR [--budget-s 540] [--device cuda] [--wheels DIR]

How to run it and what it measures: docs/gpu-check.md. One check is one file of `checks`; each runs in a process of
its own, so that a crash, a hang or a broken device costs that check alone.
"""
