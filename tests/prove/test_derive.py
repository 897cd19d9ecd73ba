from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.codes import find
from fourplane.base.findings import Level
from fourplane.formats.probe_lines import read
from fourplane.prove.derive import MAX_REFUSALS, Derived, derive
from fourplane.records.observation import Observation, RawRef, State

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
AT = "2026-12-01T04:39:21Z"
GPU_METRICS = ("model", "memory", "mig", "power_limit", "ecc_uncorrected")


def _own(name: str) -> str:
    return (CORPUS / name).read_text(encoding="utf-8")


def _observed(**changes: Any) -> dict[str, Any]:
    line = {"t": "observation", "subject": "", "metric": "compute.cpu.cores", "value": 8, "unit": "", "method": "m"}
    return {**line, "state": "measured", "reason": "", "conditions": {}, "at": AT, "raw": "", "line": 0, **changes}


def _raw(name: str, text: str) -> dict[str, str]:
    return {"t": "raw", "name": name, "text": text}


def _pci(vendor: str, count: int) -> dict[str, Any]:
    devices = [{"address": f"0000:{n:02x}:00.0", "vendor": vendor} for n in range(count)]
    return _observed(metric="compute.gpu.pci", value=[*devices, {"address": "x", "vendor": "0x1a03"}])


def _derive(*lines: dict[str, Any] | str, end: bool = True) -> Derived:
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    begin = json.dumps({"t": "begin", "probe": "inventory", "version": 1, "node": "x", "at": AT})
    return derive("n1", read([begin, *written, *(['{"t": "end", "ok": true}'] if end else [])]))


def _healthy(**replaced: str) -> list[dict[str, str]]:
    raws = {
        "nvidia-smi-query": _own("nvidia_smi/query_8gpus.csv"),
        "nvidia-smi-topo": _own("nvidia_smi/topo_8gpus_9nics.txt"),
        "nvidia-smi-q": _own("nvidia_smi/q_8gpus.txt"),
    }
    raws.update({f"nvidia-smi-{name}": text for name, text in replaced.items()})
    return [_raw(name, text) for name, text in raws.items() if text]


def _one(derived: Derived, metric: str, subject: str = "node:n1") -> Observation:
    (found,) = [one for one in derived.observations if (one.metric, one.subject) == (metric, subject)]
    return found


def test_subjects_are_named_in_full_and_raw_texts_cited() -> None:
    derived = _derive(
        _raw("x", "one\ntwo\n"),
        _observed(raw="x", line=2),
        _observed(subject="nic:eth0", metric="network.nic.speed", value=10, unit="b/s", raw="never-sent"),
        _observed(metric="compute.cpu.sockets", raw="x", line=3),
    )
    assert (derived.complete, derived.findings) == (True, [])
    first, second, third = derived.observations
    assert (first.subject, first.raw) == ("node:n1", RawRef("n1/x", "", 2))
    assert (second.subject, second.raw) == ("node:n1/nic:eth0", None)
    assert third.raw == RawRef("n1/x", "", 0)  # the text has no third line
    assert first.at.isoformat() == "2026-12-01T04:39:21+00:00"


def test_a_cut_output_is_not_complete_and_keeps_what_was_said() -> None:
    derived = _derive(_observed(), end=False)
    assert (derived.complete, len(derived.observations)) == (False, 1)


def test_of_two_words_the_first_stands() -> None:
    derived = _derive(_observed(value=8), _observed(value=9), _observed(value=10, method="other"))
    assert [one.value for one in derived.observations] == [8, 10]
    assert [one.code for one in derived.findings] == ["probe-observation-repeated"]


def test_refusals_become_findings_with_code_and_fix() -> None:
    derived = _derive("Welcome to n1!\x1b[2J", _observed(metric="compute.cpu.wishes"))
    assert [one.code for one in derived.findings] == ["probe-line-not-understood", "probe-metric-unknown"]
    for one in derived.findings:
        assert find(one.code) is not None
        assert (one.level, one.path, bool(one.fix)) == (Level.WARNING, "node:n1", True)
    assert "\x1b" not in derived.findings[0].found


def test_many_refusals_are_counted() -> None:
    derived = _derive(*["noise"] * (MAX_REFUSALS + 7))
    assert len(derived.findings) == MAX_REFUSALS + 1
    assert "7 further lines" in derived.findings[-1].message


