from __future__ import annotations

from typing import Any

import pytest
from formats_corpus import own

from fourplane.formats import nvidia_smi, nvidia_smi_log
from fourplane.formats.model import Reading, Status
from fourplane.formats.nodes import dcgm, dmesg, fabric_manager, smi_nvlink, smi_xml
from fourplane.formats.nodes.xids import SXIDS, XIDS, find_event


def _codes(reading: Reading[Any]) -> list[str]:
    return [note.code for note in reading.notes]


# ── kernel log ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_xids_and_sxids_are_counted_and_explained() -> None:
    reading = dmesg.read(own("nodes/dmesg_xids.log"))
    summary = dmesg.summarise(reading)
    assert (reading.status, reading.count) == (Status.COMPLETE, 6)
    assert (summary["xids"], summary["sxids"]) == ({79: 1, 154: 1, 31: 2}, {20034: 1, 20009: 1})
    assert summary["events"][0]["time"] == "2026-12-01T04:00:02"
    assert (summary["events"][0]["pid"], summary["events"][2]["process"]) == (None, "python3")
    assert (summary["gpus_hit"], summary["machine"]) == (["0000:1b:00", "0000:2b:00"], "Example Corp. Box 9000")
    assert reading.notes[0].text.startswith("Xid 79 on 0000:1b:00: GPU has fallen off the bus; power-cycle")
    assert reading.notes[2].text.endswith("(fatal)")
    assert "(2 times)" in reading.notes[4].text
    assert _codes(reading)[-1] == "kernel-hardware"


def test_an_unknown_xid_is_kept_with_its_words() -> None:
    reading = dmesg.read(own("nodes/dmesg_boot.log"))
    assert reading.notes[0].text.startswith("Xid 999 on 0000:9b:00: not in our table")
    assert dmesg.summarise(reading)["events"][0]["time"] == "999.000001"


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("Dec  1 04:00:00 n1 kernel: NVRM: Xid (PCI:0000:9b:00): 79, x", "Dec  1 04:00:00"),
        ("2026-12-01T04:00:00,123456+00:00 NVRM: Xid (PCI:0000:9b:00): 79, x", "2026-12-01T04:00:00"),
        ("<4>[  12.000001] NVRM: Xid (PCI:0000:9b:00): 79, x", "12.000001"),
        ("NVRM: Xid (0000:9b:00): 79, x", ""),
    ],
)
def test_time_stamps_of_every_kind(line: str, time: str) -> None:
    assert dmesg.summarise(dmesg.read(line + "\n"))["events"][0]["time"] == time


def test_a_text_that_is_no_kernel_log_says_nothing_about_xids() -> None:
    assert dmesg.read("all is well\n").status is Status.REFUSED
    assert dmesg.sniff("all is well\n") == 0.0
    assert dmesg.read("[    1.000000] usb 1-1: new device\n").status is Status.COMPLETE


def test_the_tables_say_what_and_what_to_do() -> None:
    assert len(XIDS) > 45
    assert all(one.meaning and one.action and one.cause for one in XIDS.values())
    assert all(SXIDS.values())
    assert find_event("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): garbled, Fatal", 1) is None


def test_events_beyond_the_bound_are_still_counted() -> None:
    line = "[    1.000000] NVRM: Xid (PCI:0000:9b:00): 79, x\n"
    reading = dmesg.read(line * (dmesg.MAX_EVENTS + 5))
    assert (reading.count, len(reading.records[0].events)) == (dmesg.MAX_EVENTS + 5, dmesg.MAX_EVENTS)


# ── fabric manager ────────────────────────────────────────────────────────────────────────────────────────────────


def test_fabric_manager() -> None:
    reading = fabric_manager.read(own("nodes/fabric_manager.log"))
    summary = fabric_manager.summarise(reading)
    assert (reading.count, summary["levels"], summary["errors"]) == (5, {"INFO": 3, "ERROR": 2}, 2)
    assert (summary["sxids"], summary["gpus_per_team"], summary["groups_allocated"]) == ({12028: 1}, 4, 1)
    assert _codes(reading) == ["fabric-manager-error", "fabric-manager-error", "kernel-sxid"]
    assert fabric_manager.read("x\n").status is Status.REFUSED


