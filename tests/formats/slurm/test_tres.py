"""The one rule of GPU counts, GRES strings, and requests on command lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slurm_corpus import sample

from fourplane.formats.slurm.asking import gpus_asked, gpus_in_submit_line
from fourplane.formats.slurm.tres import (
    count_gpus,
    is_mig,
    mig_weight,
    parse_gres,
    parse_tres,
    tres_of_list,
    tres_size,
)


@pytest.mark.parametrize(
    ("tres", "gpus", "slices"),
    [
        ("gres/gpu:a100_3g.20gb=1,gres/gpu=1", 1, 1), ("gres/gpu:volta=2", 2, 0),
        ("gres/gpu:a100=1,gres/gpu:v100=2", 3, 0), ("gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2", 3, 0),
        ("gres/gpu=1,gres/gpumem=40777023488,gres/gpuutil=100", 1, 0), ("gres/gpuutil=100,gres/gpumem=36266M", 0, 0),
        ("gres/shard=8,gres/shard:h100=8", 0, 0), ("", 0, 0), ("cpu=1,gres/cpu=9,node=4", 0, 0),
        ("GRES/gpu=2", 2, 0), ("gres/gpu=4,gres/gpu=4", 4, 0), ("gres/gpu:1g.10gb+me=7", 7, 7),
        ("gres/gpu=2K", 2048, 0),
    ],
)  # fmt: skip
def test_gpus_are_counted_by_the_total_else_by_the_typed_keys(tres: str, gpus: int, slices: int) -> None:
    found = count_gpus(tres)
    assert found is not None
    assert (found.gpus, found.mig_slices) == (gpus, slices)


@pytest.mark.parametrize("tres", ["gres/gpu=", "gres/gpu=x", "gres/gpu=1,gres/gpu=2", "gres/gpu:a=1.5", "gres/gpu=-1"])
def test_a_count_that_cannot_be_read_is_unknown_and_not_zero(tres: str) -> None:
    assert count_gpus(tres) is None


def test_the_rule_passes_the_published_cases() -> None:
    for tres, expected in json.loads(sample("xdmod_alloc_tres_gpu_count_cases.json")):
        found = count_gpus(tres)
        assert found is not None
        assert found.gpus == expected, tres


@given(
    types=st.dictionaries(st.sampled_from(["h100", "a100", "gb200", "a100_1g.5gb", "mi300x"]), st.integers(0, 9999)),
    total=st.booleans(),
    noise=st.lists(
        st.sampled_from(["cpu=1", "gres/gpumem=9", "gres/gpuutil=99", "gres/shard=4", "mem=1T"]), unique=True
    ),
    dice=st.randoms(use_true_random=False),
)
def test_order_and_neighbours_do_not_change_the_count(
    types: dict[str, int], total: bool, noise: list[str], dice: Any
) -> None:
    parts = [f"gres/gpu:{kind}={count}" for kind, count in types.items()] + noise
    if total:
        parts.append(f"gres/gpu={sum(types.values())}")
    dice.shuffle(parts)
    found = count_gpus(",".join(parts))
    assert found is not None
    assert found.gpus == sum(types.values())
    assert found.mig_slices == types.get("a100_1g.5gb", 0)


def test_slices_have_a_weight() -> None:
    found = count_gpus("gres/gpu:h100_3g.40gb=2,gres/gpu:h100=1")
    assert found is not None
    assert found.mig_gpus == pytest.approx(6 / 7)
    assert mig_weight("a30_2g.12gb") == pytest.approx(0.5)
    assert mig_weight("nvidia_h100_80gb_hbm3") == 1.0
    assert not is_mig("nvidia_a100_80gb")


def test_json_lists_drop_counts_that_are_marks() -> None:
    entries = [
        {"type": "energy", "name": "", "count": -2},
        {"type": "gres", "name": "gpu:h100", "count": 2},
        {"type": "gres", "name": "gpu", "count": {"set": True, "infinite": False, "number": 2}},
        {"type": "gres", "name": "gpu:x", "count": {"set": False, "infinite": True, "number": 9}},
        {"type": "mem", "name": None, "count": True}, "text",
    ]  # fmt: skip
    assert tres_of_list(entries) == {"gres/gpu:h100": "2", "gres/gpu": "2"}
    assert tres_of_list(None) is None


def test_memory_in_tres_is_mib_without_a_suffix() -> None:
    assert tres_size(parse_tres("mem=2")) == 2 * 1024**2
    assert tres_size(parse_tres("mem=250.5G")) == 250.5 * 1024**3
    assert tres_size(parse_tres("cpu=2")) is None


@pytest.mark.parametrize(
    ("text", "gpus", "slices", "index"),
    [
        ("gpu:h100:8(S:0-1)", 8, 0, None), ("gpu:8", 8, 0, None), ("gpu:(null):0(IDX:N/A)", 0, 0, None),
        ("gpu:tesla:3(IDX:0,2-3)", 3, 0, "0,2-3"), ("gpu:a:2(IDX:0-1),gpu:b:1(IDX:2)", 3, 0, "0-1,2"),
        ("gpu:nvidia_a100_1g.5gb:21", 0, 21, None), ("mig:a100_3g.40gb:7,gpu:h100:4,shard:8(-/5,5/5)", 4, 7, None),
        ("mig:a100_3g.40gb:7,gpu:h100:4", 4, 7, None), ("gres:gpu:h100:8", 8, 0, None),
        ("gres/gpu:h100=8", 8, 0, None),
        ("gpu:h100:1,shard:h10", 1, 0, None), ("shard:8", 0, 0, None),
        ("gpu:nvidia_h100_80gb_hbm3:1(S:0)", 1, 0, None),
    ],
)  # fmt: skip
def test_gres_strings(text: str, gpus: int, slices: int, index: str | None) -> None:
    found = parse_gres(text)
    assert found is not None
    assert (found.gpus, found.slices, found.index) == (gpus, slices, index)


def test_a_type_without_count_is_unknown() -> None:
    found = parse_gres("gpu:h100")
    assert found is not None
    assert found.gpus is None


@pytest.mark.parametrize("text", ["", "mixed", "gpu h100", "(null)", "a" * 20_000, "gpu:h100:8(", "::", "n[1-4]"])
def test_what_is_no_gres_is_none(text: str) -> None:
    assert parse_gres(text) is None


@pytest.mark.parametrize(
    ("line", "nodes", "asked"),
    [
        ("sbatch --gpus 4", None, 4), ("sbatch -G4 x", None, 4), ("sbatch --gpus=h100:2,h200:1 x", None, 3),
        ("sbatch --gpus-per-node h100:1,h200:1", 1, 2), ("srun -N2 --gres=gpu:h100:8,shard:2 x", None, 16),
        ("srun --gres=gpu x", 3, 3), ("sbatch --gpus-per-task=2 -n 8 x", None, 16),
        ("sbatch --gres=shard:4", None, 0),
        ("sbatch --tres-per-task=cpu:4,gres/gpu:1 -n4 x", None, 4),
        ("sbatch --ntasks 128 --begin now+1hour", None, 0),
        ("sbatch my--gpus.sh", None, 0), ("", None, 0),
    ],
)  # fmt: skip
def test_requests_on_a_submit_line(line: str, nodes: int | None, asked: int) -> None:
    assert gpus_in_submit_line(line, nodes) == asked


def test_gres_per_node_of_old_versions_is_multiplied() -> None:
    assert gpus_asked("", "PER_NODE:gpu:8", 4) == 32
    assert gpus_asked("", "", 4) == 0


@given(st.text(max_size=200))
def test_any_text_is_read_or_left(text: str) -> None:
    found = count_gpus(text)
    assert found is None or found.gpus >= 0
    gres = parse_gres(text)
    assert gres is None or gres.entries
    assert gpus_in_submit_line(text) >= 0
