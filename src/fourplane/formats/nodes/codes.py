"""Codes of what the parsers of node tools refuse and note."""

from __future__ import annotations

from fourplane.base.codes import define, find

__all__ = ["find"]

_XID = "https://docs.nvidia.com/deploy/xid-errors/index.html"
_FABRIC = "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html"
_DCGM = "https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-diagnostics.html"
_SMI = "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
_IBDIAG = "https://github.com/linux-rdma/rdma-core/tree/master/infiniband-diags"
_PERFTEST = "https://github.com/linux-rdma/perftest"
_ETHTOOL = "https://docs.kernel.org/networking/statistics.html"
_NVBANDWIDTH = "https://github.com/NVIDIA/nvbandwidth"
_PCI = "https://github.com/pciutils/pciutils"
_NCCL_ACS = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html"
_AZURE = "https://github.com/Azure/azurehpc-health-checks"
_CRE = "https://github.com/NVIDIA/cluster-readiness-engine"
_OCI = "https://github.com/oracle-quickstart/oci-hpc"
_NVSENTINEL = "https://github.com/NVIDIA/NVSentinel"

# kernel log and fabric manager

define(
    "kernel-xid",
    "The driver reports an Xid",
    "An Xid is the GPU driver's word that something went wrong; its number tells whether the job, the memory, a "
    "link, the bus or the GPU is to blame.",
    "Look at the first Xid in time, do what its line says, and keep nvidia-bug-report for the provider.",
    _XID,
    "C1",
)
define(
    "kernel-sxid",
    "An NVSwitch reports an SXid",
    "Errors of an NVSwitch hit all GPUs behind it; a fatal one ends every job on the node until fabric manager "
    "has restarted.",
    "Restart fabric manager and the jobs after a fatal one; have the baseboard checked when it comes back.",
    _FABRIC,
    "C1",
)
define(
    "kernel-hardware",
    "The kernel reports failing hardware",
    "Uncorrectable memory errors, bus errors, links that drop and storage that times out stop jobs without a word"
    " from the GPU.",
    "Read the lines around it, and compare with the node's management log.",
    "",
    "C1",
)
define(
    "dmesg-not-understood",
    "The text is no kernel log",
    "No line carries a time stamp of the kernel; a log without lines proves nothing about the hardware.",
    "Take the output of dmesg -T, or of journalctl -k.",
    _XID,
    "C1",
)
define(
    "fabric-manager-error",
    "Fabric manager logs an error",
    "Without a working fabric manager GPUs of an NVSwitch system do not start CUDA, or lose their peers.",
    "Check that its version is that of the driver, and read what follows the first error.",
    _FABRIC,
    "C1",
)
define(
    "fabric-manager-no-entry",
    "The text holds no entry of fabric manager",
    "Entries carry time, level and thread in brackets; none was found.",
    "Take /var/log/fabricmanager.log of the node.",
    _FABRIC,
    "C1",
)

# dcgmi diag

define(
    "dcgm-not-understood",
    "The JSON is not a diagnostic of DCGM",
    "It has neither of the keys under which DCGM 3.x and 4.x keep their results.",
    "Run dcgmi diag -j and keep its whole output.",
    _DCGM,
    "C1",
)
define(
    "dcgm-row-refused",
    "A row of the diagnostic's table cannot be read",
    "It has lost its border or holds a result that DCGM does not print; a cut row is no evidence.",
    "Run the diagnostic again, with -j where possible.",
    _DCGM,
    "C1",
)
define(
    "dcgm-test-failed",
    "A test of the diagnostic failed",
    "DCGM found a fault in hardware, driver or set-up of the GPU that it names.",
    "Follow the message; drain the node until the test passes.",
    _DCGM,
    "C1",
)
define(
    "dcgm-test-warned",
    "A test of the diagnostic warns",
    "The test ran and found something that will hurt, mostly a setting.",
    "Follow the message and run the test again.",
    _DCGM,
    "C1",
)
define(
    "dcgm-error",
    "The diagnostic reports an error outside of its tests",
    "The error stopped the diagnostic, or is known before any test: pending row remappings, a lost GPU, a host "
    "engine that does not answer.",
    "Mend what it names and run the diagnostic again.",
    _DCGM,
    "C1",
)

# NVLink

define(
    "nvlink-inactive",
    "An NVLink is inactive",
    "A link that did not train takes its share of the bandwidth between GPUs away, or the whole path.",
    "Look for Xid 74 and SXid lines; reset the GPUs, then have board and baseboard checked.",
    _SMI,
    "C1",
)
define(
    "nvlink-errors",
    "An NVLink counts errors",
    "Replays, recoveries and CRC errors mean that data had to be sent again; a growing count becomes a failed link.",
    "Read the counters twice under load; when they grow, have the board checked.",
    _SMI,
    "C1",
)
define(
    "nvlink-rates-differ",
    "NVLinks of the node run at different rates",
    "A collective over NVLink goes at the pace of the slowest link.",
    "Compare firmware and baseboard; reset the GPUs.",
    _SMI,
    "C1",
)

