"""Checks of Oracle Cloud: the log of its passive host check, and the JSON of its active GPU scan.

The log has a line for each check that ends in ``Passed`` or ``Failed``. The JSON is a list of two different things: the
report of the scan, and bare bandwidths of NCCL without size, ranks or version, which prove nothing.

Sources: oracle-quickstart/oci-hpc ``healthchecks``, oracle-quickstart/oci-gpu-scanner ``sampleoutput``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats import topo
from fourplane.formats.documents import read_json, text_of, whole_number
from fourplane.formats.model import Reading, Status, lines_of, number_or_none

__all__ = ["KIND", "OciCheck", "read", "sniff", "summarise"]

KIND = "oci-check"
MAX_CHECKS = 100_000

_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - ([A-Z]{3,10}) - (.{1,2000})", re.ASCII)
_CHECK = re.compile(r"(.{1,300}?) ?: (Passed|Failed)\b(.{0,300})")
_NODE = re.compile(r"Node details: ([\w.-]{1,120}) - .{1,120}? - ((?:BM|VM)\.[\w.]{1,60})", re.ASCII)
_AGENT = re.compile(r"Oracle Cloud Agent: (\S{1,40})", re.ASCII)
_LINKS = re.compile(r"For (\d{1,4}) GPUs, (\d{1,4}) links detected .{0,80}? (\d{1,4}(?:\.\d{1,4})?) GB/s", re.ASCII)


@dataclass(slots=True)
class OciCheck:
    """One check: results by name (True: passed), for the JSON also its sections; figures as a person looks for them."""

    source: str
    results: dict[str, bool] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is one of the two."""
    head = head[:262144]
    if "GPU host setup check" in head or ("Node details: ocid1" in head and "Check: Passed" in head):
        return 0.9
    wanted = ('"compute_throughput"', '"memory_bandwidth"', '"machine_metadata"')
    return 0.9 if sum(word in head for word in wanted) > 1 else 0.0


def read(text: str) -> Reading[OciCheck]:
    """Read a check; what is counted are the checks of the log, or the GPUs of the JSON."""
    reading: Reading[OciCheck] = Reading(KIND)
    if text.lstrip()[:1] in {"[", "{"}:
        _read_scan(text, reading)
    else:
        _read_log(text, reading)
    return reading


