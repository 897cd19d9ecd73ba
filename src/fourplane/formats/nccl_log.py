"""What NCCL's own log (``NCCL_DEBUG=INFO``) says about the paths that the data took, and about what went wrong.

    host:pid:tid [dev] NCCL INFO Channel 00/0 : 1[f5000] -> 0[35000] [send] via NET/IB/0/GDRDMA
    host:pid:tid [dev] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB/SHARP [RO]; OOB eth0:10.0.0.1<0>
    host:pid:tid [dev] NCCL INFO Using network AWS Libfabric
    host:pid:tid [dev] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.
    host:pid:tid [dev] NCCL INFO comm 0x7f9c rank 1 nranks 2 cudaDev 0 busId f5000 - Init COMPLETE
    host:pid:tid [dev] transport/net_ib.cc:2244 NCCL WARN NET/IB: Got completion from peer 10.0.0.5<53908> ...

Only lines that name a channel in use or the network chosen count as a transport; the search for plugins does not.

Source: NVIDIA/nccl, ``src/transport/net_ib.cc``, ``src/transport/net.cc``, ``src/init.cc``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["NcclWarning", "Transports"]

MAX_NAMES = 1000
MAX_WARNINGS = 1000

_SPEAKER = re.compile(r"([A-Za-z0-9][\w.-]{0,254}):\d{1,10}:\d{1,10} \[(-?\d{1,4})\] (?:\S{1,120} )?$", re.ASCII)
_VIA = re.compile(r" via ([A-Za-z][\w/ ().:-]{0,79})", re.ASCII)
_NETWORK = re.compile(r"Using network ([\w /.()-]{1,60})", re.ASCII)
_USING = re.compile(r"NET/(\w{1,20}) ?: Using ", re.ASCII)
_HCA = re.compile(r"\[\d{1,3}\]([\w.-]{1,40}):\d{1,3}/(IB|RoCE)(/SHARP)?", re.ASCII)
_OOB = re.compile(r"OOB ([\w.-]{1,40}):", re.ASCII)
_BOOTSTRAP = re.compile(r"Bootstrap ?: Using (?:\[\d{1,3}\])?([\w.-]{1,40}):", re.ASCII)
_PLUGIN = re.compile(r"(?:Using|Initializing) (aws-ofi-nccl \S{1,40})|[Ll]oaded net plugin ([\w ./-]{1,60})", re.ASCII)
_PROVIDER = re.compile(r"Selected [Pp]rovider is ([\w-]{1,40})", re.ASCII)
_NRANKS = re.compile(r" nranks (\d{1,7})\b", re.ASCII)
_GID = re.compile(r" GID (\d{1,4}) \(([0-9A-Fa-f]{1,16})/", re.ASCII)
_SET = re.compile(r"(NCCL_[A-Z0-9_]{1,60}) set (?:by environment )?to (.{1,200})", re.ASCII)
_PROPAGATED = re.compile(r"NCCL INFO \S{1,120}:\d{1,6} -> ([1-9]\d{0,2})\b", re.ASCII)
_PEER = re.compile(r"([\w.:%\[\]-]{1,64})<\d{1,5}>", re.ASCII)
_WC = re.compile(r"(?:status=|error )(?:[A-Z_]{1,40}\()?(\d{1,3})\b", re.ASCII)
_OPCODE = re.compile(r"opcode[ =](?:[A-Z_]{1,40}\()?(\d{1,6})", re.ASCII)
_VENDOR = re.compile(r"vendor[ _]err[ =](\d{1,6})", re.ASCII)
_REQUEST = re.compile(r"\((Send|Recv|Flush|Unknown)\)|req_type=(Send|Recv|Flush|Unknown)\b")
_HCA_OF = re.compile(r"\bhca ([\w.-]{1,40})", re.ASCII)
_IPV4_GID = re.compile(r"Gids? ?::ffff:", re.ASCII)


@dataclass(frozen=True, slots=True)
class NcclWarning:
    """One ``NCCL WARN`` line and the link that it names; fields are None where the line does not say.

    Attributes:
        line: 1-based.
        text: the message, cut.
        node: host that speaks.
        gpu: its local device.
        peer: address of the other end.
        hca: RDMA device of the speaker.
        status: completion status of the work request (ibv_wc_status); 12: retries exceeded.
        opcode: of the work request; junk when the completion failed.
        vendor_err: syndrome of the adapter.
        request: Send or Recv.
    """

    line: int
    text: str
    node: str | None = None
    gpu: int | None = None
    peer: str | None = None
    hca: str | None = None
    status: int | None = None
    opcode: int | None = None
    vendor_err: int | None = None
    request: str | None = None

    @property
    def names_a_link(self) -> bool:
        """Tell whether the line says which link failed: the speaker and a device or the other end."""
        return self.node is not None and (self.peer is not None or self.hca is not None)


@dataclass(slots=True)
class Transports:
    """Paths seen in one log.

    Attributes:
        kinds: words of the vocabulary: ib, roce, rdma (link unknown), efa, socket, plugin, p2p, shm, nvls, collnet,
            gdr, sharp-capable.
        network: network that NCCL chose, as printed.
        plugin: network plugin, as printed.
        provider: libfabric provider, as printed.
        bootstrap: interface of the bootstrap and of out-of-band messages; never the path of the data.
        hcas: RDMA devices in use, as printed.
        gid_indices: GID indices of the connections.
        env: variables pinned from outside, by name.
        pinned_otherwise: variables that another process pinned to another value.
        channels: channels by path without numbers, such as ``NET/IB/GDRDMA``.
        world_sizes: sizes of the communicators that NCCL initialised.
        warnings: WARN lines.
        error: highest error number that the log hands up from function to function, 0 for none.
    """

    kinds: set[str] = field(default_factory=set)
    network: str = ""
    plugin: str = ""
    provider: str = ""
    bootstrap: str = ""
    hcas: list[str] = field(default_factory=list)
    gid_indices: set[int] = field(default_factory=set)
    env: dict[str, str] = field(default_factory=dict)
    pinned_otherwise: set[str] = field(default_factory=set)
    channels: dict[str, int] = field(default_factory=dict)
    world_sizes: set[int] = field(default_factory=set)
    warnings: list[NcclWarning] = field(default_factory=list)
    error: int = 0

    @property
    def word(self) -> str:
        """Return the transport in one word; of several networks the slowest; ``unknown`` where the log is silent.

        Channels decide where the log shows them, for NCCL chooses a network also when all data stay in one node.
        """
        paths = [path for path in self.channels if path.upper().startswith(("NET/", "COLLNET/"))]
        seen = set(self.kinds)
        if paths:
            seen = {kind for path in paths for kind in _network_kinds(path.split("/", 1)[1])}
            if "rdma" in seen:
                seen |= self.kinds & {"ib", "roce"}
            if "plugin" in seen:
                seen |= self.kinds & {"efa"}
        elif self.channels:
            seen &= {"nvls", "p2p", "shm"}
        # NET/IB is verbs over either link; InfiniBand is NCCL's own word for both
        order = ("socket", "efa", "roce", "ib", "rdma", "plugin", "nvls", "p2p", "shm")
        found = next((kind for kind in order if kind in seen), "unknown")
        return "ib" if found == "rdma" else found

    @property
    def net_channels(self) -> tuple[int, int]:
        """Return how many channels over a network use GPUDirect RDMA, and how many do not."""
        net = {path: count for path, count in self.channels.items() if path.startswith(("NET/", "COLLNET/"))}
        direct = sum(count for path, count in net.items() if "GDR" in path.upper())
        return direct, sum(net.values()) - direct

    def take(self, line: str, number: int = 0) -> None:
        """Take one line of NCCL's log."""
        if "NCCL INFO" in line:
            self._info(line)
        elif "NCCL WARN" in line:
            self._warn(line, number)

    def _info(self, line: str) -> None:
        if (via := _VIA.search(line)) is not None:
            self._via(via[1])
        if (network := _NETWORK.search(line)) is not None:
            self.network = network[1].strip()
            self.kinds.update(_network_kinds(self.network))
        if _USING.search(line) is not None:
            self._devices(line)
        if (plugin := _PLUGIN.search(line)) is not None:
            self.plugin = self.plugin or (plugin[1] or plugin[2]).strip()
        if (provider := _PROVIDER.search(line)) is not None:
            self.provider = provider[1]
            self.kinds.add("efa" if provider[1].startswith("efa") else "plugin")
        if (bootstrap := _BOOTSTRAP.search(line)) is not None:
            self.bootstrap = self.bootstrap or bootstrap[1]
        if (gid := _GID.search(line)) is not None and len(self.gid_indices) < MAX_NAMES:
            self.gid_indices.add(int(gid[1]))
            # a GID made of an IPv4 address belongs to RoCE v2; on InfiniBand the line carries a LID
            self.kinds.add("roce")
        if "Connected NVLS tree" in line or "NVLS comm" in line:
            self.kinds.add("nvls")
        if (ranks := _NRANKS.search(line)) is not None and len(self.world_sizes) < MAX_NAMES:
            self.world_sizes.add(int(ranks[1]))
        if (pinned := _SET.search(line)) is not None:
            self._pin(pinned[1], pinned[2].strip().removesuffix("."))
        if (error := _PROPAGATED.search(line)) is not None:
            self.error = max(self.error, int(error[1]))

    def _devices(self, line: str) -> None:
        for name, link, sharp in _HCA.findall(line):
            self.kinds.add("ib" if link == "IB" else "roce")
            if sharp:
                self.kinds.add("sharp-capable")
            if name not in self.hcas and len(self.hcas) < MAX_NAMES:
                self.hcas.append(name)
        if (oob := _OOB.search(line)) is not None:
            self.bootstrap = self.bootstrap or oob[1]

    def _pin(self, name: str, value: str) -> None:
        if self.env.get(name, value) != value:
            self.pinned_otherwise.add(name)
        elif len(self.env) < MAX_NAMES:
            self.env[name] = value

    def _via(self, path: str) -> None:
        upper = path.upper()
        # "NET/IB/0(3)/GDRDMA/Shared": the numbers tell which device, not which way
        generic = "/".join(part for part in path.strip().split("/") if not part[:1].isdigit())
        if generic in self.channels or len(self.channels) < MAX_NAMES:
            self.channels[generic] = self.channels.get(generic, 0) + 1
        if upper.startswith("NET/"):
            self.kinds.update(_network_kinds(path[4:]))
            if "GDR" in upper:
                self.kinds.add("gdr")
        elif upper.startswith("P2P"):
            self.kinds.add("p2p")
        elif upper.startswith(("SHM", "DIRECT SHARED MEMORY")):
            self.kinds.add("shm")
        elif upper.startswith(("COLLNET", "NVLS")):
            self.kinds.add("collnet" if upper.startswith("COLLNET") else "nvls")

    def _warn(self, line: str, number: int) -> None:
        at = line.index("NCCL WARN")
        message = line[at + 9 :].strip()
        if _IPV4_GID.search(message):
            self.kinds.add("roce")
        elif message.startswith("NET/IB"):
            self.kinds.add("rdma")
        if len(self.warnings) >= MAX_WARNINGS:
            return
        speaker = _SPEAKER.search(line[max(0, at - 400) : at])
        peer, hca, request = _PEER.search(message), _HCA_OF.search(message), _REQUEST.search(message)
        self.warnings.append(
            NcclWarning(
                line=number,
                text=message[:300],
                node=speaker[1] if speaker else None,
                gpu=int(speaker[2]) if speaker else None,
                peer=peer[1] if peer else None,
                hca=hca[1] if hca else None,
                status=_first_number(_WC, message),
                opcode=_first_number(_OPCODE, message),
                vendor_err=_first_number(_VENDOR, message),
                request=(request[1] or request[2]) if request else None,
            )
        )


def _first_number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1]) if found else None


def _network_kinds(name: str) -> set[str]:
    upper = name.upper()
    if upper.startswith("SOCKET"):
        return {"socket"}
    if upper.startswith(("IB", "GIB")):
        return {"rdma"}  # InfiniBand or RoCE: the line "NET/IB : Using" tells which
    if upper.startswith("AWS"):
        return {"efa"}
    return {"plugin"}  # of libfabric, the line with the provider tells whether it is EFA
