"""Recordings of a GPU check on an H100 (docs/evidence/gpu-check.md), trimmed to a few steps: tests/data/gpu."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jsonschema
import pytest

import gpuprof
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.device.device_spots import DeviceSpots
from gpuprof.analyses.run.launches import Launches
from gpuprof.report.contract import json_schema

FOLDER = Path(__file__).resolve().parents[1] / "data" / "gpu"
RECORDINGS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
# the device reported an error, and its work was not recorded
BROKEN = "broken_cells-device_assert"
# cells of the round gpu_a: the line that most of the device's work is for, and the operator there
ASKED = {
    "round-g05_rotary_lm": (50, "aten::scaled_dot_product_attention"),
    "round-g06_meshgraph_agc": (50, "aten::linear"),
    "round-g07_gene_autoencoder": (35, "aten::linear"),
    "round-g09_distill_fresh_views": (31, "aten::linear"),
    "round-g10_adaptive_sampler": (28, "aten::linear"),
    "round-g11_imagination_actor_critic": (33, "aten::gru_cell"),
}


@functools.cache
def run_of(name: str) -> gpuprof.Run:
    return gpuprof.load(FOLDER / name)


@pytest.mark.parametrize("name", RECORDINGS)
def test_each_is_read_judged_and_told(name: str) -> None:
    run = run_of(name)
    told = run.to_dict()
    jsonschema.validate(told, json.loads(json_schema()))
    assert [each["name"] for each in told["devices"]] == ([] if name == BROKEN else ["NVIDIA H100 80GB HBM3"])
    assert told["verdict"]["headline"] and run.text()
    assert (told["validity"]["state"] == "cannot_judge") is (name == BROKEN)


@pytest.mark.parametrize("name", [each for each in RECORDINGS if each != BROKEN])
def test_every_launch_has_its_kernel_and_every_kernel_its_line(name: str) -> None:
    results = run_of(name).report_data.results
    launches, spots = results.get(Launches), results.get(DeviceSpots)
    assert launches.launches_with_kernel_share is None or launches.launches_with_kernel_share > 0.99
    assert results.get(DeviceActivity).primary is not None
    assert spots.total_ns > 0 and spots.named_ns > 0.95 * spots.total_ns


@pytest.mark.parametrize(("name", "asked"), ASKED.items())
def test_most_work_of_the_device_stands_at_the_line_that_asked_for_it(name: str, asked: tuple[int, str]) -> None:
    first = run_of(name).to_dict()["device_spots"][0]
    assert (first["line"], first["operator"]) == asked
    # these train: part of it is the line's backward pass, which the host runs at another line
    assert 0.2 < first["backward_share"] < 0.8
