"""Do the tests notice when the code is wrong? Small faults are put into it, one at a time, and the tests run.

`python -m benchmarks.mutation --seed 1 --count 200` writes benchmarks/mutation.md.
"""
