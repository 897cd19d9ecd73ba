"""Codes of the evidence store: what keeps it from being read, and what ``evidence verify`` finds."""

from __future__ import annotations

from fourplane.base.codes import define

__all__ = [
    "ABSENT",
    "CHAIN_BROKEN",
    "DAMAGED",
    "ENTRY_DAMAGED",
    "ENTRY_MISSING",
    "FILE_CHANGED",
    "FILE_EXTRA",
    "FILE_MISSING",
    "FILE_UNREADABLE",
    "HEAD_BEHIND",
    "HEAD_DAMAGED",
    "HEAD_MALFORMED",
    "HEAD_MISMATCH",
    "HEAD_MISSING",
    "HEAD_UNKNOWN",
    "LEFTOVER",
    "LOCKED",
    "MALFORMED",
    "NAME_REFUSED",
    "NOT_A_FILE",
    "OBSERVATION_REFUSED",
    "OBSERVATION_TWICE",
    "RAW_UNKNOWN",
    "READ_ONLY",
    "RUN_EXISTS",
    "RUN_MISSING",
    "RUN_STATE",
    "RUN_UNKNOWN",
    "STEP_RECORDED",
    "TOO_LARGE",
    "WRITE_FAILED",
]

_VERIFY = "Run `fourplane evidence verify`, and put back the files that it names from a copy."
_RESTORE = "Put the file back from a copy; without one, move the evidence folder away and measure again."

# what stops a verb

ABSENT = define(
    "evidence-absent",
    "There is no evidence in this workspace",
    "Nothing was recorded here, or the folder was removed as a whole; an empty place proves nothing either way.",
    "Run `fourplane prove` in the workspace, or name another one with -C DIR.",
    requirement="N2",
)
LOCKED = define(
    "evidence-locked",
    "Another process writes to this evidence store",
    "One writer at a time holds an exclusive flock on the evidence folder, so that numbered manifests never fork.",
    "Wait until the other run ends, or stop it; the lock goes with its process, no file needs removing.",
    link="https://man7.org/linux/man-pages/man2/flock.2.html",
)
READ_ONLY = define(
    "evidence-read-only",
    "The evidence store was opened for reading",
    "Only a writer holds the lock under which records may be added.",
    "Open the store with write=True.",
)
DAMAGED = define(
    "evidence-damaged",
    "The evidence store does not hold what its manifests say",
    "A stored file, a manifest or HEAD differs from what was committed; a verdict on such evidence would prove "
    "nothing, and a record added to it could hide the damage.",
    _VERIFY,
    requirement="N2",
)
WRITE_FAILED = define(
    "evidence-write-failed",
    "The file system refused a write to the evidence store",
    "Each record is written to a temporary file, synced and renamed; one of these calls failed, "
    "so nothing was recorded.",
    "Free space, mend permissions or the file system, then run again with --resume.",
    link="https://man7.org/linux/man-pages/man2/fsync.2.html",
)
TOO_LARGE = define(
    "evidence-too-large",
    "The record is larger than the store accepts",
    "Sizes are bounded so that a node that talks without end cannot fill the disk or the memory of the reader.",
    "Store a smaller extract of the raw output.",
)
NAME_REFUSED = define(
    "evidence-name-refused",
    "The name of a run, step or raw text cannot be stored",
    "Names become file names: they must be non-empty, printable, short, and not a word with its own meaning.",
    "Use letters, digits, dot, hyphen and underscore.",
)
RUN_EXISTS = define(
    "evidence-run-exists",
    "A run of that name is already on file",
    "Records are append-only; a second run under one name would make citations ambiguous.",
    "Begin the run under another name, or resume the one that exists.",
)
RUN_UNKNOWN = define(
    "evidence-run-unknown",
    "No run of that name is on file",
    "The name, or its beginning, matches no run or several.",
    "List the runs with `fourplane evidence list`.",
)
RUN_STATE = define(
    "evidence-run-ended",
    "The run has ended and takes no more records",
    "Its end was committed with a summary; a record added later would not be covered by it.",
    "Begin a new run.",
)
STEP_RECORDED = define(
    "evidence-step-recorded",
    "This step of the run is already recorded",
    "A resumed run repeats nothing that was finished: a step is committed once, as a whole.",
    "Skip the steps that `finished_steps` names.",
)
OBSERVATION_REFUSED = define(
    "evidence-observation-refused",
    "The observation cannot be stored",
    "Its metric is outside the vocabulary, its unit is another one, or its value is not JSON "
    "(NaN, infinity, too deep).",
    "Use a metric of `fourplane explain` with its unit, and finite numbers.",
)
OBSERVATION_TWICE = define(
    "evidence-observation-twice",
    "The run already holds an observation of this subject, metric and method",
    "The three identify an observation within a run; two of them would leave open which one counts.",
    "Tell the two apart by their method, or record only one.",
)
RAW_UNKNOWN = define(
    "evidence-raw-unknown",
    "A raw text is cited that the store does not hold",
    "A reference must lead to a committed raw file with the same hash, else the figure has no origin.",
    "Record the raw text in the same step, or cite one that is on file.",
)
HEAD_MALFORMED = define(
    "evidence-head-malformed",
    "The head hash to compare with is not a SHA-256",
    "An anchor is compared in full: a shortened one could be matched by a forged chain.",
    "Give the 64 hex digits that `fourplane evidence verify` printed earlier.",
)

