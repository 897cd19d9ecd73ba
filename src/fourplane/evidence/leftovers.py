"""What lies in the folder without a manifest: the remains of one interrupted write, or something foreign.

A writer commits one thing at a time, its files first and their manifest last. So a crash leaves files of exactly
one begin, step or end, of a run that could take it, plus temporary files. Everything else came from outside.
"""

from __future__ import annotations

from dataclasses import dataclass

from fourplane.evidence.chain import Chain
from fourplane.evidence.folder import Listing
from fourplane.evidence.layout import CHAIN, HEAD, LOCK, RUNS, TMP, Kind, folder_place, place
from fourplane.evidence.manifest import FileEntry

__all__ = ["Leftovers", "sort_out"]


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Paths without a manifest.

    Attributes:
        temporary: unfinished files in ``tmp/``.
        files: files of the interrupted write.
        folders: folders that only it needed, parents first.
        foreign: files and folders that no interrupted write explains.
    """

    temporary: tuple[str, ...]
    files: tuple[str, ...]
    folders: tuple[str, ...]
    foreign: tuple[str, ...]


def sort_out(chain: Chain, listing: Listing) -> Leftovers:
    """Tell the remains of an interrupted write from what came from outside.

    The listing must be taken before the chain is read: then a record committed in between is in the chain.
    """
    known = {parent for path in chain.files for parent in _parents(path)} | {CHAIN, RUNS, TMP}
    temporary, files, foreign = [], [], []
    for path in listing.files:
        spot = place(path)
        if path in chain.files or path in (HEAD, LOCK) or (spot and spot.kind is Kind.ENTRY):
            continue
        if spot is None:
            foreign.append(path)
        elif spot.kind is Kind.TEMPORARY:
            temporary.append(path)
        else:
            files.append(path)
    folders: list[str] = []
    for path in listing.folders:
        if path not in known:
            (folders if folder_place(path) is not None else foreign).append(path)
    if not _one_write(chain, files, folders):
        foreign += files + folders
        files, folders = [], []
    return Leftovers(tuple(temporary), tuple(files), tuple(folders), tuple(sorted(foreign)))


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def _one_write(chain: Chain, files: list[str], folders: list[str]) -> bool:
    """Tell whether all paths can belong to one begin, step or end that was still possible."""
    spots = [spot for path in files if (spot := place(path)) is not None]
    below = [spot for path in folders if (spot := folder_place(path)) is not None]
    runs = {spot.run for spot in (*spots, *below)}
    if len(runs) > 1:
        return False
    run = next((run for run in chain.runs.values() if run.name in runs), None)
    kinds = {spot.kind for spot in spots}
    if run is None:
        return kinds <= {Kind.PLAN} and all(path.count("/") == 1 for path in folders)
    steps = {spot.step for spot in (*spots, *below) if spot.step}
    if run.end is not None or len(steps) > 1 or steps & {_step_name(entry.files) for entry in run.steps.values()}:
        return False
    return kinds <= {Kind.STEP, Kind.RAW} or (kinds == {Kind.END} and not folders)


def _step_name(files: tuple[FileEntry, ...]) -> str:
    for one in files:
        spot = place(one.path)
        if spot is not None and spot.kind is Kind.STEP:
            return spot.step
    return ""
