"""Fixtures of the capture tests."""

from tests.support.fake_nvml.fixtures import _remove_folder, load_nvml, nvml

__all__ = ["_remove_folder", "load_nvml", "nvml"]
