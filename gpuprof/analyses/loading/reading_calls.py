"""Which calls read or decode stored data, by their names."""

from __future__ import annotations

# whole modules end in a dot; the names are those of sampled files, or of a text with its imports
_READING = (
    *("numpy.lib.npyio.", "numpy.lib._npyio_impl.", "numpy.lib.format.", "numpy.lib._format_impl.", "numpy.fromfile"),
    *("numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "PIL.Image.open", "PIL.ImageFile.", "cv2.imread"),
    *("cv2.imdecode", "imageio.", "skimage.io.", "tifffile.", "torchvision.io.", "torchvision.datasets.folder."),
    *("torchaudio.load", "torchaudio._backend.", "torchaudio.backend.", "torchcodec.", "soundfile.", "scipy.io."),
    *("librosa.load", "librosa.core.audio.load", "nibabel.", "pydicom.", "rasterio.", "netCDF4.", "xarray.backends."),
    *("json.", "orjson.", "ujson.", "simplejson.", "yaml.", "tomllib.", "csv.", "xml.", "ast.literal_eval", "marshal."),
    *("pickle.", "torch.serialization.", "torch.load", "safetensors.", "joblib.numpy_pickle.", "base64.", "codecs."),
    *("zipfile.", "gzip.", "bz2.", "lzma.", "zlib.", "tarfile.", "zstandard.", "lz4.", "blosc.", "numcodecs."),
    *("pandas.io.", "pandas.read_", "pyarrow.", "polars.io.", "polars.read_", "h5py.", "zarr.", "tables.", "lmdb."),
    *("sqlite3.", "pathlib.Path.read_", "pathlib._local.Path.read_", "open", "io.", "fsspec.", "urllib.", "requests."),
)
# of methods only the last part is known: `archive.read()`
_READING_METHODS = (
    *("read", "readline", "readlines", "read_bytes", "read_text", "imread", "imdecode", "decompress", "loads", "load"),
)


def reads(name: str) -> bool:
    """Whether a dotted name is that of a call that reads or decodes: `json.decoder.JSONDecoder.decode`, `file.read`."""
    whole = name.startswith(tuple(each for each in _READING if each != "open")) or name == "open"
    return whole or name.rpartition(".")[2] in _READING_METHODS
