"""Functions of libraries that take all items in one call, and how: a table. What is not in it is said in general."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AllAtOnce:
    """Functions with these `names` (the last part) of modules that begin with one of `modules`; `names` empty: all of
    them. `change`: how to give it all items. `each_ns`: the longest call of which it is known that the call costs, not
    the work; None where that does not matter. `known`: the function is known to take all items. `of_numbers`: only a
    call for single numbers is meant, as one with arrays takes many already. `of_array`: only items of one array or
    table: those of a list may differ in length."""

    modules: tuple[str, ...]
    names: frozenset[str]
    change: str
    each_ns: int | None = None
    known: bool = True
    of_numbers: bool = False
    of_array: bool = False

    def holds(self, function: str) -> bool:
        """Whether that function, by its full name, is one of them."""
        last = function.rpartition(".")[2]
        return function.startswith(self.modules) and (not self.names or last in self.names)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHORT_NS = 500_000
_DRAWINGS = ("matplotlib.", "seaborn.", "mpl_toolkits.")
_ESTIMATORS = ("sklearn.", "xgboost.", "lightgbm.", "catboost.")
_TREES = ("scipy.spatial._kdtree.", "scipy.spatial.kdtree.", "sklearn.neighbors.", "scipy.interpolate.")
_NUMPY = ("numpy.lib.", "numpy._core.", "numpy.core.", "numpy.linalg.")

VOCABULARY: tuple[AllAtOnce, ...] = (
    AllAtOnce(
        _DRAWINGS,
        _words("scatter"),
        "Draw all points in one call: `scatter(x, y, c=colors, s=sizes)` takes arrays, and makes one object instead of "
        "one for each point. The figure is then drawn faster, too.",
        of_numbers=True,
    ),
    AllAtOnce(
        _DRAWINGS,
        _words("plot semilogx semilogy loglog step"),
        "Draw points in one call (`plot(x, y, 'o')`), and lines as one `matplotlib.collections.LineCollection`. The "
        "figure is then drawn faster, too.",
    ),
    AllAtOnce(
        _DRAWINGS,
        _words("bar barh errorbar vlines hlines axvline axhline axvspan axhspan fill_between"),
        "Give `{name}` arrays with all positions and heights (`vlines(xs, low, high)` for many `axvline`). The figure "
        "is then drawn faster, too.",
        of_numbers=True,
    ),
    AllAtOnce(
        _DRAWINGS,
        _words("add_patch add_line add_artist"),
        "Collect the shapes in a list and add them once, as a `PatchCollection` or a `LineCollection`. The figure is "
        "then drawn faster, too.",
    ),
    AllAtOnce(
        _ESTIMATORS,
        _words(
            "predict predict_proba predict_log_proba decision_function transform score_samples apply kneighbors "
            "radius_neighbors inverse_transform"
        ),
        "Give `{name}` the rows of all items in one call, as one array, and take each result from what it returns.",
    ),
    AllAtOnce(
        _TREES,
        _words("query query_ball_point query_radius kneighbors __call__"),
        "Give `{call}` all points in one call, as one array.",
    ),
    AllAtOnce(
        ("transformers.tokenization",),
        frozenset(),
        "Give the tokenizer a list of texts in one call (`tokenizer(texts, padding=True, truncation=True)`).",
    ),
    AllAtOnce(
        ("spacy.language.",),
        _words("__call__"),
        "Give all texts to `{call}.pipe(texts)`, which works through them in batches.",
    ),
    AllAtOnce(
        ("pandas.core.tools.", "pandas.core.dtypes.missing."),
        frozenset(),
        "Give `{call}` the whole column in one call.",
    ),
    AllAtOnce(
        ("_strptime.", "dateutil."),
        frozenset(),
        "Convert the whole column in one call: `pd.to_datetime(column, format=...)`.",
    ),
    AllAtOnce(
        ("scipy.spatial.distance.",),
        _words("euclidean cosine cityblock sqeuclidean correlation hamming jaccard chebyshev minkowski"),
        "Compute all distances in one call: `scipy.spatial.distance.cdist(a, b, '{name}')`.",
        _SHORT_NS,
    ),
    AllAtOnce(
        ("scipy.stats.",),
        _words("pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf rvs entropy zscore"),
        "Give `{call}` arrays: one call computes all values.",
        _SHORT_NS,
    ),
    AllAtOnce(
        _NUMPY,
        _words(
            "mean std var median nanmean nanstd sum prod max min amax amin ptp argmax argmin argsort sort percentile "
            "quantile cumsum diff norm average count_nonzero any all"
        ),
        "Give `{call}` the whole array with an axis (`{call}(x, axis=1)`): one call computes all rows.",
        _SHORT_NS,
        of_array=True,
    ),
    AllAtOnce(
        _NUMPY,
        _words("clip round around interp where isin digitize searchsorted dot cross"),
        "Give `{call}` the whole array: one call computes all items.",
        _SHORT_NS,
    ),
    AllAtOnce(
        ("PIL.Image.Image.",),
        _words("getpixel putpixel"),
        "Take all pixels in one call: `np.asarray(image)`, and `Image.fromarray(pixels)` to write them.",
    ),
    # these take arrays in most of their functions
    AllAtOnce(
        ("scipy.stats.", "scipy.special.", "scipy.interpolate.", "scipy.signal.", "scipy.fft.", *_NUMPY),
        frozenset(),
        "Give `{call}` all items in one call, if it takes arrays (many functions of this library do, some with "
        "`axis=`).",
        _SHORT_NS,
        known=False,
        of_array=True,
    ),
)
# functions of the interpreter's kind, of which no stack shows a frame: by what their names stand for
BUILT_IN: tuple[AllAtOnce, ...] = (
    AllAtOnce(
        ("torch.",),
        _words("tensor as_tensor FloatTensor LongTensor from_numpy"),
        "Make one tensor of all items, before the loop: `torch.from_numpy(np.stack(items))`, or `torch.tensor(items)` "
        "of a list of numbers. Its rows are views (`unbind()`).",
        of_array=True,
    ),
    AllAtOnce(
        ("scipy.spatial._ckdtree.",),
        _words("query query_ball_point"),
        "Give `{call}` all points in one call, as one array.",
    ),
)
# what has no way to do it for many
NO_WAY = _words(
    """
    array asarray asanyarray array_equal allclose stack concatenate vstack hstack append insert delete load save savez
    savetxt loadtxt genfromtxt fromfile tofile frombuffer seed shuffle firwin butter get_window resample unique
    histogram bincount polyfit lstsq inv solve svd eig eigh qr cholesky linspace arange meshgrid zeros ones full empty
    split array_split vectorize apply_along_axis __init__ fit linregress gaussian_kde CubicSpline interp1d
    """
)
