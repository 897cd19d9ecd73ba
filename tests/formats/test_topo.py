from __future__ import annotations

import pytest
from formats_corpus import own, sample

from fourplane.formats import topo
from fourplane.formats.model import Status


def test_eight_gpus_with_a_nic_each() -> None:
    reading = topo.read(own("nvidia_smi/topo_8gpus_9nics.txt"))
    assert (reading.status, reading.refusals) == (Status.COMPLETE, [])
    found = reading.records[0]
    assert found.gpus == [f"GPU{n}" for n in range(8)]
    assert found.gpu_links == {"NV18"}
    assert [found.nearest_nics(gpu) for gpu in found.gpus] == [("PIX", [f"mlx5_{n}"]) for n in range(8)]
    assert found.affinity["GPU5", "NUMA Affinity"] == "1"
    assert found.matrix()[0][:3] == ["X", "NV18", "NV18"]
    assert found.links["GPU6", "NIC8"] == "SYS"


def test_old_driver_with_device_names_and_soc() -> None:
    reading = topo.read(own("nvidia_smi/topo_2gpus_old.txt"))
    found = reading.records[0]
    assert (reading.status, found.gpu_links) == (Status.COMPLETE, {"SYS"})
    assert found.nearest_nics("GPU0") == ("PHB", ["mlx5_0"])
    assert found.affinity == {("GPU0", "CPU Affinity"): "0-7", ("GPU1", "CPU Affinity"): "8-15"}


def test_cut_matrix_names_what_is_missing() -> None:
    text = own("nvidia_smi/topo_8gpus_9nics.txt")
    reading = topo.read(text[: text.index("\nNIC7") + 1])
    assert reading.status is Status.TRUNCATED
    assert [(one.code, one.text) for one in reading.refusals] == [
        ("topo-row-missing", "NIC7"),
        ("topo-row-missing", "NIC8"),
    ]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("GPU1\tNV1\tNV1\t0", "topo-row-refused"),  # the diagonal is no link
        ("GPU1\tFOO\tX\t0", "topo-row-refused"),
        ("GPU1\tNV1", "topo-row-refused"),
        ("GPU2\tNV1\tX\t0", "topo-row-refused"),
    ],
)
def test_bad_rows_are_refused(row: str, code: str) -> None:
    reading = topo.read(f"\tGPU0\tGPU1\tNUMA Affinity\nGPU0\tX\tNV1\t0\n{row}\n")
    assert (reading.refusals[0].code, reading.refusals[0].line) == (code, 3)
    assert reading.status is Status.TRUNCATED


def test_a_repeated_row_is_refused_and_the_first_stays() -> None:
    text = "\tGPU0\tGPU1\tNUMA Affinity\nGPU0\tX\tNV1\t0\nGPU1\tNV1\tX\t0\nGPU0\tX\tSYS\t0\n"
    reading = topo.read(text)
    assert [one.line for one in reading.refusals] == [4]
    assert reading.records[0].links["GPU0", "GPU1"] == "NV1"


def test_no_matrix() -> None:
    assert topo.read("GPU0 is fine\n").refusals[0].code == "topo-no-matrix"
    assert topo.read("").refusals[0].code == "format-text-empty"


@pytest.mark.parametrize(
    ("name", "gpus", "links", "nics", "nearest"),
    [
        ("topo_01_1gpu_ansi_h100.txt", 1, set(), 0, ""),
        ("topo_02_2gpu_nv2.txt", 2, {"NV2"}, 0, ""),
        ("topo_04_8gpu_nv12_a100_nonics.txt", 8, {"NV12"}, 0, ""),
        ("topo_05_8gpu_nv18_h100_nonics.txt", 8, {"NV18"}, 0, ""),
        ("topo_06_hgx_nv18_8nics_rail.txt", 8, {"NV18"}, 8, "PIX"),
        ("topo_08_8gpu_pcie_phb_node_sys.txt", 8, {"PHB", "NODE", "SYS"}, 0, ""),
        ("topo_10_2gpu_v100_mlx5_phb_old.txt", 2, {"NV1"}, 1, "PHB"),
    ],
)
def test_public_samples(name: str, gpus: int, links: set[str], nics: int, nearest: str) -> None:
    text = sample(name)
    assert topo.sniff(text) > 0.5
    reading = topo.read(text)
    assert (reading.status, reading.refusals) == (Status.COMPLETE, [])
    found = reading.records[0]
    assert (len(found.gpus), found.gpu_links, len(found.nics)) == (gpus, links, nics)
    assert all(found.nearest_nics(gpu)[0] == nearest for gpu in found.gpus)
    assert all(found.affinity[gpu, "CPU Affinity"] for gpu in found.gpus)