# ── DCGM ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_dcgm_3_json() -> None:
    reading = dcgm.read(own("nodes/dcgm_v3_mixed.json"))
    summary = dcgm.summarise(reading)
    assert (reading.status, reading.count, summary["layout"]) == (Status.FAILED, 3, "3.x")
    assert (summary["dcgm_version"], summary["driver_version"], summary["gpus"]) == ("3.3.5", "535.161.08", 2)
    assert summary["results"] == {"pass": 1, "warn": 0, "skip": 1, "fail": 1}
    assert (summary["failing_tests"], summary["tests"][1]["gpus_fail"]) == (["PCIe"], [1])
    assert reading.notes[0].text == "PCIe on GPU 1: GPU 1 reached 12 GB/s of 20 GB/s"


def test_dcgm_4_json_warns_and_is_whole() -> None:
    reading = dcgm.read(own("nodes/dcgm_v4_warn.json"))
    summary = dcgm.summarise(reading)
    assert (reading.status, summary["layout"], summary["dcgm_version"]) == (Status.COMPLETE, "4.x", "4.2.3")
    assert (summary["gpu_device_ids"], _codes(reading)) == (["2330", "2330"], ["dcgm-test-warned"])


def test_dcgm_table() -> None:
    reading = dcgm.read(own("nodes/dcgm_table.txt"))
    summary = dcgm.summarise(reading)
    assert (reading.status, reading.refusals, summary["failing_tests"]) == (Status.FAILED, [], ["GPU Memory"])
    assert summary["categories"] == ["Deployment", "Integration", "Hardware"]
    assert summary["tests"][2]["messages"] == ["GPU 1 failed the memory test at an address that is bad"]


def test_dcgm_table_that_is_cut_is_truncated_unless_it_failed_already() -> None:
    text = own("nodes/dcgm_table.txt")
    assert dcgm.read(text[: text.index("|-----  Hardware")]).status is Status.TRUNCATED
    assert dcgm.read(text[: text.index("| Pulse")]).status is Status.FAILED
    cut = dcgm.read(text[: text.index("Pass - All") + 4])
    assert ([one.code for one in cut.refusals], cut.count) == (["dcgm-row-refused"], 1)


def test_dcgm_error_before_any_test_fails() -> None:
    reading = dcgm.read('{"DCGM Diagnostic": {"runtime_error": "host engine does not answer"}}')
    assert (reading.status, _codes(reading)) == (Status.FAILED, ["dcgm-error"])
    assert dcgm.read('{"DCGM Diagnostic": {"test_categories": []}}').status is Status.TRUNCATED
    assert dcgm.read('{"other": 1}').status is Status.REFUSED


# ── NVLink and XML ────────────────────────────────────────────────────────────────────────────────────────────────


def test_nvlink_status_and_errors() -> None:
    reading = smi_nvlink.read(own("nodes/nvlink_status.txt"))
    summary = smi_nvlink.summarise(reading)
    assert (reading.count, summary["links_per_gpu"], summary["inactive"]) == (4, 2, 1)
    assert (summary["gb_per_s_per_link"], _codes(reading)) == (26.562, ["nvlink-inactive"])
    errors = smi_nvlink.read(own("nodes/nvlink_errors.txt"))
    assert (smi_nvlink.summarise(errors)["errors"], _codes(errors)) == (3, ["nvlink-errors"])


def test_nvlink_of_a_gpu_that_is_cut() -> None:
    text = own("nodes/nvlink_status.txt")
    reading = smi_nvlink.read(text[: text.index("\t Link 1: <inactive>")])
    assert (reading.status, smi_nvlink.summarise(reading)["links_per_gpu"]) == (Status.TRUNCATED, None)
    differing = smi_nvlink.read(text.replace("<inactive>", "20 GB/s"))
    assert (_codes(differing), smi_nvlink.summarise(differing)["gb_per_s_per_link"]) == (["nvlink-rates-differ"], None)


