from __future__ import annotations

import json

import pytest
from formats_corpus import own, sample

from fourplane.formats import fio
from fourplane.formats.model import Status


def test_jobs_and_directions_behind_messages() -> None:
    reading = fio.read(own("fio/two_jobs.json"))
    assert (reading.status, reading.refusals) == (Status.COMPLETE, [])
    assert [(one.name, one.direction, one.latency_of) for one in reading.records] == [
        ("seq-read", "read", "clat"),
        ("mixed", "read", "clat"),
        ("mixed", "write", "lat"),
    ]
    first = reading.records[0]
    assert (first.bandwidth, first.iops, first.runtime_s) == (3e9, 2861.0, 5.0)
    assert first.options == {"rw": "read", "bs": "1M", "iodepth": "16", "ioengine": "libaio", "direct": "1"}
    assert (first.mean_us, first.latency_us[99.0]) == (85.0, 210.0)


def test_a_job_that_failed_fails_the_reading() -> None:
    reading = fio.read(own("fio/no_space.json"))
    assert (reading.status, [one.direction for one in reading.records]) == (Status.FAILED, ["write"])
    assert "errno 28" in reading.reason


def test_a_job_that_failed_before_the_first_byte_stays_visible() -> None:
    doc = json.loads(own("fio/no_space.json"))
    doc["jobs"][0]["write"]["io_bytes"] = 0
    reading = fio.read(json.dumps(doc))
    assert (reading.status, len(reading.records)) == (Status.FAILED, 1)


def test_version_2_gave_kib_and_microseconds() -> None:
    one = fio.read(own("fio/version_2.json")).records[0]
    assert (one.bandwidth, one.io_bytes, one.mean_us, one.latency_us) == (2048 * 1024, 1000 * 1024, 900.0, {99.0: 1500})


def test_cut_document_is_truncated_and_gives_nothing() -> None:
    reading = fio.read(own("fio/two_jobs.json")[:900])
    assert (reading.status, reading.records) == (Status.TRUNCATED, [])
    assert [one.code for one in reading.refusals] == ["format-not-json"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "format-text-empty"),
        ("fio: failed\n", "format-not-json"),
        ('{"jobs": 3}', "fio-no-jobs"),
        ('{"jobs": [{"jobname": "x", "read": {"io_bytes": NaN}}]}', "fio-no-jobs"),
        ('{"jobs": [{"jobname": "x", "read": {"io_bytes": "many"}}]}', "fio-job-refused"),
        ('{"jobs": [7]}', "fio-job-refused"),
    ],
)
def test_refusals(text: str, code: str) -> None:
    reading = fio.read(text)
    assert [one.code for one in reading.refusals] == [code]
    assert reading.status is not Status.COMPLETE


def test_public_sample() -> None:
    reading = fio.read(sample("fio_01_randrw_nvme_v3.16.json"))
    assert reading.status is Status.COMPLETE
    assert [(one.direction, round(one.iops), one.latency_of) for one in reading.records] == [
        ("read", 85139, "lat"),
        ("write", 85066, "lat"),
    ]
    assert reading.records[0].latency_us[99.0] == 2244.608
