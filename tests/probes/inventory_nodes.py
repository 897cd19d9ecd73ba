"""Fake nodes for the inventory probe: a tree in place of /proc, /sys and /etc, and tools in a folder of their own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from fourplane.formats.probe_lines import ProbeObservation, ProbeOutput, read

ROOT = Path(__file__).resolve().parents[2]
PROBE = ROOT / "src/fourplane/probes/inventory.py"
CORPUS = ROOT / "tests/corpus"


class Node:
    """One fake node."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.root.mkdir()
        self.tool("ldconfig", "")

    def file(self, path: str, text: str) -> None:
        """Write a file below the root."""
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text, encoding="utf-8")

    def link(self, path: str, target: str) -> None:
        """Make a relative link below the root, as sysfs has them."""
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        (self.root / target).mkdir(parents=True, exist_ok=True)
        where.symlink_to(os.path.relpath(self.root / target, where.parent), target_is_directory=True)

    def tool(self, name: str, output: str, status: int = 0) -> None:
        """Make a tool that prints a text whatever it is asked."""
        self.script(name, f"printf %s {shlex.quote(output)}\nexit {status}\n")

    def script(self, name: str, body: str) -> None:
        """Make a tool from a shell script."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}", encoding="utf-8")
        path.chmod(0o755)

    def smi(self, query: str, *, topo: str = "", log: str = "", listing: str = "") -> None:
        """Make an nvidia-smi that prints files of the corpus."""

        def show(name: str) -> str:
            return f"exec /bin/cat {shlex.quote(str(CORPUS / 'nvidia_smi' / name))}" if name else "exit 6"

        cases = {"--query-gpu=*": show(query), "topo": show(topo), "-q": show(log), "-L": show(listing)}
        body = "".join(f"{pattern}) {action} ;;\n" for pattern, action in cases.items())
        self.script("nvidia-smi", f'case "$1" in\n{body}esac\n')

    def pci(self, address: str, kind: str, vendor: str, device: str = "0x2330", driver: str = "") -> str:
        """Put a device on the PCI bus and return its folder."""
        folder = f"sys/devices/pci0000:00/{address}"
        for name, text in (("class", kind), ("vendor", vendor), ("device", device), ("numa_node", "0")):
            self.file(f"{folder}/{name}", text + "\n")
        if driver:
            self.link(f"{folder}/driver", f"sys/bus/pci/drivers/{driver}")
        self.link(f"sys/bus/pci/devices/{address}", folder)
        return folder

    def nic(self, name: str, address: str, *, speed: str = "", carrier: str = "1", driver: str = "mlx5_core") -> None:
        """Put a network interface on the PCI bus."""
        folder = self.pci(address, "0x020000", "0x15b3", driver=driver)
        self.link(f"sys/class/net/{name}/device", folder)
        for part, text in (("carrier", carrier), ("dev_port", "0"), ("speed", speed)):
            if text:
                self.file(f"sys/class/net/{name}/{part}", text + "\n")

    def rdma(self, name: str, address: str, layer: str, rate: str, state: str = "4: ACTIVE") -> None:
        """Give a PCI device an RDMA port."""
        self.link(f"sys/class/infiniband/{name}/device", f"sys/devices/pci0000:00/{address}")
        for part, text in (("link_layer", layer), ("rate", rate), ("state", state)):
            self.file(f"sys/class/infiniband/{name}/ports/1/{part}", text + "\n")

    def disk(self, name: str, gb: int, *, model: str = "", rotational: str = "0", **files: str) -> None:
        """Add a block device."""
        self.file(f"sys/block/{name}/size", f"{gb * 10**9 // 512}\n")
        self.file(f"sys/block/{name}/queue/rotational", rotational + "\n")
        for path, text in {"device/model": model, **files}.items():
            if text:
                self.file(f"sys/block/{name}/{path}", text + "\n")

    def cpus(self, sockets: int, cores: int, threads: int, model: str = "Example CPU 9000") -> None:
        """Add CPUs numbered as x86 firmware does: first threads of all cores, then second threads."""
        total, per_thread = sockets * cores * threads, sockets * cores
        base = "sys/devices/system/cpu"
        self.file(f"{base}/online", f"0-{total - 1}\n")
        for number in range(total):
            core = number % per_thread
            siblings = ",".join(str(core + thread * per_thread) for thread in range(threads))
            values = {"physical_package_id": core // cores, "core_id": core % cores, "core_cpus_list": siblings}
            for part, value in values.items():
                self.file(f"{base}/cpu{number}/topology/{part}", f"{value}\n")
        self.file("proc/cpuinfo", "".join(f"processor\t: {n}\nmodel name\t: {model}\n\n" for n in range(total)))
        for socket in range(sockets):
            self.file(f"sys/devices/system/node/node{socket}/cpulist", f"{socket * cores}-{(socket + 1) * cores - 1}\n")
            meminfo = f"Node {socket} MemTotal: 1000 kB\n"
            self.file(f"sys/devices/system/node/node{socket}/meminfo", meminfo)
        self.file("proc/meminfo", f"MemTotal:  {sockets * 1000} kB\nMemFree: 1 kB\nSwapTotal: 0 kB\n")
        self.file("etc/os-release", 'NAME="Example Linux"\nPRETTY_NAME="Example Linux 9.4"\n')
        self.file("proc/sys/kernel/osrelease", "6.8.0-example\n")

    def run(self, *arguments: str, deadline: float = 60.0) -> Found:
        """Run the probe on this node."""
        argv = [sys.executable, "-I", str(PROBE), "--root", str(self.root), "--deadline", str(deadline), *arguments]
        environment = {"PATH": str(self.bin)}
        done = subprocess.run(
            argv, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=90, check=False
        )
        return Found(done)


class Found:
    """What the probe said."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.lines = done.stdout.splitlines()
        self.status, self.stderr = done.returncode, done.stderr
        self.output: ProbeOutput = read(self.lines)

    def kinds(self) -> list[str]:
        """Return the kinds of the lines in order."""
        return [json.loads(line)["t"] for line in self.lines]

    def one(self, metric: str, subject: str = "") -> ProbeObservation:
        """Return the one observation of a metric."""
        (found,) = [o for o in self.output.observations if (o.metric, o.subject) == (metric, subject)]
        return found

    def value(self, metric: str, subject: str = "") -> Any:
        """Return the measured value of a metric."""
        found = self.one(metric, subject)
        assert str(found.state) == "measured", found
        return found.value

    def why(self, metric: str, subject: str = "") -> tuple[str, str]:
        """Return the state and the reason of a metric without a value."""
        found = self.one(metric, subject)
        assert found.value is None, found
        return str(found.state), found.reason


