"""Codes of refusals: why a piece of text was not taken over."""

from __future__ import annotations

from fourplane.base.codes import define, find

__all__ = ["find"]

_NVIDIA_SMI = "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
_NCCL_TESTS = "https://github.com/NVIDIA/nccl-tests"
_FIO = "https://fio.readthedocs.io/en/latest/fio_doc.html#json-output"
_AMD_SMI = "https://rocm.docs.amd.com/projects/amdsmi/en/latest/"

# every text

define(
    "format-text-empty",
    "The text is empty",
    "A tool that prints nothing has measured nothing; an empty file is usually a redirect of a command that never ran.",
    "Run the tool again and look at its exit status and standard error.",
)
define(
    "format-text-too-long",
    "The text is longer than a parser looks at",
    "Parsers are bounded so that no file can exhaust the memory of the machine that reads it.",
    "Split the file, or cut away what does not belong to the tool's output.",
)
define(
    "format-line-too-long",
    "A line is longer than the format allows",
    "No tool writes such a line; it is damage, or another kind of file.",
    "Check that the file is what its name says and was not copied in a binary mode.",
)
define(
    "format-not-json",
    "The text holds no complete JSON document",
    "The document was cut (the tool was killed, the disk was full), or the tool printed an error instead.",
    "Run the tool again and keep its whole output; messages before the document do no harm.",
)
define(
    "format-kind-unknown",
    "No parser knows this text",
    "Its beginning looks like none of the known formats, and a guess would turn noise into evidence.",
    "Name the kind, or check that the file holds the output of a supported tool.",
)

# lines of our own probes

define(
    "probe-too-many-lines",
    "A probe wrote more lines than are read",
    "The bound keeps a runaway probe from filling the memory of the controller.",
    "Look at the raw output; a loop in a wrapper script is usual.",
)
define(
    "probe-line-not-understood",
    "A line of a probe's output is not one of its five kinds",
    "Login banners, warnings of the shell and output of other programs can mix into the stream.",
    "Nothing is lost as long as the end line arrives; silence the source of the line where it can be found.",
)
define(
    "probe-metric-unknown",
    "A probe reports a metric outside the vocabulary",
    "Names are a contract between probes and judgement; an unknown one would be stored and never read.",
    "Use the probe that belongs to this version of Fourplane.",
)
define(
    "probe-observation-malformed",
    "An observation of a probe lacks a field or holds a value of the wrong kind",
    "A figure without time, method or finite value cannot serve as evidence.",
    "Read the raw line; report it when the probe is unchanged.",
)
define(
    "probe-unit-wrong",
    "An observation carries another unit than its metric",
    "Figures in different units must never be compared.",
    "Use the probe that belongs to this version of Fourplane.",
)
define(
    "probe-raw-refused",
    "A raw text of a probe has a bad or repeated name, or all of them are too large",
    "Raw texts become files of the evidence store: a name must not leave its folder, and the first text of it stays.",
    "Use the probe that belongs to this version of Fourplane.",
)

# nvidia-smi

define(
    "nvidia-smi-no-header",
    "The CSV of nvidia-smi has no header",
    "Without names the columns cannot be told apart, and their order is up to the caller.",
    "Call nvidia-smi with --format=csv, not with noheader.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "nvidia-smi-row-length",
    "A row of nvidia-smi's CSV has another number of cells than its header",
    "The row was cut, or a cell holds the separator; no cell of such a row can be trusted.",
    "Run the query again.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "nvidia-smi-device-lost",
    "nvidia-smi cannot reach one GPU",
    "The driver lost the device: it fell off the bus (Xid 79), needs a reset, or its firmware hangs.",
    "Read the kernel log for Xid lines, reset or power-cycle the node, and have the GPU replaced if it comes back.",
    "https://docs.nvidia.com/deploy/xid-errors/index.html",
    "C1",
)
define(
    "nvidia-smi-warning",
    "nvidia-smi warns about a GPU",
    "The figures are there, but the driver found something wrong, such as a damaged infoROM.",
    "Read the warning; a damaged infoROM is a reason to have the board replaced.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "nvidia-smi-failed",
    "nvidia-smi reports that it could not do its work",
    "The kernel module is not loaded, or differs from the user-space library after an upgrade without reboot.",
    "Load or rebuild the driver, or reboot, until nvidia-smi lists the GPUs.",
    _NVIDIA_SMI,
    "C4",
)
define(
    "nvidia-smi-not-understood",
    "The text is not the output of nvidia-smi that was expected",
    "A wrapper, another version or another option produced something else.",
    "Run the command that the observation names and compare its output.",
    _NVIDIA_SMI,
    "C1",
)

# nvidia-smi topo -m

define(
    "topo-no-matrix",
    "No topology matrix was found",
    "The header line that names GPU0 and the following columns is missing.",
    "Run nvidia-smi topo -m on the node and keep its whole output.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "topo-row-refused",
    "A row of the topology matrix cannot be read",
    "It was cut, names a device outside the header, or holds an unknown link class.",
    "Run nvidia-smi topo -m again.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "topo-row-missing",
    "A device of the header has no row",
    "The matrix was cut, and with it the paths of the last devices.",
    "Run nvidia-smi topo -m again and keep its whole output.",
    _NVIDIA_SMI,
    "C1",
)

# AMD

define(
    "amd-smi-not-understood",
    "The JSON of amd-smi or rocm-smi has an unknown layout",
    "The tools changed their layout several times; an unknown one is not guessed at.",
    "Update amd-smi, or record the facts by hand until this version is known.",
    _AMD_SMI,
    "C1",
)

# nccl-tests

define(
    "nccl-no-table",
    "The log of nccl-tests holds no result row",
    "The test died before the first size, or the log was cut before the table.",
    "Read the NCCL WARN lines and the failure lines; run again with NCCL_DEBUG=INFO.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-row-cut",
    "A result row is cut",
    "The process was killed or the disk was full while the row was written; a cut number is a wrong number.",
    "Run the test again; the rows before it stay valid.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-row-refused",
    "A result row does not fit the header above it",
    "Lines of several processes ran into each other, or the layout is unknown.",
    "Write each process to its own file, or let only rank 0 print.",
    _NCCL_TESTS,
    "N2",
)

# fio

define(
    "fio-no-jobs",
    "The JSON is not a result of fio",
    "It has no list of jobs with read, write or trim figures.",
    "Run fio with --output-format=json and keep the whole document.",
    _FIO,
    "S1",
)
define(
    "fio-job-refused",
    "A job of a fio result cannot be read",
    "Its figures are missing or of the wrong kind.",
    "Run fio again; report the document when it repeats.",
    _FIO,
    "S1",
)
