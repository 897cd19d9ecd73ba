from __future__ import annotations

from formats_corpus import own, sample

from fourplane.formats import nvidia_smi, nvidia_smi_log
from fourplane.formats.model import Status


def test_query_of_a_healthy_node() -> None:
    reading = nvidia_smi.read_csv(own("nvidia_smi/query_8gpus.csv"))
    assert (reading.status, reading.refusals) == (Status.COMPLETE, [])
    assert [row.index for row in reading.records] == list(range(8))
    first = reading.records[0]
    assert first.line == 2
    assert first.text("name") == "NVIDIA H100 80GB HBM3"
    assert first.size("memory.total") == 81559 * 1024**2
    assert first.number("enforced.power.limit") == (700.0, "W")
    assert first.number("ecc.errors.uncorrected.volatile.total") == (0.0, "")


def test_troubled_gpus_are_told_apart_from_missing_answers() -> None:
    reading = nvidia_smi.read_csv(own("nvidia_smi/query_troubled.csv"))
    assert reading.status is Status.FAILED
    assert [row.index for row in reading.records] == [0, 1, 2, 3, 5]
    assert [(one.code, one.line) for one in reading.refusals] == [
        ("nvidia-smi-device-lost", 7),
        ("nvidia-smi-warning", 8),
    ]
    silent, broken = reading.records[3], reading.records[4]
    field = "ecc.errors.uncorrected.volatile.total"
    assert (silent.text(field), silent.trouble(field)) == (None, "")
    assert broken.number(field) is None
    assert broken.trouble(field) == "[GPU requires reset]"


def test_a_warning_alone_leaves_the_query_complete() -> None:
    text = own("nvidia_smi/query_8gpus.csv") + "WARNING: infoROM is corrupted at gpu 0000:21:00.0\n"
    reading = nvidia_smi.read_csv(text)
    assert (reading.status, len(reading.records)) == (Status.COMPLETE, 8)
    assert [one.code for one in reading.refusals] == ["nvidia-smi-warning"]


def test_no_devices_is_an_answer_and_silence_is_none() -> None:
    none = nvidia_smi.read_csv("No devices were found\n")
    assert (none.status, none.records, none.refusals) == (Status.COMPLETE, [], [])
    for text, code in (("", "format-text-empty"), ("1, 2, 3\n", "nvidia-smi-no-header")):
        reading = nvidia_smi.read_csv(text)
        assert (reading.status, [one.code for one in reading.refusals]) == (Status.REFUSED, [code])


def test_driver_that_does_not_answer_is_a_failure() -> None:
    text = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    reading = nvidia_smi.read_csv(text)
    assert (reading.status, reading.refusals[0].code) == (Status.FAILED, "nvidia-smi-failed")


def test_cut_row_is_refused_and_the_others_stay() -> None:
    text = own("nvidia_smi/query_8gpus.csv")[:-60]
    reading = nvidia_smi.read_csv(text)
    assert (reading.status, len(reading.records)) == (Status.TRUNCATED, 7)
    assert [(one.code, one.line) for one in reading.refusals] == [("nvidia-smi-row-length", 9)]


def test_units_come_from_the_header_where_the_cell_has_none() -> None:
    row = nvidia_smi.read_csv("index, memory.total [MiB]\n0, 81559\n").records[0]
    assert row.size("memory.total") == 81559 * 1024**2
    row = nvidia_smi.read_csv("index, memory.total [W]\n0, 81559\n").records[0]
    assert row.size("memory.total") is None


def test_list_with_mig_devices() -> None:
    reading = nvidia_smi.read_list(own("nvidia_smi/list_mig.txt"))
    assert reading.status is Status.COMPLETE
    assert [(gpu.index, [mig.profile for mig in gpu.mig]) for gpu in reading.records] == [
        (0, []),
        (1, ["4g.40gb", "3g.40gb"]),
    ]


def test_query_log_gives_driver_cuda_and_mig() -> None:
    reading = nvidia_smi_log.read(own("nvidia_smi/q_8gpus.txt"))
    log = reading.records[0]
    assert (reading.status, log.driver, log.cuda, log.attached) == (Status.COMPLETE, "570.124.06", "12.8", 8)
    assert [gpu.mig_devices for gpu in log.gpus] == [0, 2, 0, 0, 0, 0, 0, 0]
    assert log.gpus[1].values["MIG Mode/Current"] == "Enabled"
    assert log.gpus[7].values["ECC Errors/Volatile/DRAM Uncorrectable"] == "0"


def test_query_log_that_was_cut_says_so() -> None:
    text = own("nvidia_smi/q_8gpus.txt")
    reading = nvidia_smi_log.read(text[: text.index("GPU 00000000:51")])
    assert (reading.status, len(reading.records[0].gpus)) == (Status.TRUNCATED, 4)
    assert nvidia_smi_log.read("hello\n").refusals[0].code == "nvidia-smi-not-understood"


def test_public_samples() -> None:
    plain = nvidia_smi.read_csv(sample("smi_csv_01_h100_all_fields.csv"))
    divided = nvidia_smi.read_csv(sample("smi_csv_02_h100_mig_all_fields.csv"))
    for reading, mig in ((plain, "Disabled"), (divided, "Enabled")):
        assert (reading.status, reading.refusals, len(reading.records)) == (Status.COMPLETE, [], 1)
        row = reading.records[0]
        assert row.text("mig.mode.current") == mig
        assert row.text("driver_version") == "590.48.01"
        assert row.size("memory.total") == 81559 * 1024**2
    listed = nvidia_smi.read_list(sample("smi_L_01_h100_mig.txt"))
    assert [mig.profile for mig in listed.records[0].mig] == ["3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"]
    for name, mig_devices in (("smi_q_01_h100_driver590.txt", 0), ("smi_q_02_h100_mig_driver590.txt", 4)):
        log = nvidia_smi_log.read(sample(name)).records[0]
        assert (log.cuda, log.gpus[0].mig_devices) == ("13.1", mig_devices)
        assert log.gpus[0].values["Product Architecture"] == "Hopper"