def test_eight_gpus_from_raw_texts() -> None:
    derived = _derive(_pci("nvidia", 8), *_healthy())
    assert derived.findings == []
    count = _one(derived, "compute.gpu.count")
    assert (count.value, count.conditions, count.reason) == (8, {"pci": 8}, "")
    assert count.method == "inventory/1 nvidia-smi 570.124.06"
    assert _one(derived, "compute.gpu.model").value == ["NVIDIA H100 80GB HBM3"]
    assert _one(derived, "compute.gpu.driver").value == "570.124.06"
    cuda = _one(derived, "compute.cuda.version")
    assert (cuda.value, cuda.raw) == ("12.8", RawRef("n1/nvidia-smi-q", "", 6))
    for number in range(8):
        subject = f"node:n1/gpu:{number}"
        values = [_one(derived, f"compute.gpu.{name}", subject) for name in GPU_METRICS]
        assert [one.value for one in values] == ["NVIDIA H100 80GB HBM3", 81559 * 1024**2, "Disabled", 700.0, 0]
        assert {one.raw for one in values} == {RawRef("n1/nvidia-smi-query", "", number + 2)}
    details = _one(derived, "compute.gpu.model", "node:n1/gpu:0").conditions
    assert (details["pcie.link.width.current"], details["compute_cap"]) == ("16", "9.0")


def test_topology() -> None:
    topology = _one(_derive(*_healthy()), "compute.gpu.topology")
    assert isinstance(topology.value, dict)
    assert topology.value["matrix"][0][:3] == ["X", "NV18", "NV18"]  # type: ignore[index,call-overload]
    assert topology.conditions["gpu_links"] == ["NV18"]
    assert topology.conditions["all_nvlink"] is True
    assert topology.conditions["nearest_nics"]["GPU3"] == {"class": "PIX", "nics": ["mlx5_3"]}
    assert topology.raw == RawRef("n1/nvidia-smi-topo", "", 1)
    pcie = _one(_derive(*_healthy(topo=_own("nvidia_smi/topo_2gpus_old.txt"))), "compute.gpu.topology")
    assert pcie.conditions["all_nvlink"] is False


def test_troubled_gpus() -> None:
    query, listing = _own("nvidia_smi/query_troubled.csv"), _own("nvidia_smi/list_mig.txt")
    derived = _derive(_pci("nvidia", 6), *_healthy(query=query, list=listing))
    count = _one(derived, "compute.gpu.count")
    assert (count.value, count.reason) == (5, "nvidia-smi lists 5, the PCI bus 6")
    errors = {
        subject: _one(derived, "compute.gpu.ecc_uncorrected", f"node:n1/gpu:{subject}") for subject in (0, 2, 3, 5)
    }
    assert [(one.state, one.value) for one in errors.values()] == [
        (State.MEASURED, 0),
        (State.MEASURED, 3),
        (State.ABSENT, None),
        (State.FAILED, None),
    ]
    assert errors[5].reason == "ecc.errors.uncorrected.volatile.total: [GPU requires reset]"
    mig = _one(derived, "compute.gpu.mig", "node:n1/gpu:1")
    assert (mig.value, mig.conditions) == ("Enabled", {"devices": ["4g.40gb", "3g.40gb"]})
    levels = {one.code: one.level for one in derived.findings}
    assert levels == {
        "nvidia-smi-device-lost": Level.ERROR,
        "nvidia-smi-warning": Level.WARNING,
        "gpu-field-in-trouble": Level.ERROR,
        "gpu-count-disagrees": Level.ERROR,
    }


def test_unreadable_query_fails_every_gpu_metric() -> None:
    derived = _derive(_raw("nvidia-smi-query", "index, name\n"))
    said = {one.metric: (one.state, one.value) for one in derived.observations}
    expected = {f"compute.gpu.{name}" for name in (*GPU_METRICS, "count", "driver", "topology")}
    assert set(said) == expected | {"compute.cuda.version"}
    assert set(said.values()) == {(State.FAILED, None)}
    assert [one.code for one in derived.findings] == ["nvidia-smi-not-understood"]


def test_a_topology_with_holes_is_no_topology() -> None:
    whole = _own("nvidia_smi/topo_8gpus_9nics.txt")
    derived = _derive(*_healthy(topo=whole[: whole.index("\nGPU7") + 1]))
    topology = _one(derived, "compute.gpu.topology")
    assert (topology.state, topology.reason) == (State.FAILED, "the matrix is not whole")
    assert "topo-row-missing" in {one.code for one in derived.findings}


def test_missing_raw_texts_are_said_and_the_probes_own_word_stands() -> None:
    derived = _derive(*_healthy(topo="", q=""))
    assert _one(derived, "compute.gpu.topology").state is State.FAILED
    assert _one(derived, "compute.cuda.version").reason == "nvidia-smi -q was not sent"
    hung = "nvidia-smi did not end within 10 s"
    own = _observed(metric="compute.gpu.topology", value=None, state="failed", reason=hung)
    assert _one(_derive(own, *_healthy()), "compute.gpu.topology").reason == hung


