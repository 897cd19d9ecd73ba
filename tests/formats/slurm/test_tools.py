"""squeue, sinfo, sacctmgr, scontrol, slurm.conf, gres.conf and jobstats on inputs of our own."""

from __future__ import annotations

from typing import Any

import pytest
from slurm_corpus import own

from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm import FORMATS, SUMMARIES
from fourplane.formats.slurm.scontrol_job import read as read_job

KINDS = {one.kind: one for one in FORMATS}
FILES = {
    "gres.conf": "gres-conf", "jobstats.txt": "jobstats", "rest_db.json": "slurmrestd-jobs",
    "sacct_attempts.psv": "sacct",
    "sacct_names.psv": "sacct", "sacct_padded.txt": "sacct", "sacct_untracked.psv": "sacct",
    "sacctmgr_qos.txt": "sacctmgr",
    "scontrol_config.txt": "scontrol-config", "scontrol_job.txt": "scontrol-job",
    "scontrol_node_oneline.txt": "scontrol-node", "scontrol_partition.txt": "scontrol-partition",
    "sinfo.txt": "sinfo",
    "sinfo_bare.txt": "sinfo", "slurm.conf": "slurm-conf", "squeue.txt": "squeue", "squeue_format.txt": "squeue",
}  # fmt: skip


def read(name: str) -> tuple[Reading[Any], dict[str, Any]]:
    kind = FILES[name]
    reading = KINDS[kind].read(own(name))
    return reading, SUMMARIES[kind](reading)


def codes(reading: Reading[Any]) -> set[str]:
    return {note.code for note in reading.notes}


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_input_is_recognised_as_what_it_is_and_as_nothing_else(name: str) -> None:
    sure = {one.kind: one.sniff(own(name)) for one in FORMATS}
    assert max(sure, key=lambda kind: sure[kind]) == FILES[name]
    assert [kind for kind, confidence in sure.items() if confidence >= 0.5] == [FILES[name]]


def test_squeue_padded_by_hand() -> None:
    reading, found = read("squeue.txt")
    assert not reading.refusals
    assert [(job["job"], job["state"], job["nodes"]) for job in found["jobs"]] == [
        ("2001_[1-3]", "PENDING", 1), ("2000", "RUNNING", 4),
    ]  # fmt: skip
    assert found["reasons"] == {"QOSMaxGRESPerUser": 1}
    assert found["gpus_running"] is None  # no column says


def test_squeue_columns_from_the_command_and_pending_jobs_hold_nothing() -> None:
    _, found = read("squeue_format.txt")
    assert [(job["job"], job["gpus"], job["gpus_asked"]) for job in found["jobs"]] == [
        ("3001_[0-3]", 0, 16), ("3000", 8, 8), ("2999", 0, 0),
    ]  # fmt: skip
    assert (found["gpus_running"], found["gpus_pending"]) == (8, 64)


def test_squeue_without_heading_is_refused() -> None:
    reading = KINDS["squeue"].read("gpu|RUNNING|8|None|alice\n")
    assert (reading.status, [one.code for one in reading.refusals]) == (Status.REFUSED, ["slurm-columns-unnamed"])


def test_sinfo_refuses_a_row_whose_value_ran_into_the_next_column() -> None:
    reading, found = read("sinfo.txt")
    assert [refusal.line for refusal in reading.refusals] == [3]
    assert (found["nodes"], found["gpus"], found["gpus_used"]) == (2, 16, 0)
    assert found["unavailable"] == [{"nodes": "gpu02", "state": "drained*", "reason": "bad dimm in slot 4"}]


def test_sinfo_without_heading_is_read_by_what_cells_say_themselves() -> None:
    _, found = read("sinfo_bare.txt")
    assert (found["nodes"], found["gpu_nodes"], found["gpus"], found["mig_slices"]) == (3, 2, 14, 14)
    assert (found["gpus_used"], found["mig_slices_used"]) == (9, 2)
    assert found["partitions"] == ["train", "debug", "cpu*"]
    assert found["states"] == {"allocated": 1, "mixed": 1, "idle": 1}


@pytest.mark.parametrize("text", ["2 4 gpu:h100:8\n", "n1 gpu:h100:8 gpu:h100:8 idle\n", "gpu:h100:8\n", "n1 idle\n"])
def test_sinfo_by_shape_does_not_guess(text: str) -> None:
    reading = KINDS["sinfo"].read(text)
    assert reading.status is Status.REFUSED
    assert reading.refusals


def test_sinfo_counts_a_node_of_two_partitions_once() -> None:
    heading = "PARTITION AVAIL TIMELIMIT NODES STATE GRES NODELIST\n"
    text = heading + "a up infinite 4 idle gpu:8 n[1-4]\nb up infinite 2 idle gpu:8 n[3-4]\n"
    found = SUMMARIES["sinfo"](KINDS["sinfo"].read(text))
    assert (found["nodes"], found["gpus"]) == (4, 32)


