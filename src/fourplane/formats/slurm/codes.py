"""Codes of what the parsers of Slurm's tools refuse and note."""

from __future__ import annotations

from fourplane.base.codes import define, find

__all__ = ["find"]

_SACCT = "https://slurm.schedmd.com/sacct.html"
_TRES = "https://slurm.schedmd.com/tres.html"
_GRES = "https://slurm.schedmd.com/gres.html"
_REST = "https://slurm.schedmd.com/rest.html"
_SCONTROL = "https://slurm.schedmd.com/scontrol.html"
_CONF = "https://slurm.schedmd.com/slurm.conf.html"
_STATES = "https://slurm.schedmd.com/job_state_codes.html"
_JOBSTATS = "https://github.com/PrincetonUniversity/jobstats"

# tables

define(
    "slurm-columns-unnamed",
    "A table has no heading, and nothing else says what its columns are",
    "Columns are named by the heading alone: three durations or two counts side by side look the same, and a guess "
    "would turn a time limit into a run time.",
    "Run the command again without -n / -h, or name the columns when reading.",
    _SACCT,
    "O2",
)
define(
    "slurm-row-width",
    "A row has more or fewer cells than the heading",
    "A name that holds the delimiter or a line end, or a cut line. It can be put together only when one column alone "
    "holds free text; otherwise every cell after the break would stand under the wrong heading.",
    "Export with a delimiter that no name holds, such as sacct -P --delimiter=$'\\x1f', or as JSON.",
    _SACCT,
    "O2",
)
define(
    "slurm-row-not-understood",
    "A row doesn't hold what its columns must hold",
    "The cells fit in number and not in kind: a row that has shifted, or a line of something else.",
    "Look at the row; export again with an unlikely delimiter or as JSON.",
    _SACCT,
    "O2",
)
define(
    "slurm-line-not-understood",
    "A line belongs to no record",
    "Banners, prompts and warnings of other programs end in files that were copied from a terminal.",
    "Nothing is lost when it is a banner; otherwise export again into a file.",
)
define(
    "slurm-value-cut",
    "A value was cut by the width of its column",
    "Without -P, Slurm's tools cut values at the column's width; what is cut can't be told from a whole value in "
    "general, so it isn't used.",
    "Export with -P, or with a wider column, such as --format=JobID%40.",
    _SACCT,
    "O2",
)

# sacct

define(
    "sacct-window-clipped",
    "The listing was made with -T: times are clipped to its window",
    "With --truncate sacct replaces Start and End by the borders of the window; a running job gets an end that it "
    "never had, and its elapsed time shrinks.",
    "Run sacct without -T and let the reader split intervals.",
    _SACCT,
    "O2",
)
define(
    "sacct-row-repaired",
    "A row was put together again around its one column of free text",
    "A name or comment holds the delimiter or a line end. One column alone can hold such text, so the row has one "
    "reading only.",
    "Nothing to do; an unlikely delimiter, or JSON, avoids it.",
    _SACCT,
)
define(
    "sacct-bytes-not-text",
    "A cell holds bytes that aren't UTF-8",
    "Job names are bytes for Slurm. The row is whole; the bytes are shown as escapes.",
    "Nothing to do, unless the name is used as a key elsewhere.",
)
define(
    "sacct-state-unknown",
    "A state that Slurm's manual doesn't know",
    "Mapped to a known state it would count as success or as failure; dropped, its GPU-hours would vanish.",
    "Check the version of Slurm, or what wrote the file.",
    _STATES,
    "O2",
)
define(
    "sacct-end-missing",
    "A job has ended and has no end",
    "An interval without an end would run to now. A lost slurmctld or node leaves such runaway jobs; slurmdbd keeps "
    "them open.",
    "List them with sacctmgr show runawayjobs and let it mend them.",
    "https://slurm.schedmd.com/sacctmgr.html",
    "O2",
)
define(
    "sacct-times-contradict",
    "Start, End and Elapsed of a row contradict each other",
    "GPU-hours follow from them: at least one is wrong.",
    "Compare with scontrol show job or the controller's log.",
    _SACCT,
    "O2",
)
define(
    "sacct-without-allocation",
    "Steps are listed without the row of their allocation",
    "The allocation row is the authority for what a job held; steps may hold less, and may overlap.",
    "Export without filters that drop allocations, or accept that GPU-hours of the job are unknown.",
    _SACCT,
)
define(
    "slurm-gpu-not-tracked",
    "GPUs were asked for, and accounting records none",
    "AccountingStorageTRES doesn't list gres/gpu, so slurmdbd never learns of GPUs: after a job has ended nothing can "
    "say what it held. The number is unknown, not 0.",
    "Add gres/gpu (and typed keys such as gres/gpu:h100) to AccountingStorageTRES and restart slurmctld; jobs before "
    "that stay unknown.",
    _TRES,
    "O2",
)
define(
    "slurm-gpu-count-unread",
    "A count of GPUs can't be read",
    "The TRES string was cut, or gives two counts for one key.",
    "Export with -P or as JSON.",
    _TRES,
)