def test_rows_with_one_index_count_once() -> None:
    text = "index, name, driver_version\n0, A, 1.2\n0, A, 1.2\n"
    derived = _derive(*_healthy(query=text))
    assert _one(derived, "compute.gpu.count").value == 1
    assert _one(derived, "compute.gpu.memory", "node:n1/gpu:0").state is State.ABSENT


def test_amd_gpus() -> None:
    links = _own("amd_smi/rocm_topo_2cards.json")
    raws = [_raw("amd-smi", _own("amd_smi/static_2gpus.json")), _raw("rocm-smi-topo", links)]
    derived = _derive(_pci("amd", 2), *raws)
    assert derived.findings == []
    assert _one(derived, "compute.gpu.count").value == 2
    assert _one(derived, "compute.gpu.driver").value == "6.10.5"
    assert _one(derived, "compute.gpu.memory", "node:n1/gpu:1").value == 196592 * 1024**2
    assert _one(derived, "compute.gpu.power_limit", "node:n1/gpu:0").value == 750.0
    assert _one(derived, "compute.gpu.mig", "node:n1/gpu:0").state is State.ABSENT
    topology = _one(derived, "compute.gpu.topology")
    assert topology.value["matrix"] == [["X", "XGMI"], ["XGMI", "X"]]  # type: ignore[index,call-overload]


def test_amd_falls_back_to_rocm_smi_and_says_what_was_unreadable() -> None:
    derived = _derive(_raw("amd-smi", "oops"), _raw("rocm-smi", _own("amd_smi/rocm_smi_2cards.json")))
    assert _one(derived, "compute.gpu.model").value == ["AMD Instinct MI210"]
    assert [one.code for one in derived.findings] == ["format-not-json"]
    assert _one(derived, "compute.gpu.topology").state is State.FAILED
    broken = _derive(_raw("amd-smi", "oops"))
    assert {one.state for one in broken.observations} == {State.FAILED}


@pytest.mark.parametrize("raws", [[], [_raw("amd-smi", "{}")]])
def test_a_count_by_the_probe_is_never_overruled(raws: list[dict[str, str]]) -> None:
    derived = _derive(_observed(metric="compute.gpu.count", value=0), *raws)
    assert [(one.metric, one.value) for one in derived.observations] == [("compute.gpu.count", 0)]


_DAMAGE = ["", "\n", ", ", "[N/A]", "[Unknown Error]", "GPU0", "\t", "X", "{", "9" * 30, "\x00", "No devices were"]


@st.composite
def _damaged(draw: st.DrawFn) -> list[dict[str, str]]:
    names = ["nvidia-smi-query", "nvidia-smi-topo", "nvidia-smi-q", "nvidia-smi-list", "amd-smi", "rocm-smi-topo"]
    files = ["nvidia_smi/query_8gpus.csv", "nvidia_smi/query_troubled.csv", "nvidia_smi/topo_8gpus_9nics.txt",
             "nvidia_smi/q_8gpus.txt", "nvidia_smi/list_mig.txt", "amd_smi/static_2gpus.json"]  # fmt: skip
    raws = []
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)):
        text = _own(draw(st.sampled_from(files)))
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(text)))
            text = text[:at] + draw(st.sampled_from(_DAMAGE)) + text[at + draw(st.integers(0, 200)) :]
        raws.append(_raw(name, text))
    return raws


@settings(max_examples=100, deadline=None)
@given(_damaged())
def test_whatever_the_tools_printed_each_metric_gets_one_word(raws: list[dict[str, str]]) -> None:
    derived = _derive(_pci("nvidia", 8), *raws)
    words = [(one.subject, one.metric) for one in derived.observations]
    assert len(words) == len(set(words))
    assert derived.complete
    texts = {raw["name"]: raw["text"] for raw in raws}
    for one in derived.observations:
        assert (one.value is None) == (one.state is not State.MEASURED)
        assert one.state is State.MEASURED or one.reason
        json.dumps(one.to_json(), allow_nan=False).encode("utf-8")
        if one.raw is not None:
            assert one.raw.line <= texts[one.raw.path.removeprefix("n1/")].count("\n") + 1
    if {"nvidia-smi-query", "amd-smi"} & set(texts):
        assert ("node:n1", "compute.gpu.count") in words
    assert all(find(one.code) is not None for one in derived.findings)