# what verify finds

HEAD_MISSING = define(
    "evidence-head-missing",
    "HEAD is gone",
    "HEAD names the newest manifest; without it nobody can tell whether newer runs were removed.",
    _RESTORE,
)
HEAD_DAMAGED = define(
    "evidence-head-damaged",
    "HEAD is not what a writer leaves",
    "HEAD is replaced as a whole; bytes that do not read back as one canonical record were changed from outside.",
    _RESTORE,
)
HEAD_MISMATCH = define(
    "evidence-head-mismatch",
    "HEAD and the newest manifest disagree",
    "HEAD holds number and hash of the newest manifest and can be one behind after a crash, never elsewhere.",
    _RESTORE,
)
HEAD_BEHIND = define(
    "evidence-head-behind",
    "HEAD is one manifest behind",
    "The writer stopped between committing the newest manifest and replacing HEAD. Nothing is lost.",
    "Nothing to do: the next writer moves HEAD on.",
)
HEAD_UNKNOWN = define(
    "evidence-head-unknown",
    "The head hash written down earlier is not in this chain",
    "Every manifest holds the hash of the one before, so an honest store still contains each earlier head. It was "
    "rolled back or rewritten since, or this is another store.",
    "Put back a copy that contains the hash; treat everything measured here as unproven.",
)
ENTRY_MISSING = define(
    "evidence-entry-missing",
    "A manifest is gone",
    "Manifests are numbered without gaps and HEAD names the newest; a missing number was deleted.",
    _RESTORE,
)
ENTRY_DAMAGED = define(
    "evidence-entry-damaged",
    "A manifest was changed",
    "Each manifest carries a hash over itself; it no longer fits.",
    _RESTORE,
)
CHAIN_BROKEN = define(
    "evidence-chain-broken",
    "The manifests do not follow one from another",
    "Each holds the hash of the one before, a run begins once, and its steps lie between its begin and its end. "
    "A reordered, replaced or inserted manifest breaks that.",
    _RESTORE,
)
FILE_CHANGED = define(
    "evidence-file-changed",
    "A stored file was changed",
    "Its size or SHA-256 differs from the manifest under which it was committed.",
    _RESTORE,
)
FILE_MISSING = define(
    "evidence-file-missing",
    "A stored file is gone",
    "A manifest names it, so it was there when the record was committed.",
    _RESTORE,
)
RUN_MISSING = define(
    "evidence-run-missing",
    "A whole run is gone",
    "Manifests name its files, and none of them is there.",
    _RESTORE,
)
FILE_EXTRA = define(
    "evidence-file-extra",
    "Something lies in the evidence folder that no manifest names",
    "Only a writer puts files here, each under a manifest; this one lies where no interrupted write leaves one.",
    "Look at it, then move it out of the evidence folder.",
)
NOT_A_FILE = define(
    "evidence-not-a-file",
    "A link or special file lies in the evidence folder",
    "The store holds plain files and folders only; a link could lead reads and writes out of it and is never followed.",
    "Remove the link; put back the plain file from a copy.",
)
FILE_UNREADABLE = define(
    "evidence-file-unreadable",
    "A stored file cannot be read",
    "The operating system refused: permissions, or a failing disk.",
    "Mend permissions, or restore the file from a copy.",
)
MALFORMED = define(
    "evidence-malformed",
    "A stored record cannot be understood",
    "The bytes are those that were committed, yet not a record of the store's form: an altered chain, "
    "or another version.",
    "Read the store with the version that wrote it; else treat its runs as unproven.",
)
LEFTOVER = define(
    "evidence-leftover",
    "An interrupted write left something behind",
    "A writer was stopped, or is still at work, before the manifest was committed; what lies here was never evidence.",
    "Nothing to do: the next writer removes it.",
)