def _read_log(text: str, reading: Reading[OciCheck]) -> None:
    check = OciCheck("passive")
    started = finished = False
    for number, raw in lines_of(text, reading):
        line = _LINE.match(raw.strip())
        if line is None:
            continue
        message = line[2]
        result, node = _CHECK.fullmatch(message), _NODE.match(message)
        started = started or message.startswith("Started GPU host setup check")
        finished = finished or message.startswith("Finished GPU host setup check")
        if node is not None:
            check.figures |= {"node": node[1], "shape": node[2]}
        elif (agent := _AGENT.match(message)) is not None:
            check.figures["agent"] = agent[1]
        elif result is not None and len(check.results) < MAX_CHECKS:
            passed = result[2] == "Passed"
            check.results[result[1].strip()] = check.results.get(result[1].strip(), True) and passed
            if not passed:
                reading.note("oci-check-failed", number, message)
        elif line[1] in {"ERROR", "CRITICAL"}:
            reading.note("oci-check-failed", number, message)
        if (links := _LINKS.search(message)) is not None:
            check.figures |= {
                "gpus": int(links[1]),
                "nvlinks_per_gpu": int(links[2]),
                "nvlink_gb_per_s": number_or_none(links[3]),
            }
    if not check.results and not started:
        reading.refuse("oci-check-not-understood" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no check")
        return
    passed = sum(check.results.values())
    check.figures |= {"checks": len(check.results), "passed": passed, "failed": len(check.results) - passed}
    reading.records.append(check)
    reading.counted = len(check.results)
    if reading.notes:
        reading.end(Status.FAILED, reading.notes[0].text)
    elif not finished:
        reading.end(Status.TRUNCATED, "the closing line is missing")


def _read_scan(text: str, reading: Reading[OciCheck]) -> None:
    data = read_json(text, reading)
    if data is None:
        return
    parts = [one for one in (data if isinstance(data, list) else [data])[:100] if isinstance(one, dict)]
    report = next((one for one in parts if isinstance(one.get("tests"), dict)), None)
    if report is None:
        reading.refuse("oci-check-not-understood", 0, text.strip())
        reading.end(Status.REFUSED, "no report of tests")
        return
    check = OciCheck("active")
    bare = next((one for one in parts if one is not report), {})
    check.figures = _scan_figures(report, bare)
    reading.records.append(check)
    reading.counted = check.figures["gpus"] or 0
    for name, section in _sections(report).items():
        word = _word(section)
        if word:
            check.results[name] = word in {"passed", "completed", "pass"}
    failed = [name for name, passed in check.results.items() if not passed] + _failed_gpus(report)
    for name in failed:
        reading.note("oci-check-failed", 0, name)
    least, threshold = (check.figures[f"memory_bandwidth_{key}_gb_per_s"] for key in ("min", "threshold"))
    if least is not None and threshold is not None and least < threshold:
        reading.note("oci-check-warned", 0, f"memory bandwidth {least:g} GB/s, the threshold is {threshold:g} GB/s")
    warm = check.figures["temperature_warnings"]
    if warm:
        reading.note("oci-check-warned", 0, f"temperature of {warm} GPUs is a warning")
    if check.figures["final_result"] is None:
        reading.end(Status.TRUNCATED, "no final result")
    elif check.figures["final_result"].lower() not in {"pass", "passed"} or failed:
        reading.end(Status.FAILED, ", ".join(failed) or f"final result {check.figures['final_result']}")


def _sections(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    tests: dict[str, Any] = report["tests"]
    return {str(name)[:100]: section for name, section in list(tests.items())[:1000] if isinstance(section, dict)}


def _failed_gpus(report: dict[str, Any]) -> list[str]:
    """Return sections and GPUs whose own word is a failure, whatever the word over all says."""
    found = []
    for name, section in _sections(report).items():
        inner = section.get("gpu_results", section.get("per_gpu", section))
        for gpu, one in list(inner.items())[:4096] if isinstance(inner, dict) else []:
            word = (text_of(one.get("status")) or "") if isinstance(one, dict) else ""
            if word.lower().startswith(("fail", "error")):
                found.append(f"{name} on {str(gpu)[:60]}: {word}")
    return found


def _word(section: dict[str, Any]) -> str:
    return (text_of(section.get("result")) or text_of(section.get("overall_status")) or "").lower()


def _of_gpus(section: Any, key: str) -> list[Any]:
    """Return the values of one key over the GPUs of a section."""
    inner = section.get("gpu_results", section.get("per_gpu", section)) if isinstance(section, dict) else {}
    found = (
        [one.get(key) for one in list(inner.values())[:4096] if isinstance(one, dict)]
        if isinstance(inner, dict)
        else []
    )
    return [value for value in found if value is not None]


def _numbers(section: Any, key: str) -> list[float]:
    return [
        float(value)
        for value in _of_gpus(section, key)
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


def _scan_figures(report: dict[str, Any], bare: dict[str, Any]) -> dict[str, Any]:
    tests = _sections(report)
    info, machine = report.get("gpu_info"), report.get("machine_metadata")
    compute, memory = tests.get("compute_throughput", {}), tests.get("memory_bandwidth", {})
    tflops, bandwidth = _numbers(compute, "tflops"), _numbers(memory, "bandwidth_gbps")
    sustained = _numbers(tests.get("sustained_workload"), "effective_tflops")
    mfu = _numbers(tests.get("model_mfu"), "mfu_percentage")
    thresholds = set(_numbers(memory, "threshold_gbps"))
    total = compute.get("total_tflops")
    temperatures = [str(word) for word in _of_gpus(tests.get("gpu_temperature_check"), "status")]
    return {
        "gpus": whole_number(info.get("gpu_count")) if isinstance(info, dict) else None,
        "gpu": text_of(info.get("gpu_name")) if isinstance(info, dict) else None,
        "final_result": text_of(report.get("final_result")),
        "dtype": text_of(report.get("dtype")),
        "compute_tflops_min": min(tflops, default=None),
        "compute_tflops_max": max(tflops, default=None),
        "compute_tflops_total": total if isinstance(total, int | float) and not isinstance(total, bool) else None,
        "memory_bandwidth_min_gb_per_s": min(bandwidth, default=None),
        "memory_bandwidth_max_gb_per_s": max(bandwidth, default=None),
        "memory_bandwidth_threshold_gb_per_s": thresholds.pop() if len(thresholds) == 1 else None,
        "sustained_tflops_min": min(sustained, default=None),
        "sustained_tflops_max": max(sustained, default=None),
        "mfu_percent_min": min(mfu, default=None),
        "mfu_percent_max": max(mfu, default=None),
        "error_detection_passed": sum(str(one) == "passed" for one in _of_gpus(tests.get("error_detection"), "status")),
        "temperature_warnings": sum("WARNING" in word for word in temperatures),
        "topology": _topology(tests.get("gpu_topology")),
        # neither peak nor average is said: shown, never judged
        "nccl": {
            str(name)[:60]: figure for name, value in list(bare.items())[:100] if (figure := _first(value)) is not None
        },
        "region": text_of(machine.get("region")) if isinstance(machine, dict) else None,
    }


def _first(value: Any) -> float | None:
    one = value[0] if isinstance(value, list) and value else value
    return number_or_none((text_of(one) or "").strip())


def _topology(section: Any) -> dict[str, Any] | None:
    raw = section.get("raw") if isinstance(section, dict) else None
    if not isinstance(raw, str):
        return None
    found = topo.summarise(topo.read(raw))
    return {key: found[key] for key in ("gpus", "nics", "gpu_gpu", "gpu_nic")} if found else None


def summarise(reading: Reading[OciCheck]) -> dict[str, Any]:
    """Return the figures of the check."""
    return dict(reading.records[0].figures) if reading.records else {}
