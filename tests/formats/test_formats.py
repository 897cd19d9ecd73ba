"""What holds for every format: it never raises, it is bounded and linear, and it knows its own texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from formats_corpus import CORPUS
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.codes import find
from fourplane.formats import gpus, nodes
from fourplane.formats.kinds import FORMATS, SUMMARIES, recognise
from fourplane.formats.model import (
    MAX_LINE_CHARS,
    MAX_REFUSALS,
    Reading,
    Status,
    finite_json,
    lines_of,
    number_or_none,
    plain,
)  # fmt: skip

KINDS = {
    "nvidia_smi/query_": "nvidia-smi-csv", "nvidia_smi/list_": "nvidia-smi-list", "nvidia_smi/q_": "nvidia-smi-query",
    "nvidia_smi/topo_": "nvidia-smi-topo", "amd_smi/static_2gpus": "amd-smi", "amd_smi/rocm_smi_2cards": "amd-smi",
    "fio/two_jobs": "fio", "fio/version_2": "fio", "nccl_tests/": "nccl-tests", "nccl_info/": "nccl-info",
    "nodes/dmesg_": "dmesg", "nodes/fabric_manager": "fabric-manager", "nodes/dcgm_": "dcgm-diag",
    "nodes/nvlink_": "nvidia-smi-nvlink", "nodes/smi_": "nvidia-smi-xml", "nodes/ibstat": "ibstat",
    "nodes/ibdev2netdev": "ibdev2netdev", "nodes/ib_guid_map": "ib-guid-map", "nodes/perfquery": "perfquery",
    "nodes/ibnetdiscover": "ibnetdiscover", "nodes/ib_write_bw": "ib-write-bw", "nodes/ib_write_lat": "ib-write-lat",
    "nodes/ethtool": "ethtool", "nodes/nvbandwidth": "nvbandwidth", "nodes/lscpu": "lscpu", "nodes/numactl": "numactl",
    "nodes/lsblk": "lsblk", "nodes/lspci": "lspci", "nodes/azure_nhc": "azure-nhc", "nodes/cre_report": "cre-report",
    "nodes/oci_": "oci-check", "nodes/preflight": "preflight",
}  # fmt: skip
FOLDERS = ("nvidia_smi", "amd_smi", "nccl_tests", "nccl_info", "fio", "nodes")
OWN = sorted(path for folder in FOLDERS for path in (CORPUS / folder).iterdir())
MINE = {one.kind: one for group in (gpus, nodes) for one in group.FORMATS}


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("path", OWN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_text_is_recognised(path: Path) -> None:
    name = f"{path.parent.name}/{path.name}"
    found = recognise(_text(path))
    expected = next((kind for start, kind in KINDS.items() if name.startswith(start)), None)
    assert expected is None or (found is not None and found[0].kind == expected)


def test_every_kind_has_a_text_of_our_own() -> None:
    assert set(KINDS.values()) == set(MINE)


@pytest.mark.parametrize("text", ["", "hello\n", "{}", "a,b\n1,2\n", "# Avg is what we want\n", "GPU 0 is nice\n"])
def test_other_texts_are_not_recognised(text: str) -> None:
    assert recognise(text) is None


def _mutations(draw: st.DrawFn) -> str:
    text = _text(draw(st.sampled_from(OWN)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        to = min(len(text), at + draw(st.integers(0, 60)))
        piece = draw(st.sampled_from(["", "\n", "\x00", "\x1b[", "9" * 40, "[N/A]", "1e999", " ", "{", "é", "-", ", "]))
        text = text[:at] + piece + text[to:]
    return text


@settings(max_examples=120, deadline=None)
@given(st.composite(_mutations)())
def test_damaged_texts_never_raise_and_every_refusal_has_a_code(text: str) -> None:
    for one in FORMATS.values():
        assert 0.0 <= one.sniff(text) <= 1.0
        reading = one.read(text)
        assert reading.kind == one.kind
        for said in (*reading.refusals, *reading.notes):
            assert find(said.code) is not None
            assert len(said.text) <= 200
        if reading.status is not Status.COMPLETE:
            assert reading.reason
        if reading.status is Status.REFUSED:
            assert reading.records == []
        json.dumps(SUMMARIES[one.kind](reading), allow_nan=False).encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_by_any_parser(text: str) -> None:
    for one in FORMATS.values():
        reading = one.read(text)
        # a heading without a row is a whole listing of nothing: no job in the window, no node in the partition
        heading_alone = reading.status is Status.COMPLETE and len(text.split("\n")) <= 2
        nothing = "No devices were found" in text or text.strip() == "[]" or heading_alone
        assert reading.records or reading.refusals or nothing


HOSTILE = {
    "long line": "GPU0 " + "X " * 60_000,
    "spaces": "Name" + " " * 60_000 + ": x\n",
    "prefixes": "[1,0]<stdout>:" * 8_000,
    "digits": "1" * 60_000 + "\n",
    "rows": "1 1 float sum -1 1 1 1 0 1 1 1 0\n" * 4_000,
    "escapes": "\x1b[" * 60_000,
    "braces": "{\n" * 30_000,
    "brackets": "[" * 60_000,
    "ranks": "# Rank 0 Group 0 Pid 1 on h device 0 [0] x\n" * 3_000,
    "header": "# size count type " + "redop " * 10_000 + "time algbw busbw\n",
    "commas": "index, name\n" + "0, " * 30_000,
    "distances": "available: 1 nodes (0)\n0: " + "123456789 " * 1_500 + "x\n",
    "glued digits": "0: " + "1" * 15_000 + "x\n",
    "tags": "<nvidia_smi_log>" + "<a>" * 20_000,
    "open tags": "<nvidia_smi_log>" + "<" * 60_000,
    "objects": '{"a":' * 12_000,
    "pairs": "a:" * 8_000 + "\n",
    "bars": "|" * 60_000,
    "warnings": "n1:1:1 [0] x.cc:1 NCCL WARN " + "(" * 15_000 + "\n",
    "xids": "Xid (" * 3_000 + "\n",
    "quotes": 'Switch 1 "S-1"' + " " * 15_000 + "#\n",
    "mig": "GPU 0: a (UUID: b)\n" + "  MIG 1g Device 0: (UUID: c)\n" * 3_000,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_texts_are_read_to_the_end_within_bounds(name: str) -> None:
    for one in FORMATS.values():
        one.sniff(HOSTILE[name])
        reading = one.read(HOSTILE[name])
        assert len(reading.refusals) <= MAX_REFUSALS
        if name not in {"rows", "ranks", "commas", "mig", "distances", "tags", "open tags", "warnings", "pairs"}:
            assert reading.records == []


def test_refusals_are_bounded_and_counted() -> None:
    reading: Reading[str] = Reading("x")
    for number in range(MAX_REFUSALS + 5):
        reading.refuse("format-not-json", number, "x" * 500)
    assert (len(reading.refusals), reading.unlisted, len(reading.refusals[0].text)) == (MAX_REFUSALS, 5, 200)
    with pytest.raises(KeyError):
        reading.refuse("no-such-code", 1, "")


def test_lines_are_numbered_plain_and_bounded() -> None:
    reading: Reading[str] = Reading("x")
    text = "\x1b[4mGPU0\x1b[0m\r\n" + "y" * (MAX_LINE_CHARS + 1) + "\nlast"
    assert list(lines_of(text, reading)) == [(1, "GPU0"), (3, "last")]
    assert [(one.code, one.line) for one in reading.refusals] == [("format-line-too-long", 2)]


def test_helpers() -> None:
    assert plain("a\x1b]0;title\x07b\x1b[1;31mc\x00") == "abc"
    assert [number_or_none(text) for text in ("1", "-1.5e3", ".5", "1e999", "nan", "0x1", "", "1 ", "1_0")] == [
        1.0, -1500.0, 0.5, None, None, None, None, None, None,
    ]  # fmt: skip
    deep: list[object] = []
    for _ in range(40):
        deep = [deep]
    assert [finite_json(value) for value in ({"a": [1, "x", None]}, [float("nan")], deep)] == [True, False, False]
