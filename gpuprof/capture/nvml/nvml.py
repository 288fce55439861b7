"""The one door to NVIDIA's management library: loads nvidia-ml-py on first use and sorts its failures."""

from __future__ import annotations

from enum import Enum
from typing import Any

_NOT_AVAILABLE_UINT = 0xFFFFFFFF
_NOT_AVAILABLE_ULONGLONG = 0xFFFFFFFFFFFFFFFF


class Reaction(Enum):
    """What a failed call means for the calls to come."""

    DISABLE = "it will fail every time"
    RETRY = "it may work later"
    LOST = "the device is gone"


class NvmlCallError(Exception):
    """One NVML call failed. Never leaves `gpuprof.capture`: the sampler turns it into a recorded reason.

    `absent`: this device or driver does not have the thing at all, as a desktop card has no ECC.
    """

    def __init__(self, function: str, reason: str, reaction: Reaction, *, absent: bool = False):
        super().__init__(f"{function}: {reason}")
        self.function = function
        self.reason = reason
        self.reaction = reaction
        self.absent = absent


# nvmlReturn_t; NVML documents these values as fixed
_NO_PERMISSION, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND, _VERSION_MISMATCH = 4, 9, 12, 18
_NOT_SUPPORTED, _FUNCTION_NOT_FOUND = 3, 13
_DISABLE = frozenset(
    {
        2,  # invalid argument
        _NOT_SUPPORTED,
        _NO_PERMISSION,
        _LIBRARY_NOT_FOUND,
        _FUNCTION_NOT_FOUND,  # an older driver
        25,  # argument version mismatch
        26,  # deprecated
    }
)
_LOST = frozenset({15, 16, 28})  # GPU is lost, reset required, GPU not found

_START_REASONS = {
    _NO_PERMISSION: "this user may not talk to the NVIDIA driver",
    _DRIVER_NOT_LOADED: "the NVIDIA driver is installed but not loaded",
    _LIBRARY_NOT_FOUND: "NVML, a part of the NVIDIA driver, is not installed on this machine",
    _VERSION_MISMATCH: "the NVIDIA driver was updated and the machine not restarted since",
}


def call(function: str, *arguments: Any) -> Any:
    """`pynvml.<function>(*arguments)`; every failure of the library is a NvmlCallError."""
    import pynvml

    wrapper = getattr(pynvml, function, None)
    if wrapper is None:
        raise NvmlCallError(function, "not in this version of nvidia-ml-py", Reaction.DISABLE, absent=True)
    try:
        return wrapper(*arguments)
    except pynvml.NVMLError as error:
        raise _error(function, error) from error
    except UnicodeDecodeError as error:
        raise NvmlCallError(function, "the driver returned text that is not UTF-8", Reaction.DISABLE) from error
    except getattr(pynvml, "NVMLLibraryMismatchError", ()) as error:
        raise NvmlCallError(function, "Function Not Found", Reaction.DISABLE, absent=True) from error


def field_error(code: int) -> NvmlCallError:
    """The error that one field of nvmlDeviceGetFieldValues carries while the call as a whole succeeded."""
    import pynvml

    return _error("nvmlDeviceGetFieldValues", pynvml.NVMLError(code))


def start() -> str | None:
    """Initialise NVML (counted: pair it with `finish`). The reason in plain words where that fails, else None."""
    try:
        import pynvml
    except ImportError:
        return "nvidia-ml-py is not installed: pip install nvidia-ml-py"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return _START_REASONS.get(_code(error), f"NVML did not start: {error}")
    return None


def finish() -> None:
    """Give NVML back; an error here changes nothing for anyone."""
    try:
        call("nvmlShutdown")
    except NvmlCallError:
        return


def constant(name: str, fallback: int) -> int:
    """A number of nvidia-ml-py, or `fallback` where this version does not know its name."""
    import pynvml

    return int(getattr(pynvml, name, fallback))


def known(value: int) -> int | None:
    """The reading, or None for NVML's mark of *not available* (all bits set)."""
    return None if value in (_NOT_AVAILABLE_UINT, _NOT_AVAILABLE_ULONGLONG) else int(value)


def _error(function: str, error: Any) -> NvmlCallError:
    code = _code(error)
    absent = code in (_NOT_SUPPORTED, _FUNCTION_NOT_FOUND)
    return NvmlCallError(function, str(error), _reaction(code), absent=absent)


def _code(error: Any) -> int:
    return int(getattr(error, "value", 999))


def _reaction(code: int) -> Reaction:
    if code in _LOST:
        return Reaction.LOST
    return Reaction.DISABLE if code in _DISABLE else Reaction.RETRY
