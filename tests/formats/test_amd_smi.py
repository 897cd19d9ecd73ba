from __future__ import annotations

import pytest
from formats_corpus import own

from fourplane.formats import amd_smi
from fourplane.formats.model import Status


def test_amd_smi_object_with_gpu_data() -> None:
    reading = amd_smi.read(own("amd_smi/static_2gpus.json"))
    node = reading.records[0]
    assert (reading.status, node.driver, len(node.gpus)) == (Status.COMPLETE, "6.10.5", 2)
    gpu = node.gpus[1]
    assert (gpu.index, gpu.name, gpu.memory) == (1, "AMD Instinct MI300X", 196592 * 1024**2)
    assert (gpu.bus, gpu.power_cap_w, gpu.partition) == ("0000:15:00.0", 750.0, "SPX")


def test_amd_smi_list_behind_a_warning() -> None:
    node = amd_smi.read(own("amd_smi/static_list.json")).records[0]
    assert [gpu.name for gpu in node.gpus] == ["AMD Instinct MI300X"]


def test_rocm_smi_with_both_spellings_of_the_name() -> None:
    node = amd_smi.read(own("amd_smi/rocm_smi_2cards.json")).records[0]
    assert [(gpu.index, gpu.name, gpu.memory) for gpu in node.gpus] == [
        (0, "AMD Instinct MI210", 68702699520),
        (1, "AMD Instinct MI210", 68702699520),
    ]
    assert node.driver == "6.3.6"


def test_rocm_topology() -> None:
    assert amd_smi.read(own("amd_smi/rocm_topo_2cards.json")).records[0].links == {(0, 1): "XGMI"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "format-text-empty"),
        ("ERROR: no amdgpu driver", "format-not-json"),
        ('{"gpu_data": [{"gpu": 0', "format-not-json"),
        ('{"gpu_data": []}', "amd-smi-not-understood"),
        ('{"gpu_data": 7}', "amd-smi-not-understood"),
        ('{"card0": 1e999}', "format-not-json"),
        ("[" * 100_000, "format-not-json"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, code: str) -> None:
    reading = amd_smi.read(text)
    assert (reading.status, reading.records, [one.code for one in reading.refusals]) == (Status.REFUSED, [], [code])