def test_xml_of_two_gpus() -> None:
    reading = smi_xml.read(own("nodes/smi_two_gpus.xml"))
    summary = smi_xml.summarise(reading)
    assert (reading.status, reading.count, summary["driver_version"]) == (Status.COMPLETE, 2, "570.124.06")
    assert (summary["ecc_uncorrectable_volatile"], summary["pcie_width"], summary["temperature_c"]) == (2, 8, 55.0)
    assert _codes(reading) == [
        "smi-ecc-uncorrectable", "smi-remap-pending", "smi-rows-remapped", "smi-pcie-narrow", "smi-pcie-slow",
        "smi-gpus-differ",
    ]  # fmt: skip
    assert [gpu.line for gpu in reading.records[0].gpus] == [8, 34]


def test_xml_that_is_cut_or_crooked_is_truncated() -> None:
    text = own("nodes/smi_two_gpus.xml")
    assert smi_xml.read(text[: text.index("</gpu>")]).status is Status.TRUNCATED
    assert smi_xml.read(text.replace("</pci>", "</pcj>")).status is Status.TRUNCATED
    assert smi_xml.read(text.replace("<attached_gpus>2", "<attached_gpus>8")).reason == "8 GPUs announced, 2 described"
    entities = text.replace("NVIDIA H100 80GB HBM3", "A &amp;lt; B &bomb;")
    assert smi_xml.summarise(smi_xml.read(entities))["gpu"] == "A &lt; B &bomb;"


# ── the same state from all layouts of nvidia-smi ─────────────────────────────────────────────────────────────────


def test_query_log_of_eight_gpus() -> None:
    reading = nvidia_smi_log.read(own("nvidia_smi/q_8gpus.txt"))
    summary = nvidia_smi_log.summarise(reading)
    assert (reading.count, summary["gpus"], summary["cuda_version"], summary["mig_devices"]) == (8, 8, "12.8", 2)
    assert summary["mig_mode"] is None  # the GPUs differ
    assert "smi-gpus-differ" in _codes(reading)


def test_query_log_that_stops_inside_a_gpu_is_truncated() -> None:
    text = own("nvidia_smi/q_8gpus.txt").replace("Attached GPUs                             : 8", "Attached GPUs : 1")
    one = text[: text.index("GPU 00000000:21:00.0")]
    assert nvidia_smi_log.read(one).status is Status.COMPLETE
    assert nvidia_smi_log.read(one.rstrip()[:-2]).status is Status.TRUNCATED


def test_csv_notes_what_is_wrong_with_single_gpus() -> None:
    header = "index, name, ecc.errors.uncorrected.volatile.total, remapped_rows.pending, pcie.link.width.current, "
    header += "pcie.link.width.max, gpu_recovery_action, temperature.gpu\n"
    rows = "0, NVIDIA X, 0, No, 16, 16, None, 40\n1, NVIDIA X, 3, Yes, 8, 16, Reset, 61\n"
    reading = nvidia_smi.read_csv(header + rows)
    assert _codes(reading) == [
        "smi-ecc-uncorrectable", "smi-remap-pending", "smi-pcie-narrow", "smi-recovery-needed",
    ]  # fmt: skip
    assert {note.line for note in reading.notes} == {3}
    summary = nvidia_smi.summarise_csv(reading)
    assert (summary["gpus"], summary["temperature_c"], summary["pcie_width"]) == (2, 61, 8)
    assert summary["remapped_rows_pending"] == "Yes"


def test_csv_samples_over_time_are_one_gpu() -> None:
    text = "index, name, memory.used [MiB]\n" + "0, X, 1 MiB\n1, X, 2 MiB\n" * 3
    assert nvidia_smi.summarise_csv(nvidia_smi.read_csv(text))["gpus"] == 2


def test_an_unknown_answer_is_never_zero() -> None:
    text = "index, name, utilization.gpu [%], ecc.errors.uncorrected.volatile.total\n0, X, [N/A], [N/A]\n"
    summary = nvidia_smi.summarise_csv(nvidia_smi.read_csv(text))
    assert (summary["utilization_gpu_percent"], summary["ecc_uncorrected_volatile_total"]) == (None, None)
