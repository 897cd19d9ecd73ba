"""Codes of refusals: why a piece of text was not taken over."""

from __future__ import annotations

from fourplane.base.codes import define, find

__all__ = ["find"]

_NVIDIA_SMI = "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
_NCCL_TESTS = "https://github.com/NVIDIA/nccl-tests"
_NCCL_PERF = "https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md"
_NCCL_ENV = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_MEMORY = "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html"
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

define(
    "smi-ecc-uncorrectable",
    "A GPU counts uncorrectable memory errors",
    "Data were lost; the job that used them was killed or computed with wrong values.",
    "Reset the GPU and read its remapped rows; replace the board when errors come back after a reset.",
    _MEMORY,
    "C1",
)
define(
    "smi-remap-pending",
    "A GPU has row remappings pending",
    "Bad rows of its memory are replaced by spare ones only at the next reset; until then they stay in use.",
    "Drain the node and reset the GPU.",
    _MEMORY,
    "C1",
)
define(
    "smi-remap-failed",
    "A GPU could not remap rows of its memory",
    "No spare rows are left in a bank; the next error there cannot be repaired.",
    "Have the board replaced.",
    _MEMORY,
    "C1",
)
define(
    "smi-rows-remapped",
    "A GPU has remapped rows after uncorrectable errors",
    "The memory was repaired; more of them in a short time point to a board that is failing.",
    "Watch the count; compare it with the maker's limit for replacement.",
    _MEMORY,
    "C1",
)
define(
    "smi-pcie-narrow",
    "The PCIe link of a GPU is narrower than it can be",
    "Lanes failed to train: dirt, a riser, a slot; copies from the host and GPUDirect RDMA lose the same share.",
    "Reseat or replace board and riser; compare with lspci -vvv (LnkSta).",
    _NVIDIA_SMI,
    "C1",
)
define(
    "smi-pcie-slow",
    "The PCIe link of a working GPU runs below its generation",
    "The link trained down, mostly for signal quality; an idle GPU does so on purpose, a working one must not.",
    "Read LnkSta under load; reseat or replace board, riser or cable.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "smi-pcie-replays",
    "The PCIe link of a GPU counts replays",
    "Packets had to be sent again; a few after start-up are usual, a growing count is a bad link.",
    "Read the counter twice under load; when it grows, reseat or replace.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "smi-recovery-needed",
    "The driver asks for a recovery of a GPU",
    "The driver knows what the GPU needs before it can be trusted: a reset, a reboot, a drain.",
    "Do what the word says: Reset, Reboot, Drain P2P, Drain and Reset.",
    _NVIDIA_SMI,
    "C1",
)
define(
    "smi-fabric-not-ready",
    "A GPU has not joined the NVLink fabric",
    "Until fabric manager or IMEX has registered the GPU, CUDA does not start on it, or peers cannot be reached.",
    "Check that fabric manager runs in the version of the driver, and read its log.",
    "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
    "C1",
)
define(
    "smi-gpus-differ",
    "The GPUs of one node differ",
    "Jobs expect equal GPUs in a node; other models, firmware, limits or modes make the slowest of them set the pace.",
    "Bring firmware and modes to one state; ask the provider when the models differ.",
    _NVIDIA_SMI,
    "C2",
)

# nvidia-smi topo -m

define(
    "topo-not-symmetric",
    "The topology matrix is not symmetric",
    "A link has one class, whichever end is asked; a matrix that says otherwise was edited or damaged.",
    "Run nvidia-smi topo -m again.",
    _NVIDIA_SMI,
    "C1",
)
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

define(
    "nccl-no-log",
    "The text holds no line of NCCL's own log",
    "Without NCCL_DEBUG=INFO NCCL says nothing of the network, devices and paths that it uses.",
    "Run the job with NCCL_DEBUG=INFO and keep the output of all ranks.",
    _NCCL_ENV,
    "N2",
)
define(
    "nccl-without-rows",
    "The run has no result row",
    "The test died before the first size was measured; nothing in the log is a bandwidth.",
    "Read the NCCL WARN and failure lines; run again with NCCL_DEBUG=INFO.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-run-failed",
    "The run reports a failure",
    "nccl-tests, the launcher or the scheduler ended the run; rows before the failure may be there, the result is not.",
    "Find the node and the first error in the lines around it; later ones are mostly its echo.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-wrong-values",
    "Elements of a collective came out wrong",
    "The sum that arrived is not the sum that was sent: memory, link or software corrupts data, and training on such a "
    "node diverges without an error.",
    "Take the nodes out; bisect pairs of nodes and GPUs with the same test until the faulty one is found.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-not-one-world",
    "The ranks did not form one world",
    "Each process measured itself; nothing in the log is a bandwidth between nodes, however large it looks.",
    "Build nccl-tests with MPI=1, and start it with the MPI or PMI that it was built for.",
    "https://github.com/NVIDIA/nccl-tests/issues/294",
    "N2",
)
define(
    "nccl-cpu-time",
    "The bandwidths were computed from CPU time",
    "With -C 1 the time column is what the CPU spent, not how long the collective took.",
    "Run again without -C.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-cliff",
    "The bandwidth falls by more than half from one size to the next",
    "A change of algorithm or protocol at this size, a buffer that spills, or a link that retrains under load; the "
    "peak says nothing of it, and messages of this size are slow in training too.",
    "Repeat the run; when it stays, compare NCCL_ALGO and NCCL_PROTO, and look at the error counters of the links.",
    _NCCL_PERF,
    "N2",
)
define(
    "nccl-size-missing",
    "Sizes that the run was to measure have no row",
    "Lines were lost or cut out, or the run ended early; a peak may lie in the hole.",
    "Keep the whole output; run again when the test itself left the size out.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-rank-missing",
    "Ranks have no line",
    "The log was shortened, or ranks never reported; how many nodes took part is not proven.",
    "Keep the whole output of the run.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-ranks-contradict",
    "The ranks listed and the figures stand for worlds of different size",
    "busbw is algbw times a factor of the number of ranks; the ratio in the rows belongs to another number than the "
    "rank lines: text of two runs was put together.",
    "Get the log of one run, whole.",
    _NCCL_PERF,
    "N2",
)
define(
    "nccl-settings-contradict",
    "Rows lie outside the sizes that the run was to measure",
    "The line with the settings and the table come from different runs.",
    "Get the log of one run, whole.",
    _NCCL_TESTS,
    "N2",
)
define(
    "nccl-settings-differ",
    "Ranks pin the same NCCL setting to different values",
    "Ranks that choose network, device or protocol differently hang, or fall back to the slowest path.",
    "Set NCCL variables in one place for all ranks: /etc/nccl.conf in the image, or the launcher's export list.",
    _NCCL_ENV,
    "N2",
)
define(
    "nccl-gpus-differ",
    "The ranks run on different GPU models",
    "A collective goes at the pace of its slowest member.",
    "Compare the inventory of the nodes with what was ordered.",
    _NCCL_TESTS,
    "C2",
)
define(
    "nccl-link-failed",
    "NCCL names a link that failed",
    "A warning of NCCL names the node, the adapter or the other end of a connection that broke; retries that ran out "
    "mean that packets are lost on the way: cable, optics, port, or congestion control.",
    "Look at the port counters of both ends and at the switch between them, then test the pair alone with ib_write_bw.",
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
    "N2",
)
define(
    "nccl-warning",
    "NCCL prints a warning",
    "NCCL warns where it falls back, misses a setting, or gives up.",
    "Read the warning in its place; the lines around it name the function and the rank.",
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
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
