from __future__ import annotations

from typing import Any

import pytest
from formats_corpus import own

from fourplane.formats.model import Reading, Status
from fourplane.formats.nodes import (
    azure_nhc,
    cre_report,
    lsblk,
    lscpu,
    lspci,
    numactl,
    nvbandwidth,
    oci_check,
    preflight,
)


def _codes(reading: Reading[Any]) -> list[str]:
    return [note.code for note in reading.notes]


def test_nvbandwidth_text() -> None:
    reading = nvbandwidth.read(own("nodes/nvbandwidth.txt"))
    summary = nvbandwidth.summarise(reading)
    assert (reading.status, reading.count, summary["gpus"]) == (Status.COMPLETE, 2, 2)
    assert summary["sums_gb_per_s"]["device_to_device_memcpy_read_ce"] == 552.4
    assert summary["least_cell"] == {"host_to_device_memcpy_ce": 51.2, "device_to_device_memcpy_read_ce": 276.1}


def test_nvbandwidth_that_is_cut() -> None:
    text = own("nodes/nvbandwidth.txt")
    assert nvbandwidth.read(text[: text.index("NOTE")]).reason == "the closing note is missing"
    assert (
        nvbandwidth.read(text[: text.index("memcpy CE GPU")]).reason == "device_to_device_memcpy_read_ce has no result"
    )
    assert nvbandwidth.read(text.replace("SUM host_to_device_memcpy_ce 106.80", "ERROR: x")).status is Status.FAILED


def test_nvbandwidth_json_knows_what_was_waived() -> None:
    reading = nvbandwidth.read(own("nodes/nvbandwidth.json"))
    assert (nvbandwidth.summarise(reading)["waived"], reading.count, _codes(reading)) == (1, 1, ["nvbandwidth-waived"])


def test_lscpu_text_and_json() -> None:
    reading = lscpu.read(own("nodes/lscpu.txt"))
    summary = lscpu.summarise(reading)
    assert (summary["cpus"], summary["online_count"], summary["offline"]) == (192, 191, "191")
    assert _codes(reading) == ["lscpu-cpus-offline"]
    summary = lscpu.summarise(lscpu.read(own("nodes/lscpu.json")))
    assert (summary["model"], summary["sockets"], summary["numa_cpus"]) == ("Neoverse-V2", 1, ["0-71"])


@pytest.mark.parametrize(
    ("ranges", "count"),
    [("0-7", 8), ("0-127,129-255", 255), ("3", 1), ("", None), ("7-0", None), ("a", None), ("0-9999999", None)],
)  # fmt: skip
def test_lists_of_cpus(ranges: str, count: int | None) -> None:
    assert lscpu.count_of(ranges) == count


def test_numactl() -> None:
    reading = numactl.read(own("nodes/numactl.txt"))
    summary = numactl.summarise(reading)
    assert (summary["numa_nodes"], summary["cpus"], summary["memory_mb"], summary["max_distance"]) == (2, 8, 515000, 21)
    assert _codes(reading) == ["numactl-node-without-memory"]
    text = own("nodes/numactl.txt")
    assert numactl.read(text[: text.index("  1:  21")]).status is Status.TRUNCATED


def test_lsblk_never_adds_parts_to_their_disk() -> None:
    summary = lsblk.summarise(lsblk.read(own("nodes/lsblk.json")))
    assert (summary["disks"], summary["partitions"], summary["loops"], summary["mounted"]) == (2, 1, 1, 2)
    assert summary["disk_bytes_total"] == 1000204886016 + int(894.3 * 2**30)
    assert lsblk.read('{"blockdevices": [{"size": 1}]}').status is Status.TRUNCATED


def test_lspci() -> None:
    reading = lspci.read(own("nodes/lspci.txt"))
    summary = lspci.summarise(reading)
    assert (reading.status, summary["nvidia_devices"], summary["mellanox_devices"], summary["bridges"]) == (
        Status.COMPLETE, 1, 1, 1,
    )  # fmt: skip
    assert summary["links"][0]["sta_width"] == 8
    assert _codes(reading) == ["lspci-acs-redirects", "lspci-link-slow"]
    text = own("nodes/lspci.txt")
    assert lspci.read(text[: text.rindex("\tKernel driver")]).status is Status.TRUNCATED
    assert lspci.read(text.rstrip()).status is Status.COMPLETE


def test_azure_nodes_without_result_are_not_healthy() -> None:
    reading = azure_nhc.read(own("nodes/azure_nhc.txt"))
    summary = azure_nhc.summarise(reading)
    assert (summary["healthy"], summary["faulty"], summary["no_result"]) == (
        ["node-1"],
        ["node-2", "node-4"],
        ["node-3"],
    )
    assert summary["faults"][1]["measured_gb_per_s"] == 300.5
    assert _codes(reading) == ["azure-nhc-node-faulty", "azure-nhc-no-result", "azure-nhc-node-faulty"]


def test_readiness_report() -> None:
    reading = cre_report.read(own("nodes/cre_report.json"))
    summary = cre_report.summarise(reading)
    assert (reading.status, reading.count, summary["failed_nodes"]) == (Status.FAILED, 2, ["n2"])
    assert (summary["tests"][0]["runtime_s"], summary["tests"][0]["busbw_gb_per_s"]) == (3723.5, 188.4)
    assert _codes(reading) == ["cre-report-test-failed", "cre-report-nodes-failed"]


def test_oracle_host_check() -> None:
    reading = oci_check.read(own("nodes/oci_passive.log"))
    summary = oci_check.summarise(reading)
    assert (reading.status, summary["checks"], summary["failed"], summary["shape"]) == (
        Status.FAILED,
        2,
        1,
        "BM.GPU.H100.8",
    )
    text = own("nodes/oci_passive.log")
    assert oci_check.read(text[: text.index("2026-12-01 04:00:02")]).status is Status.TRUNCATED


def test_oracle_scan_is_not_believed_over_its_own_gpus() -> None:
    reading = oci_check.read(own("nodes/oci_active.json"))
    assert (reading.status, reading.count) == (Status.FAILED, 2)
    assert [note.text for note in reading.notes] == [
        "error_detection on GPU-b: failed",
        "memory bandwidth 2900 GB/s, the threshold is 3000 GB/s",
        "temperature of 1 GPUs is a warning",
    ]


def test_preflight() -> None:
    reading = preflight.read(own("nodes/preflight.jsonl"))
    summary = preflight.summarise(reading)
    assert (reading.status, summary["diag_level"], summary["gpus"], summary["passed"]) == (Status.COMPLETE, 1, 3, 3)
    first = own("nodes/preflight.jsonl").splitlines(keepends=True)[0]
    assert preflight.read(first).reason == "the summary is missing"
    assert [one.line for one in preflight.read(first + "{cut").refusals] == [2]