# InfiniBand and RoCE

define(
    "ibstat-no-adapter",
    "The text holds no RDMA adapter",
    "ibstat prints one block for each adapter; none was found.",
    "Run ibstat on the node; load the driver when it prints nothing.",
    _IBDIAG,
    "N1",
)
define(
    "ibstat-line-refused",
    "A line of ibstat cannot be read",
    "It was cut, or belongs to another program.",
    "Run ibstat again.",
    _IBDIAG,
    "N1",
)
define(
    "ibstat-died",
    "ibstat gave up in the middle",
    "An adapter did not answer; those after it are missing from the text.",
    "Look at the kernel log for that adapter, and reset it or reload its driver.",
    _IBDIAG,
    "N1",
)
define(
    "ib-port-not-active",
    "A port is not active",
    "The cable is not plugged, the far end is off, or the subnet manager has not brought the port up; a port that"
    " is not used is down as well.",
    "Compare with the cabling plan; check cable, optics and subnet manager.",
    _IBDIAG,
    "N1",
)
define(
    "ibdev2netdev-line-refused",
    "A line of ibdev2netdev cannot be read",
    "It does not map a device to an interface.",
    "Run ibdev2netdev again.",
    "",
    "N1",
)
define(
    "ib-guid-map-line-refused",
    "A line of the GUID map cannot be read",
    "A host name must be followed by one GUID of 16 hexadecimal digits, and each host stands once.",
    "Collect the map again; mind hosts that gave no answer.",
    "",
    "N1",
)
define(
    "perfquery-no-port",
    "The text holds no port counters",
    "perfquery prints a heading for each port; none was found.",
    "Run perfquery -x for the port.",
    _IBDIAG,
    "N1",
)
define(
    "perfquery-line-refused",
    "A line of perfquery cannot be read",
    "It is no counter with its value.",
    "Run perfquery again.",
    _IBDIAG,
    "N1",
)
define(
    "ib-port-errors",
    "A port counts errors",
    "Symbol errors, link recoveries and discards cost retransmissions; NCCL waits for the slowest packet.",
    "Reset the counters, run the job, read again; clean or replace cable and optics of ports that grow.",
    _IBDIAG,
    "N1",
)
define(
    "ibnetdiscover-line-refused",
    "A line of ibnetdiscover cannot be read",
    "A record was begun and cut, or the line belongs to another program.",
    "Run ibnetdiscover again and keep its whole output.",
    _IBDIAG,
    "N1",
)
define(
    "ib-link-slow",
    "A cable runs slower than most of the fabric",
    "The link trained to a lower speed or width; all routes over it are slow.",
    "Reseat or replace the cable; check that both ends are set to the same speed.",
    _IBDIAG,
    "N1",
)
define(
    "perftest-no-result",
    "The text holds no result of perftest",
    "Neither a title of a test nor a row was found.",
    "Run ib_write_bw between two nodes and keep the output of both.",
    _PERFTEST,
    "N2",
)
define(
    "perftest-row-refused",
    "A row of perftest cannot be read",
    "It was cut, or two processes wrote into one line.",
    "Write client and server to files of their own and run again.",
    _PERFTEST,
    "N2",
)
define(
    "perftest-failed",
    "perftest reports a failure",
    "The ends did not connect, or a work request failed; rows before it say nothing of the link.",
    "Check addresses, GID index, MTU and firewall of the exchange port.",
    _PERFTEST,
    "N2",
)
define(
    "perftest-loopback",
    "The test ran from a port to itself",
    "Local and remote LID are equal: no cable and no switch was used.",
    "Run server and client on different nodes.",
    _PERFTEST,
    "N2",
)

# Ethernet

define(
    "ethtool-no-interface",
    "The text holds no interface",
    "Neither settings, driver nor statistics of ethtool were found.",
    "Run ethtool with the name of the interface.",
    _ETHTOOL,
    "N1",
)
define(
    "ethtool-no-link",
    "An interface has no link",
    "No carrier is detected: cable, optics, or the port of the switch.",
    "Compare with the cabling plan; look at the switch port.",
    _ETHTOOL,
    "N1",
)
define(
    "ethtool-errors",
    "An interface counts errors or losses",
    "Counters of errors, discards and timeouts are not zero; RoCE suffers from single lost packets.",
    "Read the counters twice under load; check cable, PFC and ECN settings.",
    _ETHTOOL,
    "N1",
)

# node

