"""What NCCL's own log (``NCCL_DEBUG=INFO``) says about the paths that the data took.

    host:pid:tid [dev] NCCL INFO Channel 00/0 : 1[f5000] -> 0[35000] [send] via NET/IB/0/GDRDMA
    host:pid:tid [dev] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB/SHARP
    host:pid:tid [dev] NCCL INFO Using network AWS Libfabric
    host:pid:tid [dev] NCCL INFO comm 0x7f9c rank 1 nranks 2 cudaDev 0 busId f5000 - Init COMPLETE

Only lines that name a channel in use or the network chosen count; "Failed to find plugin" and the like do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Transports"]

MAX_NAMES = 1000

_VIA = re.compile(r" via ([A-Za-z][\w/ ().:-]{0,79})", re.ASCII)
_NETWORK = re.compile(r"Using network ([\w /.()-]{1,60})", re.ASCII)
_HCA = re.compile(r"\[\d{1,3}\](\w{1,40}):\d{1,3}/(IB|RoCE)(/SHARP)?", re.ASCII)
_NRANKS = re.compile(r" nranks (\d{1,7})\b", re.ASCII)


@dataclass(slots=True)
class Transports:
    """Paths seen in one log.

    Attributes:
        kinds: words of the vocabulary: ib, roce, efa, socket, plugin, p2p, shm, nvls, collnet, gdr.
        network: network that NCCL chose, as printed.
        hcas: RDMA devices in use, as printed.
        world_sizes: sizes of the communicators that NCCL initialised.
    """

    kinds: set[str] = field(default_factory=set)
    network: str = ""
    hcas: list[str] = field(default_factory=list)
    world_sizes: set[int] = field(default_factory=set)

    def take(self, line: str) -> None:
        """Take one line of NCCL's log."""
        if "NCCL INFO" not in line:
            return
        if (via := _VIA.search(line)) is not None:
            self._via(via[1])
        if (network := _NETWORK.search(line)) is not None:
            self.network = network[1].strip()
            self.kinds.update(_network_kinds(self.network))
        if "NET/IB : Using" in line:
            for name, link, sharp in _HCA.findall(line):
                self.kinds.add("ib" if link == "IB" else "roce")
                if sharp:
                    self.kinds.add("sharp-capable")
                if name not in self.hcas and len(self.hcas) < MAX_NAMES:
                    self.hcas.append(name)
        if "Connected NVLS tree" in line or "NVLS comm" in line:
            self.kinds.add("nvls")
        if (ranks := _NRANKS.search(line)) is not None and len(self.world_sizes) < MAX_NAMES:
            self.world_sizes.add(int(ranks[1]))

    def _via(self, path: str) -> None:
        upper = path.upper()
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


def _network_kinds(name: str) -> set[str]:
    upper = name.upper()
    if upper.startswith("SOCKET"):
        return {"socket"}
    if upper.startswith("IB"):
        return set()  # InfiniBand or RoCE: the line "NET/IB : Using" tells which
    if "LIBFABRIC" in upper or "OFI" in upper:
        return {"efa"}
    return {"plugin"}
