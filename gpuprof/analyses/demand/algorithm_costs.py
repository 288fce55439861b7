"""How many times as long an operator takes as the standard alternative to it, by shapes.

The constants are fitted to `benchmarks/costly_algorithms.py` on a CPU and are on the careful side: thresholds keep a
factor of 2 besides.
"""

from __future__ import annotations

from math import log2

# operations of a direct convolution in the time of one step of an FFT of one number (n log₂ n of them)
_FFT_STEP = 16
# and of one complex product of a spectrum
_SPECTRUM_PRODUCT = 16
_FFT_STEP_NS, _SPECTRUM_PRODUCT_NS, _CALL_NS, _SLOWEST_NS = 2.5, 4.0, 10_000, 0.5
# several channels are convolved at a time: then a direct convolution runs so many times as fast
_CHANNELS_AT_A_TIME = 6
# operations of a factorization, of which 2/3 n³ are counted and more were measured
_SOLVE = 0.8
# a call takes time however small it is: about as much as so many operations
_OPERATIONS_PER_CALL = 200_000
# an element that is written takes about so many operations of a decomposition
_OPERATIONS_PER_ELEMENT = 16

# gathering columns of a matrix: 2.7 to 5.9 times as long from caches, 8.3 from memory, on one CPU
_FEWEST_ROWS, _CACHED_BYTES, _FAR_BYTES = 256, 4 * 1024**2, 64 * 1024**2
_NEAR_COLUMNS, _FAR_COLUMNS = 2.4, 8.0


def convolution(batch: int, channels: int, made: int, groups: int, taps: int, length: int) -> float:
    """Of `conv1d` with that many taps and `length` results in each of `made` channels, over the FFT."""
    inner = channels // max(groups, 1)
    direct = 2.0 * batch * made * inner * taps * length
    size = length + taps - 1
    transforms = batch * channels + made * inner + batch * made
    other = _FFT_STEP * transforms * size * log2(max(size, 2)) + _SPECTRUM_PRODUCT * batch * made * inner * size
    # one channel of a few signals hardly uses a core: measured times are above, not below
    return direct / (_CHANNELS_AT_A_TIME if channels * made > 1 else 1) / (other + 4 * _OPERATIONS_PER_CALL)


def measured_convolution(
    took_ns: float, batch: int, channels: int, made: int, groups: int, taps: int, length: int
) -> float:
    """The same where one took so long on one thread: torch has several ways, from 3 to 40 GFLOP/s on one CPU.

    Transforms of 2,000 to 50,000 numbers took 1.2 to 2.7 ns for each of n log₂ n steps, products of spectra 2 to 4 ns.
    What took longer than the slowest of these ways was held up by something else.
    """
    inner = channels // max(groups, 1)
    size = length + taps - 1
    transforms = batch * channels + made * inner + batch * made
    steps_ns = _FFT_STEP_NS * transforms * size * log2(max(size, 2))
    other_ns = steps_ns + _SPECTRUM_PRODUCT_NS * batch * made * inner * size + 4 * _CALL_NS
    return min(took_ns, 2.0 * batch * made * inner * taps * length * _SLOWEST_NS) / other_ns


def inverse(batch: int, size: int, columns: int) -> float:
    """Of `inv(A) @ b` over `solve(A, b)`, b with that many columns."""
    product = 2.0 * batch * size**2 * columns
    return (2.0 * batch * size**3 + product) / (_SOLVE * batch * size**3 + product + _OPERATIONS_PER_CALL)


def factored_again(batch: int, size: int, columns: int) -> float:
    """Of `solve(A, b)`, b with that many columns, over `lu_solve` with the factors of A."""
    product = 2.0 * batch * size**2 * columns
    return (_SOLVE * batch * size**3 + product + _OPERATIONS_PER_CALL) / (product + _OPERATIONS_PER_CALL)


def singular_values(batch: int, rows: int, columns: int) -> float:
    """Of `svd(A)` with full matrices over `full_matrices=False`."""
    large, small = max(rows, columns), min(rows, columns)
    reduced = batch * (14.0 * large * small**2 + 8.0 * small**3)
    more = batch * (4.0 * (large - small) * large * small + _OPERATIONS_PER_ELEMENT * large * (large - small))
    return (reduced + more) / reduced


def distances(length: int, *, squared: bool = True) -> float:
    """Of the differences of all pairs of rows of that length, squared (else their sizes) and summed, over `cdist`."""
    return 2.5 + length / 5 if squared else 2.0 + length / 50


def columns(rows: int, base_bytes: int) -> float:
    """Of `x[:, idx]` of a row-major matrix of that many rows, over `x.T.contiguous()[idx]`, with its result transposed
    as before: each element lies in another cache line, which is far where the matrix fills no cache."""
    if rows < _FEWEST_ROWS or base_bytes < _CACHED_BYTES:
        return 1.0
    return _FAR_COLUMNS if base_bytes >= _FAR_BYTES else _NEAR_COLUMNS