define(
    "nvbandwidth-no-test",
    "The text holds no test of nvbandwidth",
    "Neither a version nor a sum was found.",
    "Run nvbandwidth and keep its whole output.",
    _NVBANDWIDTH,
    "C1",
)
define(
    "nvbandwidth-row-refused",
    "A result of nvbandwidth cannot be read",
    "The sum is not a number.",
    "Run the test again.",
    _NVBANDWIDTH,
    "C1",
)
define(
    "nvbandwidth-failed",
    "nvbandwidth reports a failure",
    "A copy failed or gave wrong data.",
    "Read the kernel log for Xid lines and run dcgmi diag.",
    _NVBANDWIDTH,
    "C1",
)
define(
    "nvbandwidth-waived",
    "Tests of nvbandwidth were waived",
    "The node lacks what they need, such as a second GPU or peer access; nothing was measured.",
    "Check that peer access is possible where it should be: topology, ACS, IOMMU.",
    _NVBANDWIDTH,
    "C1",
)
define(
    "lscpu-not-understood",
    "The text is not the output of lscpu",
    "No name with a value was found.",
    "Run lscpu on the node.",
    "",
    "C1",
)
define(
    "lscpu-cpus-offline",
    "CPUs are off line",
    "The kernel does not use them: they were switched off, or failed at start; the node differs from its twins.",
    "Compare with other nodes; read the kernel log of the start.",
    "",
    "C2",
)
define(
    "numactl-not-understood",
    "The text is not the output of numactl --hardware",
    "No number of nodes was found.",
    "Run numactl --hardware on the node.",
    "",
    "C1",
)
define(
    "numactl-line-refused",
    "A line of numactl cannot be read",
    "It does not list CPUs of a node.",
    "Run numactl --hardware again.",
    "",
    "C1",
)
define(
    "numactl-node-without-memory",
    "A NUMA node has CPUs and no memory",
    "Memory modules are missing or failed; its CPUs reach all data over the link between sockets.",
    "Compare with other nodes; read the management log for memory errors.",
    "",
    "C2",
)
define(
    "lsblk-not-understood",
    "The JSON is not the output of lsblk",
    "It has no list of block devices.",
    "Run lsblk --json --bytes --output-all on the node.",
    "",
    "S1",
)
define(
    "lsblk-device-refused",
    "A block device of lsblk cannot be read",
    "It has no name, or its tree is too deep.",
    "Run lsblk again.",
    "",
    "S1",
)
define(
    "lspci-line-refused",
    "A line of lspci cannot be read",
    "It is neither a device nor a detail of one.",
    "Run lspci -vvv as root again.",
    _PCI,
    "C1",
)
define(
    "lspci-link-slow",
    "A PCIe link is narrower or slower than it can be",
    "Lanes failed to train, or the link fell back; copies and GPUDirect lose the same share. An idle GPU lowers "
    "its speed on purpose.",
    "Read it again under load; reseat or replace board, riser or cable.",
    _PCI,
    "C1",
)
define(
    "lspci-acs-redirects",
    "ACS redirects traffic between PCIe devices",
    "Peer-to-peer traffic takes the way through the root complex, which slows GPUDirect RDMA between GPU and NIC.",
    "On bare metal switch ACS off for the bridges between GPU and NIC; virtual machines need it on.",
    _NCCL_ACS,
    "N1",
)

# reports of other checkers

define(
    "azure-nhc-line-refused",
    "A line of the health report cannot be read",
    "A line names a node and its verdict, divided by a bar.",
    "Get the report again, whole.",
    _AZURE,
    "C1",
)
define(
    "azure-nhc-node-faulty",
    "A node failed a health check",
    "The check that is named found a fault on the node.",
    "Take the node out of the pool until it passes.",
    _AZURE,
    "C1",
)
define(
    "azure-nhc-no-result",
    "A node reported no result",
    "A node that does not answer is not healthy: it is not proven.",
    "Find out whether the node is up, and run the check again.",
    _AZURE,
    "C1",
)
define(
    "cre-report-not-understood",
    "The JSON is not a report of the readiness engine",
    "It has no list of categories.",
    "Export the validation result again.",
    _CRE,
    "C1",
)
define(
    "cre-report-test-failed",
    "A test of the readiness engine did not succeed",
    "Its status is not that of a test that passed.",
    "Read the log of the test.",
    _CRE,
    "C1",
)
define(
    "cre-report-nodes-failed",
    "The readiness engine names failed nodes",
    "The nodes did not pass the tests that ran on them.",
    "Take them out and run the tests again.",
    _CRE,
    "C1",
)
define(
    "oci-check-not-understood",
    "The text is not a check of Oracle Cloud",
    "Neither a check of the host log nor the report of a scan was found.",
    "Get the output of the check again, whole.",
    _OCI,
    "C1",
)
define(
    "oci-check-failed",
    "A check of Oracle Cloud failed",
    "The check that is named did not pass.",
    "Follow the provider's guide for this check, or have the host replaced.",
    _OCI,
    "C1",
)
define(
    "oci-check-warned",
    "A check of Oracle Cloud warns",
    "The value lies between good and bad; the overall word still says passed.",
    "Watch it under load; compare with other hosts.",
    _OCI,
    "C1",
)
define(
    "preflight-line-refused",
    "A line of the preflight log is not an event",
    "Each line is one JSON object with an event.",
    "Get the log of the check's container again.",
    _NVSENTINEL,
    "C1",
)
define(
    "preflight-failed",
    "The preflight check counts failed tests",
    "Tests of the node failed before the job was let on it.",
    "Find the failing tests in the log, and drain the node.",
    _NVSENTINEL,
    "C1",
)
