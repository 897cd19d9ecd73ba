"""What a run of nccl-tests amounts to: its collective, whether its ranks formed one world, how it ended, bad news.

Ranks that do not find each other (nccl-tests built without MPI, or the wrong PMI) run side by side: every one is rank
0 of its own world, all print the same table, and their bus bandwidth is zero or that of one node. Such a log holds
figures, and none of them is a bandwidth between nodes.
"""

from __future__ import annotations

from itertools import pairwise

from fourplane.formats.model import Reading, Status
from fourplane.formats.nccl_log import Transports
from fourplane.formats.nccl_model import NcclRow, NcclRun
from fourplane.formats.nccl_rows import TYPE_BYTES

__all__ = ["SIDE_BY_SIDE", "infer_operation", "judge", "note_faults", "note_warnings", "side_by_side"]

SIDE_BY_SIDE = "several worlds ran side by side (nccl-tests built without MPI, or the wrong PMI)"

CLIFF = 0.5
"""A size that reaches less than this share of the bandwidth of the size before is a cliff."""
_LEAST_BUSBW = 1.0  # GB/s; below it two decimals and start-up time make any ratio
_GAP = 1.5
_NAMED = 20

# ibv_wc_status of libibverbs: what a completion with this status means
_COMPLETIONS = {
    4: "local protection error", 5: "work request flushed after an earlier error", 9: "remote rejected the request",
    10: "remote access error", 11: "remote operation error", 12: "transport retries exceeded, the other end does not "
    "answer", 13: "receiver not ready, retries exceeded",
}  # fmt: skip


def infer_operation(run: NcclRun) -> str:
    """Return the collective where the columns leave only one: from redop, root, elements and ratio; else ""."""
    row = max(run.rows, key=lambda one: one.size, default=None)
    if row is None or row.size == 0:
        return ""
    reduces = row.redop not in {"", "none"}
    if row.root not in {"", "-1"}:
        if reduces:
            return "reduce"
        # gather and scatter print a root as well; only broadcast moves all bytes over the busiest link
        best = max((one.out_of_place for one in run.rows), key=lambda half: half.busbw)
        return "broadcast" if best.busbw >= _LEAST_BUSBW and best.busbw == best.algbw else ""
    if not reduces:
        return ""  # all_gather, alltoall and sendrecv print the same columns
    # reduce_scatter counts the elements that one rank receives, all_reduce those of the whole buffer
    return "all_reduce" if row.count * TYPE_BYTES[row.type] == row.size else "reduce_scatter"


def side_by_side(runs: list[NcclRun]) -> bool:
    """Tell whether tables that follow each other come from ranks that never formed one world."""
    rows = [row for run in runs for row in run.rows]
    if not rows or any(row.busbw > 0 for row in rows) or not any(row.out_of_place.algbw > 0 for row in rows):
        return False
    firsts = sum(rank.rank == 0 for run in runs for rank in run.ranks)
    sizes = [row.size for row in rows if row.size > 0]
    return firsts > 1 or len(set(sizes)) < len(sizes)


def _several_worlds(run: NcclRun) -> bool:
    """Tell whether one stretch of output comes from more than one world."""
    ranks = [(rank.group, rank.rank) for rank in run.ranks]
    return len(run.speakers) > 1 or len(set(ranks)) < len(ranks)


def judge(run: NcclRun) -> tuple[Status, str]:
    """Return how the run ended, and why it is not complete."""
    if _several_worlds(run):
        return Status.NOT_ONE_WORLD, SIDE_BY_SIDE
    if run.failures:
        return Status.FAILED, run.failures[0][1]
    if run.wrong:
        return Status.FAILED, f"{run.wrong} wrong elements"
    if run.transports.error and not (run.rows and run.concluded):
        text = run.transports.warnings[0].text if run.transports.warnings else f"error {run.transports.error}"
        return Status.FAILED, f"NCCL gave up: {text}"
    reason = _what_is_missing(run)
    return (Status.TRUNCATED, reason) if reason else (Status.COMPLETE, "")


def _what_is_missing(run: NcclRun) -> str:
    if run.bad_rows:
        return "a row is cut"
    if not run.rows:
        return "no result row"
    if not run.concluded:
        return "the closing lines are missing"
    if run.elided:
        return "lines were cut out and replaced by an ellipsis"
    if not run.ranks:
        return "the lines that list the ranks are missing"
    if run.missing_ranks and run.node_count is None:
        return f"{run.missing_ranks} of {run.world_size} ranks have no line"
    return ""


