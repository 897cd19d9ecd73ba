"""Xid and SXid: what the driver of a GPU, and that of an NVSwitch, report in the kernel log, and what to do.

An Xid is not a diagnosis: several of them can follow one cause, and the first in time is the one to look at. The
meaning and the action here are ours in a few words; NVIDIA's catalogue decides.

Sources: NVIDIA "Xid Errors" (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html), "Fabric Manager for
NVIDIA NVSwitch Systems", appendix on SXid errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["SXIDS", "XIDS", "Xid", "XidEvent", "find_event"]


@dataclass(frozen=True, slots=True)
class Xid:
    """What a number stands for: where the cause lies (application, memory, link, bus, firmware, gpu), what to do."""

    meaning: str
    cause: str
    action: str


_RESTART = "restart the job; debug it with compute-sanitizer when it comes back"
_RESET = "drain the node and reset the GPU; replace it when it comes back"
_REPLACE = "take the node out and have the GPU replaced"
_REBOOT = "reboot the node; collect nvidia-bug-report and open a case when it comes back"
_LINK = "read the other Xids around it and the NVLink counters; reset the GPUs of the node, then check the baseboard"
_WATCH = "nothing at once; the driver has recorded it"

_TABLE: dict[int, tuple[str, str, str]] = {
    8: ("GPU stopped processing", "gpu", _RESET),
    13: ("graphics engine exception, such as an access out of bounds", "application", _RESTART),
    31: ("memory page fault", "application", _RESTART),
    32: ("corrupted push buffer stream", "bus", _REBOOT),
    38: ("driver firmware error", "firmware", _REBOOT),
    43: ("GPU channel was reset after a fault of its job", "application", _RESTART),
    44: ("fault during a context switch", "gpu", _RESET),
    45: ("channels of a job torn down, after another error or a kill", "application", "look at the Xid before it"),
    46: ("GPU stopped processing", "gpu", _RESET),
    48: ("double-bit ECC error", "memory", _RESET),
    54: ("auxiliary power is not connected", "gpu", "check power cables and power supplies"),
    56: ("display engine error", "gpu", _REBOOT),
    57: ("error while programming the memory interface", "memory", _REPLACE),
    58: ("memory interface is unstable", "memory", _REPLACE),
    61: ("warning of the internal micro-controller", "firmware", _REBOOT),
    62: ("internal micro-controller halted", "firmware", _RESET),
    63: ("row remapping or page retirement recorded", "memory", "reset the GPU when convenient; it takes effect then"),
    64: ("row remapping or page retirement could not be recorded", "memory", _RESET),
    66: ("illegal access by the driver", "application", _REBOOT),
    67: ("illegal access by the driver", "application", _REBOOT),
    68: ("video decoder exception", "application", _RESTART),
    69: ("graphics engine class error", "application", _RESTART),
    74: ("NVLink error", "link", _LINK),
    76: ("internal GPU error", "gpu", _RESET),
    78: ("a vGPU could not be started", "firmware", "check the vGPU manager and its licence"),
    79: ("GPU has fallen off the bus", "bus", "power-cycle the node; check power, heat and the slot; replace the GPU"),
    80: ("corrupted data were sent to the GPU", "bus", _REBOOT),
    92: ("high rate of single-bit ECC errors", "memory", "run dcgmi diag; replace the GPU when it stays"),
    93: ("infoROM reaches its write limit", "firmware", _WATCH),
    94: ("contained memory error: only the job that used it is lost", "memory", "restart the job, reset the GPU soon"),
    95: ("uncontained memory error: all jobs on the GPU are lost", "memory", _RESET),
    109: ("context switch timed out", "gpu", _RESET),
    110: ("security fault", "firmware", _REBOOT),
    119: ("timeout of a call to the GPU system processor (GSP)", "firmware", _RESET),
    120: ("error in the GPU system processor (GSP)", "firmware", _RESET),
    121: ("corrected error on the chip-to-chip NVLink (C2C)", "link", "watch the rate; reset at the next maintenance"),
    122: ("SPI read of the power controller failed", "firmware", _REBOOT),
    123: ("SPI write of the power controller failed", "firmware", _REBOOT),
    124: ("SPI erase of the power controller failed", "firmware", _REBOOT),
    125: ("file system error in the infoROM", "firmware", _WATCH),
    136: ("NVLink training failed", "link", _LINK),
    137: ("NVLink privilege error, mostly a peer access of a job that died", "application", _RESTART),
    140: ("unrecovered ECC error", "memory", _RESET),
    143: ("GPU could not be initialised", "gpu", _RESET),
    144: ("NVLink error, reported by the unit SAW", "link", _LINK),
    145: ("NVLink error, reported by the unit RLW", "link", _LINK),
    146: ("NVLink error, reported by the unit TLW", "link", _LINK),
    147: ("NVLink error, reported by the unit TREX", "link", _LINK),
    148: ("NVLink error, reported by the unit NVLPW_CTRL", "link", _LINK),
    149: ("NVLink error, reported by the unit NETIR", "link", _LINK),
    150: ("NVLink error, reported by the unit MSE", "link", _LINK),
    151: ("key rotation failed", "firmware", _REBOOT),
    154: ("the recovery that the GPU needs has changed", "gpu", "do what the line says: reset, reboot or drain"),
    155: ("NVLink error that software defines", "link", _LINK),
    156: ("a part of the GPU was retired", "gpu", _WATCH),
    157: ("a part of the GPU could not be retired", "gpu", _RESET),
    158: ("fatal timeout in the GPU", "gpu", _RESET),
    160: ("a memory channel was retired", "memory", _WATCH),
    161: ("a memory channel could not be retired", "memory", _RESET),
}

XIDS: dict[int, Xid] = {number: Xid(*row) for number, row in _TABLE.items()}

SXIDS: dict[int, str] = {
    11001: "ingress: invalid command",
    12028: "egress: privilege error, mostly the echo of an error at a GPU",
    20001: "transmit replay error of a link",
    20009: "receiver error rate of a link is high for a short time",
    20034: "link went down without being asked (LTSSM fault)",
    22013: "link request interrupted (MINION DLREQ)",
}
"""NVSwitch errors that are seen often; the line itself says whether one is fatal."""


@dataclass(frozen=True, slots=True)
class XidEvent:
    """One Xid, or SXid when ``switch`` is named: time and address as printed, process, severity, link.

    Attributes:
        line: 1-based.
        number: of the Xid or SXid.
        pci: address as printed, without function.
        message: what follows the number, cut.
        pid: process that was hit, None when unknown.
        process: its name.
        switch: name of the NVSwitch, "" for an Xid.
        fatal: severity of an SXid; None for an Xid.
        link: NVLink of an SXid.
    """

    line: int
    number: int
    pci: str
    message: str
    pid: int | None = None
    process: str | None = None
    switch: str = ""
    fatal: bool | None = None
    link: int | None = None

    @property
    def meaning(self) -> str:
        """Return the meaning of the number and what to do, in a few words."""
        if self.switch:
            severity = "fatal" if self.fatal else "non-fatal" if self.fatal is False else "severity unknown"
            return f"{SXIDS.get(self.number, self.message)} ({severity})"
        known = XIDS.get(self.number)
        return f"{known.meaning}; {known.action}" if known else f"not in our table: {self.message}"


_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9A-Fa-f:.]{4,20})\): (\d{1,6}), ?(.{0,400})", re.ASCII)
_SXID = re.compile(
    r"(nvidia-nvswitch\d{1,4}): SXid \((?:PCI:)?([0-9A-Fa-f:.]{4,20})\): (\d{1,7}), ?(.{0,400})", re.ASCII
)
_PID = re.compile(r"pid='?(\d{1,10})'?", re.ASCII)
_NAME = re.compile(r"name=([^,]{1,80})")
_LINK_NUMBER = re.compile(r"\bLink (\d{1,3})\b", re.ASCII)


def find_event(line: str, number: int) -> XidEvent | None:
    """Return the Xid or SXid that a line of a log reports, else None."""
    if "Xid (" not in line:
        return None
    if (switch := _SXID.search(line)) is not None:
        message = switch[4]
        link = _LINK_NUMBER.search(message)
        word = message.lower()
        fatal = False if word.startswith("non-fatal") else True if word.startswith("fatal") else None
        return XidEvent(
            number,
            int(switch[3]),
            switch[2],
            message,
            switch=switch[1],
            fatal=fatal,
            link=int(link[1]) if link else None,
        )
    found = _XID.search(line)
    if found is None:
        return None
    message = found[3]
    pid, name = _PID.search(message[:60]), _NAME.search(message[:160])
    process = name[1].strip() if name else ""
    return XidEvent(
        number,
        int(found[2]),
        found[1],
        message,
        pid=int(pid[1]) if pid else None,
        process=process if process and process != "<unknown>" else None,
    )