def hgx_node(folder: Path) -> Node:
    """Return an 8-GPU node: 2 sockets, 8 InfiniBand NICs without network devices, 2 Ethernet ports, NVMe."""
    node = Node(folder)
    node.cpus(2, 4, 2)
    for number in range(8):
        address = f"0000:{0x11 + number * 0x10:02x}:00.0"
        folder_of = node.pci(address, "0x030200", "0x10de", driver="nvidia")
        node.file(f"{folder_of}/max_link_speed", "32.0 GT/s PCIe\n")
        nic = f"0000:{0x12 + number * 0x10:02x}:00.0"
        node.pci(nic, "0x020700", "0x15b3", driver="mlx5_core")
        node.rdma(f"mlx5_{number}", nic, "InfiniBand", "400 Gb/sec (4X NDR)")
    node.pci("0000:02:00.0", "0x030000", "0x1a03", driver="ast")  # the board's own display
    for number in range(2):
        address = f"0000:a{number}:00.0"
        node.nic(f"eth{number}", address, speed="100000")
        node.rdma(f"mlx5_{8 + number}", address, "Ethernet", "100 Gb/sec (4X EDR)")
    for number in range(4):
        node.disk(f"nvme{number}n1", 3840, model=f"EXAMPLE NVME {number}", **{"device/transport": "pcie"})
    node.disk("sda", 480, model="EXAMPLE SSD")
    node.file("proc/modules", "nvidia_peermem 16384 0 - Live 0x0\nnvidia 1 0 - Live 0x0\n")
    node.smi("query_8gpus.csv", topo="topo_8gpus_9nics.txt", log="q_8gpus.txt")
    return node