def note_faults(run: NcclRun, reading: Reading[NcclRun]) -> None:
    """Note what the run shows and a reader of peaks would miss: wrong values, cliffs, holes, contradictions."""
    note_warnings(run.transports, reading)
    for line, text in run.failures:
        reading.note("nccl-run-failed", line, text)
    if not run.rows:
        if run.status is not Status.NOT_ONE_WORLD:
            reading.note("nccl-without-rows", run.line, run.reason or "no result row")
        return
    if run.wrong:
        reading.note("nccl-wrong-values", run.line, f"{run.wrong} elements came out wrong")
    if run.status is Status.NOT_ONE_WORLD:
        reading.note("nccl-not-one-world", run.line, run.reason)
        return
    if run.cpu_time:
        reading.note("nccl-cpu-time", run.rows[0].line, "times are CPU times (-C 1): nothing here is a bandwidth")
    else:
        _note_cliffs(run, reading)
    _note_sizes(run, reading)
    _note_ranks(run, reading)


def note_warnings(log: Transports, reading: Reading[NcclRun]) -> None:
    """Note the warnings of NCCL's own log; those that name a link with their link."""
    for warning in log.warnings:
        if not warning.names_a_link:
            reading.note("nccl-warning", warning.line, f"{warning.node or 'a rank'}: {warning.text}")
            continue
        ends = [
            f"{name} {value}"
            for name, value in (
                ("node", warning.node),
                ("gpu", warning.gpu),
                ("hca", warning.hca),
                ("peer", warning.peer),
            )
            if value is not None
        ]
        meaning = _COMPLETIONS.get(warning.status or 0, warning.text)
        reading.note("nccl-link-failed", warning.line, f"{', '.join(ends)}: {meaning}")
    if log.pinned_otherwise:
        names = ", ".join(sorted(log.pinned_otherwise)[:_NAMED])
        reading.note("nccl-settings-differ", 0, f"{names} pinned to different values on different ranks")


def _note_cliffs(run: NcclRun, reading: Reading[NcclRun]) -> None:
    rows = sorted((row for row in run.rows if row.size > 0), key=lambda row: (row.size, row.line))
    for before, after in pairwise(rows):
        if after.size == before.size:
            continue
        drops = [
            (name, first, second)
            for name, first, second in (
                ("out-of-place", before.out_of_place.busbw, after.out_of_place.busbw),
                ("in-place", _in_place(before), _in_place(after)),
            )
            if first is not None and second is not None and first >= _LEAST_BUSBW and second < first * CLIFF
        ]
        for name, first, second in drops:
            text = f"{after.size} bytes, {name}: {second} GB/s after {first} GB/s at {before.size} bytes"
            reading.note("nccl-cliff", after.line, text)


def _in_place(row: NcclRow) -> float | None:
    return row.in_place.busbw if row.in_place is not None else None


def _note_sizes(run: NcclRun, reading: Reading[NcclRun]) -> None:
    sizes = sorted({row.size for row in run.rows if row.size > 0})
    if not sizes:
        return
    kind, step = run.step or _usual_step(sizes)
    holes = []
    for before, after in pairwise(sizes):
        wide = after > before * step * _GAP if kind == "factor" else after - before > step * _GAP
        if step and wide:
            holes.append(f"between {before} and {after} bytes")
    most = run.settings.get("maxBytes", 0)
    if run.step is not None and most and step:
        following = sizes[-1] * step if kind == "factor" else sizes[-1] + step
        if following <= most:
            holes.append(f"above {sizes[-1]} bytes, although the run was to reach {most}")
        elif sizes[-1] > most:
            reading.note(
                "nccl-settings-contradict", run.line, f"the run was to end at {most} bytes, a row has {sizes[-1]} bytes"
            )
    if holes:
        more = f" and {len(holes) - _NAMED} more" if len(holes) > _NAMED else ""
        reading.note("nccl-size-missing", run.line, f"no row {'; '.join(holes[:_NAMED])}{more}")


def _usual_step(sizes: list[int]) -> tuple[str, float]:
    """Return the factor that most neighbours share, 0 where there is none to speak of."""
    ratios = [round(after / before, 2) for before, after in pairwise(sizes)]
    common = (
        max(set(ratios), key=lambda ratio: (ratios.count(ratio), -ratio), default=0.0) if len(ratios) < 200 else 0.0
    )
    return "factor", common if common > 1 and ratios.count(common) * 2 > len(ratios) else 0.0


def _note_ranks(run: NcclRun, reading: Reading[NcclRun]) -> None:
    if run.missing_ranks:
        missing = run.first_missing_ranks(_NAMED)
        named = ", ".join(map(str, missing)) + (", ..." if run.missing_ranks > _NAMED else "")
        reading.note("nccl-rank-missing", run.line, f"no line for rank {named}")
    stated, implied = run.world_size, run.implied_world_size
    if stated is not None and implied is not None and stated != implied:
        text = f"the ranks listed make {stated}, the ratio of busbw to algbw {implied}"
        reading.note("nccl-ranks-contradict", run.line, text)
    if len(run.gpu_models) > 1:
        reading.note("nccl-gpus-differ", run.line, ", ".join(run.gpu_models[:_NAMED]))
