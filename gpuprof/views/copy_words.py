"""How the directions of copies are called, the same in tables, charts and the timeline."""

from __future__ import annotations

from gpuprof.model.kinds import CopyKind

DIRECTIONS = {
    CopyKind.NONE: "unknown direction",
    CopyKind.H2D: "host to device",
    CopyKind.D2H: "device to host",
    CopyKind.D2D: "within the device",
    CopyKind.P2P: "between devices",
    CopyKind.H2H: "within the host",
    CopyKind.UNKNOWN: "unknown direction",
}
