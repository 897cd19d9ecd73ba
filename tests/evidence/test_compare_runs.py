from __future__ import annotations

import pytest
from evidence_samples import absent, seen

from fourplane.evidence.compare import Change, compare, is_figure


def test_drift_of_facts_comes_first_then_figures_by_how_far_they_moved() -> None:
    first = [
        seen("storage.io.random_read", 1000.0, "1/s"),
        seen("network.allreduce.busbw_peak", 2.0, "GB/s", subject="cluster"),
        seen("compute.kernel.version", "5.15"),
        seen("compute.memory.total", 100, "B"),
        seen("compute.cpu.cores", 2),
        absent("compute.gpu.count", "none"),
        seen("compute.os.image", "old"),
    ]
    second = [
        seen("storage.io.random_read", 1100.0, "1/s"),
        seen("network.allreduce.busbw_peak", 1.0, "GB/s", subject="cluster"),
        seen("compute.kernel.version", "6.1"),
        seen("compute.memory.total", 90, "B"),
        seen("compute.cpu.cores", 2),
        seen("compute.gpu.count", 8),
        seen("compute.container.runtime", "podman"),
    ]
    found = [(one.metric, one.change, one.relative) for one in compare(first, second)]
    assert found == [
        ("compute.container.runtime", Change.ADDED, None),
        ("compute.gpu.count", Change.CHANGED, None),
        ("compute.kernel.version", Change.CHANGED, None),
        ("compute.memory.total", Change.CHANGED, pytest.approx(-0.1)),
        ("compute.os.image", Change.REMOVED, None),
        ("network.allreduce.busbw_peak", Change.CHANGED, pytest.approx(-0.5)),
        ("storage.io.random_read", Change.CHANGED, pytest.approx(0.1)),
    ]


def test_a_run_against_itself_differs_in_nothing() -> None:
    run = [seen("compute.cpu.cores", 2), absent("compute.gpu.count", "first reason")]
    other = [seen("compute.cpu.cores", 2, method="other"), absent("compute.gpu.count", "another reason")]
    assert compare(run, run) == [] == compare(run, other)


def test_the_latest_word_of_each_run_counts_and_zero_has_no_ratio() -> None:
    first = [seen("network.allreduce.wrong", 5), seen("network.allreduce.wrong", 0, method="b", minute=1)]
    (one,) = compare(first, [seen("network.allreduce.wrong", 3)])
    assert one.before is not None and one.before.value == 0 and one.relative is None and not one.figure
    assert one.to_json() == {
        "subject": "node:n1",
        "metric": "network.allreduce.wrong",
        "change": "changed",
        "kind": "fact",
        "unit": "",
        "a": {"state": "measured", "value": 0, "reason": ""},
        "b": {"state": "measured", "value": 3, "reason": ""},
        "relative": None,
    }


def test_rates_and_times_are_figures_and_sizes_are_facts() -> None:
    figures = {
        "storage.checkpoint.stall",
        "network.allreduce.latency",
        "storage.scratch.free",
        "network.allreduce.curve",
    }
    assert all(is_figure(name) for name in figures)
    assert not any(
        is_figure(name) for name in ("compute.memory.total", "network.nic.speed", "compute.gpu.count", "new")
    )
