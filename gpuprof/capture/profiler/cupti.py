"""What Kineto's messages and the recorded events say about a missing or incomplete device recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_CAUSES = (
    (
        ("INSUFFICIENT_PRIVILEGES", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "ERR_NVGPUCTRPERM"),
        "this user may not use the device's profiling counters (ERR_NVGPUCTRPERM); the administrator of the machine "
        "must allow it (NVreg_RestrictProfilingToAdminUsers=0, in a container also --cap-add=SYS_ADMIN)",
    ),
    (
        ("MULTIPLE_SUBSCRIBERS", "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"),
        "another profiler (Nsight, compute-sanitizer, DCGM) holds the device's profiling interface; end it first",
    ),
    (
        ("CUPTI_ERROR_NOT_INITIALIZED", "CUPTI initialization failed"),
        "CUPTI could not be initialised; its library does not fit the driver or another one is found first "
        "(LD_LIBRARY_PATH)",
    ),
    (("Out-of-range", "out of range"), "the profiler dropped device events with impossible times"),
)
_LAUNCHES = ("cuda_runtime", "cuda_driver", "hip_runtime", "Runtime")
_KERNELS = ("kernel", "Kernel")


def diagnose(messages: Sequence[str], events: Mapping[str, int] | None) -> tuple[str, ...]:
    """Sentences for the trust line, from what Kineto wrote and how many events of each category were recorded.

    `events` is None where no trace was saved. A trace without device activity on a machine without a device is none
    of these cases.
    """
    notes = [cause for marks, cause in _CAUSES if any(mark in message for mark in marks for message in messages)]
    if events is None:
        return tuple(notes)
    if not any(events.values()):
        return (*notes, "the profiler recorded no events; another profiler may have run inside the cell")
    launches = sum(events.get(name, 0) for name in _LAUNCHES)
    if launches and not any(events.get(name) for name in _KERNELS):
        notes.append(
            "device calls were recorded but no kernels: there is no kernel data, which does not mean an idle device"
        )
    if not notes:
        notes.extend(f"the profiler says: {message}" for message in messages if "CUPTI" in message)
    return tuple(notes)
