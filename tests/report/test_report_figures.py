from __future__ import annotations

from typing import Any

import pytest
import report_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.units import Dimension
from fourplane.base.verdicts import Verdict
from fourplane.catalog.facts import Catalog
from fourplane.catalog.model import Expected, Source, Subject
from fourplane.records.observation import State
from fourplane.report.figures import Band, curves, key_figures, storage_figures
from fourplane.report.view import build
from fourplane.spec.economics import Targets


def test_the_newest_curve_of_each_subject_and_method_the_cluster_first() -> None:
    later = {"at": samples.NOW}
    case = samples.make_case(
        [
            samples.observe("network.allreduce.curve", samples.curve(3.0), subject="node:a"),
            samples.observe("network.allreduce.curve", samples.curve(9.0), subject="node:a", **later),
            samples.observe("network.allreduce.curve", samples.curve(2.0), subject="node:a", method="in container"),
            samples.observe("network.allreduce.curve", samples.curve(5.0), subject="cluster"),
        ]
    )
    found = curves(case, (), ())
    assert [(c.observation.subject, c.observation.method) for c in found] == [
        ("cluster", "probe/1"),
        ("node:a", "in container"),
        ("node:a", "probe/1"),
    ]
    assert found[2].peak.busbw > 8


KEYS = st.sampled_from(["bytes", "time_us", "busbw_gbps", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=80)
@given(JSON)
def test_a_curve_of_any_json_gives_points_in_order_or_none(value: Any) -> None:
    case = samples.make_case([samples.observe("network.allreduce.curve", value)])
    for curve in curves(case, (), ()):
        sizes = [p.size for p in curve.points]
        assert sizes == sorted(set(sizes))
        assert all(p.size > 0 and p.busbw > 0 and p.time_us > 0 for p in curve.points)


def test_points_that_are_not_numbers_are_left_out() -> None:
    rows = [
        *samples.curve(),
        {"bytes": True, "time_us": 1, "busbw_gbps": 1},
        {"bytes": 7, "time_us": "1", "busbw_gbps": 1},
        "x",
    ]
    (curve,) = curves(samples.make_case([samples.observe("network.allreduce.curve", rows)]), (), ())
    assert len(curve.points) == 24


def test_needs_follow_from_the_declaration_and_judgements_from_citations() -> None:
    figures = {f.title: f for f in storage_figures(samples.laptop_case(), samples.laptop_judgements())}
    staging = figures["Dataset staging"]
    assert staging.need == pytest.approx(2e12 / (28 * 60) / 1e6)
    assert staging.need_reason == "dataset of 2 TB within a staging deadline of 28 min"
    assert staging.judgement is not None and staging.judgement.verdict is Verdict.FAILED
    assert figures["Checkpoint write"].need == pytest.approx(320)
    restore = figures["Checkpoint restore"]
    assert restore.need is None
    assert restore.need_reason == "not declared: restore time"
    assert restore.judgement is None
    assert figures["Random read, 4 KiB"].observation.state is State.SKIPPED


def test_key_figures_name_the_worst_of_several_subjects() -> None:
    rates = {"storage.checkpoint.write_throughput": (900, 300, 700), "storage.checkpoint.stall": (1, 3)}
    observations = [samples.observe(m, v, subject=f"node:n{v}") for m, values in rates.items() for v in values]
    case = samples.make_case(observations)
    write, stall = key_figures(case)
    assert (write.value, write.note) == ("300 MB/s", "worst of 3: node:n300")
    assert (stall.value, stall.note) == ("3.0 s", "worst of 2: node:n3")


def test_failed_attempts_are_no_key_figure() -> None:
    case = samples.make_case([samples.observe("storage.checkpoint.stall", None, state=State.FAILED, reason="crash")])
    assert key_figures(case) == ()


def gpu_case(method: str, transport: str = "nvls", model: str = "NVIDIA H100 80GB HBM3", **conditions: str) -> Any:
    source = Source("s", "Some measurement", "https://example.org", samples.NOW.date())
    figure = Expected("all_reduce", "h100-sxm", 8, 1, ("nvls",), 2**26, 470.0, 480.0, "measured", (source,))
    catalog = Catalog([Subject("h100-sxm", "gpu", "NVIDIA H100 80GB HBM3")], [figure])
    observations = [
        samples.observe("network.allreduce.curve", samples.curve(400), method=method, conditions=conditions),
        samples.observe("network.allreduce.transport", transport),
        samples.observe("network.allreduce.world_size", 8),
        *(samples.observe("compute.gpu.model", model, subject=f"node:n1/gpu:{i}") for i in range(8)),
    ]
    return samples.make_case(observations, catalog=catalog)


def test_published_figures_stand_beside_a_curve_of_exactly_their_case() -> None:
    (curve,) = curves(gpu_case("nccl-tests 2.17"), (), ())
    assert [(b.label, b.low, b.high, b.size) for b in curve.bands] == [("published", 470.0, 480.0, 2**26)]
    assert "Some measurement" in curve.bands[0].source


@pytest.mark.parametrize(
    "case",
    [
        gpu_case("openmpi 5.0.11", device="cpu"),
        gpu_case("nccl-tests", transport="socket"),
        gpu_case("nccl-tests", model="GeForce"),
    ],
    ids=["cpu ranks", "other transport", "other gpu"],
)
def test_published_figures_of_another_case_are_not_shown(case: Any) -> None:
    (curve,) = curves(case, (), ())
    assert curve.bands == ()


def test_the_declared_target_is_a_band_of_every_curve() -> None:
    targets = Targets(all_reduce_busbw=samples.quantity("360 GB/s", Dimension.RATE))
    case = samples.make_case([samples.observe("network.allreduce.curve", samples.curve())], targets=targets)
    view = build(case, samples.laptop_review())
    assert view.curves[0].bands == (Band("declared target", 360.0, None, "fourplane.yaml:1:1"),)