# scontrol, sinfo, configuration

define(
    "slurm-key-twice",
    "A key comes twice in one record, with different values",
    "In one-line form a job's name or comment can hold text that looks like a key; which value is Slurm's own can't be "
    "told, so the key is unknown.",
    "Use the block form, without -o, or JSON.",
    _SCONTROL,
)
define(
    "slurm-record-elided",
    "Parts of a record are left out",
    "Someone shortened the text with dots; what is missing is unknown.",
    "Import the command's whole output.",
    _SCONTROL,
)
define(
    "slurm-node-unavailable",
    "A node is drained, down or failing",
    "Its GPUs are paid for and take no work; the reason says what Slurm or an operator saw.",
    "Mend the cause and resume it: scontrol update nodename=NAME state=resume.",
    _SCONTROL,
    "O1",
)
define(
    "slurm-gres-not-in-tres",
    "A node has GPUs that its TRES don't name",
    "gres/gpu isn't in AccountingStorageTRES: jobs get GPUs, and accounting doesn't see them.",
    "Add gres/gpu to AccountingStorageTRES.",
    _TRES,
    "O2",
)
define(
    "slurm-conf-directive-repeated",
    "A directive is given more than once with different values",
    "Slurm takes the last one; parts of several files pasted together mean something else.",
    "Keep one of them.",
    _CONF,
)
define(
    "slurm-conf-line-refused",
    "A line of a configuration isn't KEY=VALUE",
    "slurmctld refuses to start with such a line, or it isn't a line of that file.",
    "Compare with the manual of the file.",
    _CONF,
)
define(
    "slurm-conf-gpu-not-tracked",
    "The configuration has GPUs and accounting doesn't track them",
    "Without gres/gpu in AccountingStorageTRES no finished job can be billed for its GPUs.",
    "Set AccountingStorageTRES=gres/gpu,gres/gpu:TYPE.",
    _GRES,
    "O2",
)

# JSON

define(
    "slurm-api-error",
    "Slurm's API reports an error",
    "slurmrestd answers with an empty list beside its errors, for instance when a token is not accepted: empty isn't "
    "idle.",
    "Read the error; renew the token or repair the plugin.",
    _REST,
)
define(
    "slurm-document-cut",
    "The JSON document ends inside a record",
    "The last record lacks everything behind the cut, such as its allocation or end.",
    "Save the whole answer; curl --fail shows when it was broken off.",
    _REST,
)
define(
    "slurm-record-refused",
    "An entry of the document isn't a record of its kind",
    "It lacks its id, or has another type: nothing in it can be attributed.",
    "Compare with the OpenAPI description of that version.",
    _REST,
)

# others

define(
    "jobstats-blob-refused",
    "A jobstats blob can't be unpacked",
    "It isn't base64 of gzip of JSON, was cut by AdminComment's length, or unpacks beyond the bound.",
    "Read it from Prometheus, or from the external database of jobstats.",
    _JOBSTATS,
    "O2",
)
define(
    "jobstats-no-samples",
    "jobstats has no samples of a job",
    "JS1:Short and JS1:None mean that nothing was measured; they are not zero utilisation.",
    "Nothing to do for short jobs; otherwise check the exporters on the nodes.",
    _JOBSTATS,
    "O2",
)
define(
    "slurm-test-cases",
    "A list of test cases is no measurement",
    "Pairs of TRES strings and counts come from the unit tests of a tool; no cluster is behind them.",
    "Nothing to do.",
)