def test_sacctmgr_padded_with_cut_limits() -> None:
    _, found = read("sacctmgr_qos.txt")
    assert found["qos"][0] == {
        "name": "normal", "preempt": None, "priority": 0, "grp_gpus": None, "max_gpus_per_user": None,
    }  # fmt: skip
    assert (found["qos"][1]["grp_gpus"], found["qos"][1]["max_gpus_per_user"]) == (256, 64)


def test_scontrol_job_in_blocks() -> None:
    reading, found = read("scontrol_job.txt")
    running, waiting = found["jobs"]
    assert (running["job"], running["state"], running["node_list"]) == ("4100_1", "RUNNING", "gpu[01-02]")
    assert reading.records[0].name == "fit a JobState=FAILED curve"
    assert (running["gpus"], running["end"], running["run_time_s"]) == (12, None, 86_410)
    assert reading.records[0].limit_end is not None and reading.records[0].limit_end.known
    assert [(one["node"], one["gpus"], one["indexes"]) for one in running["gres_detail"]] == [
        ("gpu01", 8, "0-7"), ("gpu02", 4, "0,2-4"),
    ]  # fmt: skip
    assert (waiting["gpus"], waiting["gpus_asked"], waiting["start"], waiting["nodes"]) == (0, 4, None, 1)


def test_a_name_that_looks_like_a_key_makes_the_key_unknown_in_one_line_form() -> None:
    keys = " ".join(f"K{number}=v" for number in range(12))
    reading = read_job(f"JobId=1 JobName=x NodeList=evil JobState=RUNNING {keys} NodeList=real NumNodes=1\n")
    assert reading.records[0].node_list == ""
    assert "slurm-key-twice" in codes(reading)


def test_scontrol_nodes_one_a_line() -> None:
    reading, found = read("scontrol_node_oneline.txt")
    assert (found["gpus"], found["gpus_used"], found["gpu_tracked"]) == (16, 2, True)
    assert found["unavailable"] == [{"node": "gpu01", "state": "MIXED+DRAIN", "reason": "Xid 79 on GPU 3"}]
    assert "slurm-node-unavailable" in codes(reading)
    assert reading.records[0].fields["OS"] == "Linux 6.8.0-50 #51-Ubuntu SMP"


def test_scontrol_partition() -> None:
    _, found = read("scontrol_partition.txt")
    assert found["partitions"][0]["gpus"] == 128
    assert found["partitions"][0]["billing_weights"] == {"cpu": "1.0", "gres/gpu": "16"}


def test_scontrol_config_says_that_gpus_are_not_tracked() -> None:
    reading, found = read("scontrol_config.txt")
    assert (reading.status, found["gpu_tracked"], found["job_requeue"]) == (Status.COMPLETE, False, 1)
    assert "slurm-conf-gpu-not-tracked" in codes(reading)
    assert not reading.refusals


def test_slurm_conf_and_what_it_does_not_track() -> None:
    reading, found = read("slurm.conf")
    assert (found["gpus"], found["gpu_tracked"], found["tres_billing_weights"]) == (
        128,
        True,
        {"CPU": 1.0, "GRES/gpu": 16.0},
    )
    assert [(one["nodes"], one["node_count"], one["gpus_per_node"]) for one in found["nodes"]] == [
        ("gpu[01-16]", 16, 8), ("cpu[1-4]", 4, 0),
    ]  # fmt: skip
    assert not reading.notes
    bare = KINDS["slurm-conf"].read(own("slurm.conf").replace("accountingstoragetres=gres/gpu,gres/gpu:h100\n", ""))
    assert "slurm-conf-gpu-not-tracked" in codes(bare)


def test_gres_conf_counts_devices() -> None:
    _, found = read("gres.conf")
    assert [entry["devices"] for entry in found["entries"]] == [5, 3, 1]
    assert (found["gpus_named_nodes"], found["autodetect"]) == (16, "nvml")


def test_jobstats_blobs_are_unpacked_within_a_bound() -> None:
    import base64
    import gzip

    reading, found = read("jobstats.txt")
    assert (found["blobs"], found["short"], found["none"], found["gpus"]) == (1, 1, 0, 1)
    assert found["nodes"][0]["gpu_utilization_percent"] == {"0": 97.5}
    assert [refusal.line for refusal in reading.refusals] == [3]
    bomb = base64.b64encode(gzip.compress(b'{"nodes":{}}' + b" " * 8_000_000)).decode()
    assert [one.code for one in KINDS["jobstats"].read(f"JS1:{bomb}\n").refusals] == ["jobstats-blob-refused"]
