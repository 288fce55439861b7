"""Which calls read or decode."""

from __future__ import annotations

import pytest

from gpuprof.analyses.loading.reading_calls import reads


@pytest.mark.parametrize(
    "name",
    [
        "numpy.load",
        "numpy.lib._format_impl.read_array",
        "PIL.ImageFile.ImageFile.load",
        "json.decoder.JSONDecoder.decode",
        "open",
        "cv2.imread",
        "h5py._hl.dataset.Dataset.__getitem__",
        "pandas.io.parsers.readers.read_csv",
        "archive.read",
        "zlib.decompress",
        "pickle.load",
    ],
)
def test_a_call_that_reads_or_decodes(name: str) -> None:
    assert reads(name)


@pytest.mark.parametrize(
    "name", ["opener", "numpy.fft.rfft", "PIL.Image.Image.resize", "pandas.core.indexing._iLocIndexer.__getitem__", ""]
)
def test_a_call_that_computes(name: str) -> None:
    assert not reads(name)
