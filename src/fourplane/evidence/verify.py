"""The whole evidence folder held against its manifests: every byte, every file, and nothing besides."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fourplane.base.errors import StoreError, UsageError
from fourplane.base.findings import Finding, Level, sorted_findings
from fourplane.base.text import plural
from fourplane.evidence import codes
from fourplane.evidence.chain import Chain, finding, load_chain
from fourplane.evidence.folder import Listing, NotPlainError, list_folder, sha256_of
from fourplane.evidence.layout import FIRST_PREV, HEAD, RUNS, end_path, run_path, step_path
from fourplane.evidence.leftovers import sort_out
from fourplane.evidence.manifest import FileEntry
from fourplane.evidence.reading import read_run, step_observations

__all__ = ["verify_folder"]

_ANCHOR = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})", re.ASCII)


def verify_folder(root: Path, *, head: str | None = None) -> list[Finding]:
    """Verify the evidence below ``root``; never raises on what the folder holds.

    Args:
        root: the evidence folder.
        head: a head hash written down earlier: it must be the newest or an earlier manifest of this chain, which
            then vouches for everything up to it. Without it a chain that was rewritten as a whole goes unnoticed.

    Returns:
        findings, errors first; none when intact.

    Raises:
        UsageError: ``head`` is not a SHA-256, or nothing was ever recorded here.
    """
    anchor = _anchor(head)
    # the folder is listed before the chain is read: what a writer commits meanwhile is then no stranger
    listing = list_folder(root)
    chain = load_chain(root)
    if chain.blank:
        raise UsageError(codes.ABSENT.code, f"there is no evidence in {root}", codes.ABSENT.fix)
    findings = list(chain.problems)
    if chain.behind:
        text = f"HEAD has not reached manifest {chain.head.seq} yet."
        findings.append(finding(codes.HEAD_BEHIND, root, HEAD, text, level=Level.INFO))
    if anchor is not None and anchor not in {FIRST_PREV, *(entry.sha256 for entry in chain.entries)}:
        text = "The head hash written down earlier is not in this chain."
        findings.append(finding(codes.HEAD_UNKNOWN, root, HEAD, text, found=chain.head.sha256, expected=anchor))
    bad = _check_files(root, chain, findings)
    _check_records(root, chain, bad, findings)
    _check_listing(root, chain, listing, findings)
    return sorted_findings(dict.fromkeys(findings))


def _anchor(head: str | None) -> str | None:
    if head is None:
        return None
    match = _ANCHOR.fullmatch(head.strip())
    if match is None:
        text = f"{head.strip()[:80]!r} is not a SHA-256 of 64 hex digits"
        raise UsageError(codes.HEAD_MALFORMED.code, text, codes.HEAD_MALFORMED.fix)
    return match[1].lower()


def _check_files(root: Path, chain: Chain, findings: list[Finding]) -> set[str]:
    """Hash every committed file; return the paths that are not as committed."""
    problems: dict[str, Finding] = {}
    missing: set[str] = set()
    for path, entry in chain.files.items():
        problem = _check_file(root, entry)
        if problem is not None:
            problems[path] = problem
            if problem.code == codes.FILE_MISSING.code:
                missing.add(path)
    for run in chain.runs.values():
        own = {f.path for entry in (run.begin, *run.steps.values(), run.end) if entry for f in entry.files}
        if own and own <= missing:
            text = f"Run {run.id} is gone: none of its {plural(len(own), 'file')} is there."
            findings.append(finding(codes.RUN_MISSING, root, f"{RUNS}/{run.name}", text))
    findings += problems.values()
    return set(problems)


def _check_file(root: Path, entry: FileEntry) -> Finding | None:
    try:
        digest, size = sha256_of(root, entry.path)
    except FileNotFoundError:
        return finding(codes.FILE_MISSING, root, entry.path, "A recorded file is gone.", expected=entry.sha256)
    except NotPlainError as error:
        return finding(codes.NOT_A_FILE, root, entry.path, f"Not a plain file: {error}.")
    except OSError as error:
        text = f"A recorded file cannot be read: {error.strerror or error}."
        return finding(codes.FILE_UNREADABLE, root, entry.path, text)
    if (digest, size) == (entry.sha256, entry.bytes):
        return None
    text = "A recorded file was changed."
    return finding(
        codes.FILE_CHANGED,
        root,
        entry.path,
        text,
        found=f"{plural(size, 'byte')}, sha256 {digest}",
        expected=f"{plural(entry.bytes, 'byte')}, sha256 {entry.sha256}",
    )


def _check_records(root: Path, chain: Chain, bad: set[str], findings: list[Finding]) -> None:
    """Read every record whose bytes are right: what verify lets pass, a reader can read."""
    for run in chain.runs.values():
        if not {run_path(run.id), end_path(run.id)} & bad:
            _try(root, run_path(run.id), findings, partial(read_run, root, chain, run))
        for step in run.steps:
            path = step_path(run.id, step)
            if path not in bad:
                _try(root, path, findings, partial(step_observations, root, chain, run.id, step))


def _try(root: Path, path: str, findings: list[Finding], read: Callable[[], object]) -> None:
    try:
        read()
    except StoreError as error:
        findings.append(finding(codes.MALFORMED, root, path, f"A record cannot be understood: {error.message}."))


def _check_listing(root: Path, chain: Chain, listing: Listing, findings: list[Finding]) -> None:
    for path in listing.odd:
        text = "A link or special file lies in the evidence folder."
        findings.append(finding(codes.NOT_A_FILE, root, path, text, expected="plain files and folders"))
    for path, reason in listing.unreadable:
        findings.append(finding(codes.FILE_UNREADABLE, root, path, f"A folder cannot be listed: {reason}."))
    rest = sort_out(chain, listing)
    for path in (*rest.temporary, *rest.files, *rest.folders):
        text = "An interrupted write left this behind; it was never evidence."
        findings.append(finding(codes.LEFTOVER, root, path, text, level=Level.INFO))
    for path in rest.foreign:
        findings.append(finding(codes.FILE_EXTRA, root, path, "No manifest names this."))
