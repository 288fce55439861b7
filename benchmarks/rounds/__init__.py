"""Rounds of cells that their writer had not shown to anybody before: what gpuprof says of them at first sight."""
