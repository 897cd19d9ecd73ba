#!/usr/bin/env python3
"""Inventory of one node: CPU, NUMA, memory, GPUs, NICs, RDMA, disks, software, clock. JSON lines on stdout.

One file, standard library, Python 3.8 or newer, no root. Every metric it owes comes out exactly once per subject:
measured, absent (looked for, not there), failed (the attempt broke) or skipped, with the reason. Output of the GPU
tools is sent as raw text and read on the controller, by the same parsers that read imported files.

A child that hangs, also in the kernel, holds up nothing: it gets a session, a time limit and a cap on its output.
Sources: Linux Documentation/ABI (sysfs), proc(5), cgroups(7); help texts of the tools that are called.
"""

import argparse
import json
import os
import platform
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

VERSION = 1
TOOL_TIMEOUT_S = 10.0
OUTPUT_CAP, READ_CAP = 1024 * 1024, 4 * 1024 * 1024
UNITS = {
    "compute.memory.total": "B", "compute.memory.swap": "B", "compute.gpu.memory": "B", "compute.gpu.power_limit": "W",
    "network.nic.speed": "b/s", "storage.local.nvme_total": "B", "storage.scratch.free": "B",
    "control.clock.offset": "s",
}  # fmt: skip
GPU_METRICS = (
    "compute.gpu.count", "compute.gpu.model", "compute.gpu.memory", "compute.gpu.mig", "compute.gpu.topology",
    "compute.gpu.driver", "compute.gpu.power_limit", "compute.gpu.ecc_uncorrected", "compute.cuda.version",
)  # fmt: skip
GPU_FIELDS = "index,name,uuid,pci.bus_id,driver_version,memory.total,mig.mode.current,"
GPU_FIELDS += "ecc.errors.uncorrected.volatile.total,enforced.power.limit"
NEWER_FIELDS = ",pcie.link.gen.max,pcie.link.width.max,pcie.link.width.current,compute_cap,vbios_version"

PCI_VENDORS = {"0x10de": "nvidia", "0x1002": "amd", "0x8086": "intel", "0x1da3": "habana", "0x1d0f": "amazon"}
PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7a-f]")
# disks that are NVMe by protocol and network storage by nature
NETWORK_DISKS = ("Amazon Elastic Block Store", "nvme_card-pd", "MSFT NVMe Accelerator")
RUNTIMES = ("docker", "podman", "containerd", "nerdctl", "crictl", "enroot", "apptainer", "singularity")
SCHEDULERS = {
    "slurm": ("sinfo", "srun", "slurmd"), "kubernetes": ("kubelet", "kubectl", "k3s"), "ray": ("ray",),
    "volcano": ("vcctl",), "pbs": ("qsub", "pbsnodes"), "lsf": ("bsub",), "flux": ("flux",),
}  # fmt: skip
API_QUERY = ["kubectl", "get", "--raw=/version", "--request-timeout=3s"]
GPUDIRECT_MODULES = ("nvidia_peermem", "nv_peer_mem", "gdrdrv", "nvidia_fs", "efa_nv_peermem")
ARM_PARTS = {
    ("0x41", "0xd0c"): "Neoverse-N1", ("0x41", "0xd40"): "Neoverse-V1", ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4f"): "Neoverse-V2", ("0x41", "0xd84"): "Neoverse-V3",
}  # fmt: skip

PYTHON_NCCL = """
import importlib.metadata, json, sys
packages = [(d.metadata["Name"] or "", d.version) for d in importlib.metadata.distributions()]
found = [p for p in packages if p[0].lower().startswith(("nvidia-nccl", "nvidia_nccl"))]
if not found and sys.argv[1] == "1":
    try:
        import torch
        found.append(("torch " + torch.__version__, ".".join(str(p) for p in torch.cuda.nccl.version())))
    except Exception:
        pass
print(json.dumps(found))
"""
FILE_SYSTEM = """
import json, os, sys
p = os.path.realpath(sys.argv[1])
s = os.statvfs(p)
print(json.dumps([p, s.f_bavail * s.f_frsize, s.f_blocks * s.f_frsize, bool(s.f_flag & os.ST_RDONLY)]))
"""

_children: Set[int] = set()


class Outcome(NamedTuple):
    """How a tool ended: ok, absent or failed; its output, the reason when not ok, its exit status if it had one."""

    state: str
    text: str = ""
    reason: str = ""
    code: Optional[int] = None

    @property
    def ok(self) -> bool:
        """Tell whether the tool ended well."""
        return self.state == "ok"


def now() -> str:
    """Return the time in UTC, ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def one_line(text: str, width: int = 200) -> str:
    """Return the first line with something on it, printable and cut."""
    for line in text.splitlines():
        if line.strip():
            return "".join(c if c.isprintable() else " " for c in line.strip())[:width]
    return ""


def number_list(text: str) -> List[int]:
    """Expand a kernel list such as ``0-3,8``; bounded."""
    out: List[int] = []
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        if low.isdigit() and (high.isdigit() or not high):
            out += range(int(low), min(int(high or low), int(low) + 65535) + 1)
    return out


def version_in(text: str) -> Optional[str]:
    """Return the first version number in a text."""
    match = re.search(r"\d{1,6}(?:\.\d{1,6}){1,4}(?:[-+~.][0-9A-Za-z.+~-]{1,40})?", text[:4000])
    return match.group(0).rstrip(".,-") if match else None


def kill(pid: int) -> None:
    """Kill a child's whole session."""
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


class Probe:
    """State of one run: where to read, what was said, how much time is left."""

    def __init__(self, root: str, scratch: str, deadline_s: float, out: Any) -> None:
        self.root, self.scratch, self._out = root.rstrip("/"), scratch, out
        self.started = time.monotonic()
        self.end = self.started + deadline_s
        self.late = "deadline of %g s reached" % deadline_s
        self.said: Set[Tuple[str, str]] = set()
        self.deferred: Set[str] = set()
        self.raw_names: Set[str] = set()
        self.pci_gpus = 0

    def emit(self, line: Dict[str, Any]) -> None:
        """Write one line and flush it, so that a kill loses nothing that was said."""
        self._out.write((json.dumps(line, allow_nan=False) + "\n").encode("ascii"))
        self._out.flush()

    def say(self, metric: str, value: Any, method: str, subject: str = "", **more: Any) -> None:
        """Write one observation (more: state, reason, conditions, raw), the first of its subject and metric only."""
        if (subject, metric) not in self.said:
            self.said.add((subject, metric))
            line = {"t": "observation", "subject": subject, "metric": metric, "value": value}
            line.update(unit=UNITS.get(metric, ""), method="inventory/%d %s" % (VERSION, method), at=now())
            self.emit(dict(line, **dict({"state": "measured"}, **more)))

    def miss(self, metric: str, method: str, reason: str, state: str = "absent", **more: Any) -> None:
        """Write that there is no value, and why."""
        self.say(metric, None, method, state=state, reason=reason, **more)

    def tell(self, metric: str, value: Any, method: str, otherwise: str, **more: Any) -> None:
        """Write the value where there is one, else that it is absent and why."""
        if value:
            self.say(metric, value, method, **more)
        else:
            self.miss(metric, method, otherwise, **{k: v for k, v in more.items() if k != "reason"})

    def send_raw(self, name: str, text: str) -> None:
        """Write a raw text; the first one of a name stays."""
        if text and name not in self.raw_names:
            self.raw_names.add(name)
            self.emit({"t": "raw", "name": name, "text": text})

    def path(self, path: str) -> str:
        """Return a path below the root."""
        return self.root + path

    def read(self, path: str, cap: int = READ_CAP) -> Optional[str]:
        """Return a file's text, None where it can't be read (sysfs answers EINVAL for what is unknown)."""
        with suppress(OSError), open(self.path(path), "rb") as handle:
            return handle.read(cap).decode("utf-8", "replace")
        return None

    def value(self, path: str) -> str:
        """Return a one-line file without white space around it, "" where it can't be read."""
        return (self.read(path, 65536) or "").strip()

    def names(self, path: str) -> Optional[List[str]]:
        """Return the entries of a folder in order, None without the folder."""
        with suppress(OSError):
            return sorted(os.listdir(self.path(path)))
        return None

    def target(self, path: str) -> str:
        """Return the last part of what a link points to, "" where there is none."""
        return os.path.basename(os.path.realpath(self.path(path))) if self.has(path) else ""

    def has(self, path: str) -> bool:
        """Tell whether something is there."""
        return os.path.exists(self.path(path))

    def pci_address(self, path: str) -> str:
        """Return the PCI address of a device folder, the nearest one upwards; "" for none."""
        found = PCI_ADDRESS.findall(os.path.realpath(self.path(path)))
        return found[-1] if found else ""

    def numa(self, path: str) -> Optional[int]:
        """Return the NUMA node of a device, None where the firmware does not say."""
        text = self.value(path + "/numa_node")
        return int(text) if text.isdigit() else None

    def run(self, argv: List[str], raw: str = "") -> Outcome:
        """Run a tool within its limits; its output is also sent as raw text where a name is given."""
        tool = os.path.basename(argv[0])
        found = argv[0] if os.path.isabs(argv[0]) else shutil.which(argv[0])
        if not found:
            return Outcome("absent", reason="%s not on PATH" % tool)
        limit = min(TOOL_TIMEOUT_S, self.end - time.monotonic())
        if limit <= 0:
            return Outcome("failed", reason=self.late)
        environment = dict(os.environ, LC_ALL="C", LANG="C")
        try:
            process = subprocess.Popen(
                [found, *argv[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environment, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return Outcome("failed", reason="%s can't be started: %s" % (tool, error.strerror or error))
        _children.add(process.pid)
        try:
            outcome = self.follow(process, tool, limit)
        finally:
            kill(process.pid)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1.0)  # a task stuck in the kernel never ends; it is left behind
            _children.discard(process.pid)
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        if raw:
            self.send_raw(raw, outcome.text)
        return outcome

    def follow(self, process: "subprocess.Popen[bytes]", tool: str, limit: float) -> Outcome:
        """Collect a child's output until it ends, hangs or writes too much."""
        end = time.monotonic() + limit
        late = "%s did not end within %.3g s" % (tool, limit)
        pipes = [pipe.fileno() for pipe in (process.stdout, process.stderr) if pipe]
        output = dict.fromkeys(pipes, b"")
        with selectors.DefaultSelector() as selector:
            for pipe in pipes:
                selector.register(pipe, selectors.EVENT_READ)
            ended = False
            while selector.get_map():
                ready = selector.select(max(0.0, min(end - time.monotonic(), 0.1)))
                if not ready and ended:
                    break  # the tool is gone, a grandchild holds the pipe
                if time.monotonic() > end:
                    return Outcome("failed", output[pipes[0]].decode("utf-8", "replace"), late)
                ended = process.poll() is not None
                for key, _ in ready:
                    data = os.read(key.fd, 65536)
                    output[key.fd] += data
                    if len(output[key.fd]) > OUTPUT_CAP:
                        return Outcome("failed", "", "%s wrote more than %d bytes" % (tool, OUTPUT_CAP))
                    if not data:
                        selector.unregister(key.fd)
        text, errors = (output[pipe].decode("utf-8", "replace") for pipe in pipes)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=max(0.1, end - time.monotonic()))
        code = process.poll()
        if not code:
            return Outcome("failed", text, late) if code is None else Outcome("ok", text, code=0)
        said = one_line(errors) or one_line(text)
        how = "was killed by signal %d" % -code if code < 0 else "ended with status %d" % code
        return Outcome("failed", text, "%s %s%s" % (tool, how, ": " + said if said else ""), code)

    def ask(self, metric: str, tools: List[List[str]], find: Callable[[str], Any]) -> None:
        """Write what ``find`` sees in the output of the first tool that is there and works, or why there is nothing."""
        reasons, state = [], "absent"
        for argv in tools:
            raw = "version-" + argv[0] if "ersion" in argv[1] or argv[1] == "-V" else argv[0]
            outcome = self.run(argv, raw=raw)
            found = find(outcome.text) if outcome.ok else None
            if found is not None:
                self.say(metric, found, " ".join(argv), raw=raw)
                return
            state = "failed" if outcome.state != "absent" else state
            reasons.append(outcome.reason or "%s does not say" % argv[0])
        self.miss(metric, tools[0][0], "; ".join(reasons), state=state)


def cgroup_limits(p: Probe) -> Dict[str, Any]:
    """Return the limits that a container or job is under: CPUs by quota, memory in bytes, CPUs allowed."""
    limits: Dict[str, Any] = {}
    quotas: List[float] = []
    memories: List[float] = []
    for line in (p.read("/proc/self/cgroup") or "").splitlines()[:64]:
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        v1 = [c for c in ("cpu", "memory") if c in controllers.split(",")]
        for base in ["/sys/fs/cgroup"] if not controllers else ["/sys/fs/cgroup/" + c for c in v1]:
            parts = [part for part in group.split("/") if part and part != ".."]
            # the limits of every level hold; inside a namespace the own group is the root of the mount
            for depth in range(min(len(parts), 32), -1, -1):
                folder = "/".join([base, *parts[:depth]])
                quota, _, period = p.value(folder + "/cpu.max").partition(" ")
                if not quota:
                    quota, period = p.value(folder + "/cpu.cfs_quota_us"), p.value(folder + "/cpu.cfs_period_us")
                if quota.isdigit() and period.isdigit() and int(period) > 0:
                    quotas.append(int(quota) / int(period))
                memory = p.value(folder + "/memory.max") or p.value(folder + "/memory.limit_in_bytes")
                if memory.isdigit() and int(memory) < 1 << 60:
                    memories.append(int(memory))
    for name, found in (("cpu_quota", quotas), ("memory_limit_bytes", memories)):
        if found:
            limits[name] = round(min(found), 3)
    allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", p.read("/proc/self/status") or "", re.M)
    if allowed:
        limits["cpus_allowed"] = len(number_list(allowed.group(1)))
    return limits


def cpu(p: Probe) -> None:
    """CPU model, architecture, sockets, physical cores, threads."""
    info = p.read("/proc/cpuinfo") or ""
    fields: Dict[str, Set[str]] = {}
    for line in info.splitlines():
        key, _, text = line.partition(":")
        fields.setdefault(key.strip(), set()).add(text.strip())
    models = sorted(fields.get("model name", fields.get("Model Name", set())))
    virtual = {"virtual_machine": True} if any(" hypervisor" in f for f in fields.get("flags", set())) else {}
    if not models and fields.get("CPU implementer"):
        maker, parts = sorted(fields["CPU implementer"])[0], sorted(fields.get("CPU part", {""}))
        models = [ARM_PARTS.get((maker, part), "ARM implementer %s part %s" % (maker, part)) for part in parts]
    p.tell("compute.cpu.model", " + ".join(models), "/proc/cpuinfo", "/proc/cpuinfo names no model", conditions=virtual)
    p.say("compute.cpu.architecture", platform.machine() or "unknown", "uname")
    base = "/sys/devices/system/cpu"
    listed = (re.fullmatch(r"cpu(\d+)", name) for name in p.names(base) or [])
    online = number_list(p.value(base + "/online")) or [int(match.group(1)) for match in listed if match]
    packages, cores = set(), set()
    for one in online:
        topology = "%s/cpu%d/topology/" % (base, one)
        package, core = p.value(topology + "physical_package_id"), p.value(topology + "core_id")
        siblings = p.value(topology + "core_cpus_list") or p.value(topology + "thread_siblings_list")
        if package and (core or siblings):
            packages.add(package)
            # core_id may repeat from die to die; the list of a core's threads can't
            cores.add(siblings or (package, p.value(topology + "die_id"), core))
    offline = len(number_list(p.value(base + "/offline")))
    limits = dict(cgroup_limits(p), **({"offline": offline} if offline else {}))
    threads = len(online) or len(fields.get("processor", ()))
    for metric, count in (("sockets", len(packages)), ("cores", len(cores)), ("threads", threads)):
        p.tell("compute.cpu." + metric, count, "sysfs topology", "the kernel shows no CPU topology", conditions=limits)


def memory(p: Probe) -> None:
    """Memory, swap, NUMA nodes."""
    info = dict(re.findall(r"^(\w+):\s+(\d+) kB", p.read("/proc/meminfo") or "", re.M))
    limits = {k: v for k, v in cgroup_limits(p).items() if k.startswith("memory")}
    for metric, key in (("compute.memory.total", "MemTotal"), ("compute.memory.swap", "SwapTotal")):
        if key in info:
            p.say(metric, int(info[key]) * 1024, "/proc/meminfo", conditions=limits)
        else:
            p.miss(metric, "/proc/meminfo", "/proc/meminfo has no %s" % key)
    nodes = []
    found = (re.fullmatch(r"node(\d+)", name) for name in p.names("/sys/devices/system/node") or [])
    for number in sorted(int(match.group(1)) for match in found if match):
        folder = "/sys/devices/system/node/node%d" % number
        total = re.search(r"MemTotal:\s+(\d+) kB", p.read(folder + "/meminfo") or "")
        size = int(total.group(1)) * 1024 if total else None
        nodes.append({"id": number, "cpus": p.value(folder + "/cpulist"), "memory_bytes": size})
    # superchips show each GPU's memory as nodes without CPUs; they are listed, not counted
    count = sum(1 for node in nodes if node["cpus"]) or len(nodes)
    p.tell("compute.numa.nodes", count, "sysfs", "no /sys/devices/system/node: no NUMA", conditions={"nodes": nodes})


def system(p: Probe) -> None:
    """Operating system, kernel, whether this is a container."""
    text = p.read("/etc/os-release") or p.read("/usr/lib/os-release") or ""
    release = {key: quoted.strip("\"'") for key, quoted in re.findall(r"^(\w+)=(.*?)\s*$", text, re.M)}
    marks = (("/.dockerenv", "docker"), ("/run/.containerenv", "podman"))
    groups = re.search(r"kubepods|docker|containerd|libpod|lxc", p.read("/proc/1/cgroup") or "")
    kind = p.value("/run/systemd/container") or next((name for path, name in marks if p.has(path)), "")
    machine = " ".join(p.value("/sys/class/dmi/id/" + part) for part in ("sys_vendor", "product_name")).strip()
    seen = {"container": kind or (groups.group(0) if groups else ""), "machine": machine[:120]}
    where = {key: text for key, text in seen.items() if text}
    name = release.get("PRETTY_NAME") or "%s %s" % (release.get("NAME", ""), release.get("VERSION_ID", ""))
    p.tell("compute.os.image", name.strip(), "/etc/os-release", "/etc/os-release is not there", conditions=where)
    p.say("compute.kernel.version", p.value("/proc/sys/kernel/osrelease") or platform.release(), "uname")


def scan_pci(p: Probe) -> Optional[List[Dict[str, Any]]]:
    """Return display controllers and accelerators on the PCI bus; None where there is no bus to look at."""
    devices = p.names("/sys/bus/pci/devices")
    if not devices:
        return None  # an empty bus is a hidden one
    found = []
    for address in devices:
        folder = "/sys/bus/pci/devices/" + address
        kind, vendor = p.value(folder + "/class"), p.value(folder + "/vendor")
        # 0x03: display controllers; 0x12: processing accelerators, as which AMD Instinct and others announce themselves
        if kind[:4] in ("0x03", "0x12"):
            entry: Dict[str, Any] = {"address": address, "vendor": PCI_VENDORS.get(vendor, vendor), "class": kind}
            entry.update(driver=p.target(folder + "/driver"), numa_node=p.numa(folder))
            for name in ("device", "current_link_speed", "current_link_width", "max_link_speed", "max_link_width"):
                entry[name] = p.value(folder + "/" + name)
            found.append(entry)
    return found


def gpus(p: Probe) -> None:
    """GPUs: the PCI bus first, then the vendor's tools; what they print is read on the controller."""
    devices = scan_pci(p)
    if devices is None:
        p.miss("compute.gpu.pci", "pci scan", "no PCI bus is visible in /sys")
    else:
        p.say("compute.gpu.pci", devices, "pci scan")
    p.pci_gpus = sum(1 for one in devices or [] if one["vendor"] in ("nvidia", "amd"))
    answers = []
    for tool in (nvidia, amd):
        answers.append(tool(p))
        if answers[-1][1] == "ok":
            p.deferred.update(GPU_METRICS)
            return
    said = "; ".join(reason for reason, _ in answers)
    state, why = max(state for _, state in answers), "no PCI bus is visible in /sys; " + said  # failed beats absent
    if p.pci_gpus:  # never to be read as "no GPU": the hardware is there, only nobody can ask it
        state, why = "failed", "%d on the PCI bus, but no driver tool answers: %s" % (p.pci_gpus, said)
    elif devices is not None:
        p.say("compute.gpu.count", 0, "pci scan", reason=said, conditions={"pci": 0})
        state, why = "absent", "no NVIDIA or AMD GPU on the PCI bus"
    for metric in GPU_METRICS:
        p.miss(metric, "pci scan", why, state=state, conditions={"pci": None if devices is None else p.pci_gpus})


def nvidia(p: Probe) -> Tuple[str, str]:
    """Ask nvidia-smi; return state ok when its output was sent, else why there is none and the state."""
    outcome = p.run(["nvidia-smi", "--query-gpu=" + GPU_FIELDS + NEWER_FIELDS, "--format=csv"])
    if "not a valid field" in outcome.text + outcome.reason:
        outcome = p.run(["nvidia-smi", "--query-gpu=" + GPU_FIELDS, "--format=csv"])
    # what a tool wrote before it was stopped is no list of GPUs; an error of one GPU leaves the others' rows
    if outcome.code is None or not re.search(r"^index, name.*\n+\d", outcome.text, re.M):
        p.send_raw("nvidia-smi-error", outcome.text[:65536])
        listed_none = "nvidia-smi listed no GPU: " + one_line(outcome.text)
        return (listed_none, "failed") if outcome.ok else (outcome.reason, outcome.state)
    p.send_raw("nvidia-smi-query", outcome.text)
    for raw, argv, metric in (
        ("nvidia-smi-topo", ["nvidia-smi", "topo", "-m"], "compute.gpu.topology"),
        ("nvidia-smi-q", ["nvidia-smi", "-q"], "compute.cuda.version"),
    ):
        extra = p.run(argv, raw=raw)
        if not extra.ok:
            p.miss(metric, " ".join(argv), extra.reason, state=extra.state)
    if ", Enabled" in outcome.text:
        p.run(["nvidia-smi", "-L"], raw="nvidia-smi-list")
    return "", "ok"


def amd(p: Probe) -> Tuple[str, str]:
    """Ask amd-smi, then rocm-smi; return state ok when output was sent, else why there is none and the state."""
    reasons, state = [], "absent"
    rocm = ["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--showbus", "--json"]
    for argv in (["amd-smi", "static", "--json"], rocm):
        outcome = p.run(argv, raw=argv[0])
        if outcome.ok and re.search(r"market_name|\"card\d", outcome.text):
            topology = p.run(["rocm-smi", "--showtopotype", "--json"], raw="rocm-smi-topo")
            if not topology.ok:
                p.miss("compute.gpu.topology", "rocm-smi --showtopotype", topology.reason, state=topology.state)
            p.miss("compute.cuda.version", argv[0], "CUDA belongs to NVIDIA GPUs")
            return "", "ok"
        state = "failed" if outcome.state != "absent" else state
        reasons.append(outcome.reason or "%s listed no GPU" % argv[0])
    return "; ".join(reasons), state


def nccl(p: Probe) -> None:
    """NCCL or RCCL: what the loader finds, what Python brings along, what the header says."""
    found: List[Dict[str, str]] = []
    cache = p.run(["ldconfig" if shutil.which("ldconfig") else "/sbin/ldconfig", "-p"])
    for path in re.findall(r"lib[nr]ccl\.so\S* .*=> (\S+)", cache.text):
        version = os.path.basename(os.path.realpath(p.path(path))).partition(".so.")[2]
        if version.count(".") == 2:  # the file itself is named libnccl.so.MAJOR.MINOR.PATCH
            found.append({"where": path, "version": version})
    asked = p.run(["python3", "-c", PYTHON_NCCL, "1" if p.pci_gpus else "0"])
    for where, version in json.loads(asked.text) if asked.ok else []:
        found.append({"where": str(where), "version": str(version)})
    for path in ("/usr/include/nccl.h", "/usr/local/cuda/include/nccl.h", "/opt/rocm/include/rccl/rccl.h"):
        numbers = re.findall(r"#define NCCL_(?:MAJOR|MINOR|PATCH)\s+(\d+)", p.read(path, 65536) or "")
        if len(numbers) == 3:
            found.append({"where": path, "version": ".".join(numbers)})
    broken = "; ".join(one.reason for one in (cache, asked) if one.state == "failed")
    if found:
        p.say("compute.nccl.version", found[0]["version"], found[0]["where"], conditions={"found": found})
    else:
        why = broken or "no libnccl or librccl in the loader's cache, no Python package, no header"
        p.miss("compute.nccl.version", "ldconfig, python3, headers", why, state="failed" if broken else "absent")


def cuda_toolkit(p: Probe) -> None:
    """CUDA toolkit: the file that it leaves, else nvcc."""
    match = re.search(r'"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([\d.]+)"', p.value("/usr/local/cuda/version.json"))
    if match:
        p.say("compute.cuda.toolkit", match.group(1), "/usr/local/cuda/version.json")
    else:
        p.ask("compute.cuda.toolkit", [["nvcc", "--version"]], lambda text: version_in(text.partition(" release ")[2]))


def rdma_ports(p: Probe) -> List[Dict[str, Any]]:
    """Return the ports of all RDMA devices."""
    ports = []
    for name in p.names("/sys/class/infiniband") or []:
        folder = "/sys/class/infiniband/" + name
        driver, device = p.target(folder + "/device/driver"), folder + "/device"
        for port in filter(str.isdigit, p.names(folder + "/ports") or []):
            base = "%s/ports/%s" % (folder, port)
            layer, rate = p.value(base + "/link_layer"), re.match(r"[\d.]+ Gb/sec", p.value(base + "/rate"))
            kind = {"InfiniBand": "infiniband", "Ethernet": "roce"}.get(layer, "unknown")
            one: Dict[str, Any] = {"device": name, "port": int(port), "driver": driver, "link_layer": layer}
            one.update(kind="efa" if driver == "efa" else kind, state=p.value(base + "/state").partition(": ")[2])
            bps = int(float(rate.group(0).split()[0]) * 1e9) if rate else None
            one.update(rate=p.value(base + "/rate"), rate_bps=bps)
            one.update(pci=p.pci_address(device), numa_node=p.numa(device), firmware=p.value(folder + "/fw_ver"))
            one.update(virtual_function=p.has(device + "/physfn"), software=not p.has(device))
            ports.append(one)
    return ports


def interfaces(p: Probe) -> Tuple[List[Dict[str, Any]], List[str]]:
    """Return physical network interfaces (RDMA ports without a network device too) and the names left out."""
    rdma = {(one["pci"], max(0, one["port"] - 1)): one for one in rdma_ports(p) if one["pci"]}
    nics: List[Dict[str, Any]] = []
    left_out: List[str] = []
    taken: Set[Tuple[str, int]] = set()
    for name in p.names("/sys/class/net") or []:
        folder = "/sys/class/net/" + name
        device, index = folder + "/device", p.value(folder + "/dev_port")
        key = (p.pci_address(device), int(index) if index.isdigit() else 0)
        if name == "lo" or not os.path.isdir(p.path(folder)):
            continue
        usb = p.target(device + "/subsystem") == "usb"  # the link to the board's management controller
        if not p.has(device) or p.has(device + "/physfn") or usb or (key[0] and key in taken):
            left_out.append(name)
            continue
        taken.add(key)
        port, speed = rdma.get(key), p.value(folder + "/speed")
        nic: Dict[str, Any] = {
            "name": name,
            "kind": "ethernet",
            "driver": p.target(device + "/driver"),
            "pci": key[0],
            "rdma": None,
        }
        bps = int(speed) * 1000000 if speed.isdigit() and 0 < int(speed) < 10**8 else None
        nic.update(speed_bps=bps, up=p.value(folder + "/carrier") == "1", numa_node=p.numa(device))
        if port:
            nic.update(kind=port["kind"], rdma=port["device"])
        if port and port["kind"] == "infiniband":
            nic.update(speed_bps=port["rate_bps"], up=port["state"] == "ACTIVE")
        nics.append(nic)
    for key, port in sorted(rdma.items()):
        if key not in taken and not port["virtual_function"]:
            name = port["device"] if port["port"] < 2 else "%s:%d" % (port["device"], port["port"])
            nic = {"name": name, "rdma": port["device"], "speed_bps": port["rate_bps"], "up": port["state"] == "ACTIVE"}
            nics.append(dict(nic, **{field: port[field] for field in ("kind", "driver", "pci", "numa_node")}))
    return nics, left_out


def network(p: Probe) -> None:
    """NICs, modules for GPUDirect."""
    nics, left_out = interfaces(p)
    note = {"left_out": left_out[:200]} if left_out else {}
    for metric, value in (("network.nic.count", len(nics)), ("network.nic.devices", nics)):
        # a container or namespace hides the node's own: none visible is never none there
        only = "only virtual interfaces are visible: " + (", ".join(left_out[:8]) or "lo, if any")
        p.tell(metric, value, "sysfs", only, conditions=note)
    for nic in nics:
        subject, about = "nic:" + nic["name"], {field: nic[field] for field in ("driver", "up", "kind")}
        why = "driver %s reports no speed" % (nic["driver"] or "unknown") if nic["up"] else "the link is down"
        p.tell("network.nic.speed", nic["speed_bps"], "sysfs", why, subject=subject, conditions=about)
    if not nics:
        p.miss("network.nic.speed", "sysfs", "no physical interface is visible")
    loaded = {line.split(" ", 1)[0] for line in (p.read("/proc/modules") or "").splitlines()}
    modules = [name for name in GPUDIRECT_MODULES if name in loaded]
    p.tell("network.gpudirect.modules", modules, "/proc/modules", "none of %s loaded" % ", ".join(GPUDIRECT_MODULES))


def fabric(p: Probe) -> None:
    """RDMA devices, and the kind that carries most of the bandwidth."""
    ports = rdma_ports(p)
    p.tell("network.rdma.devices", ports, "sysfs", "no entry in /sys/class/infiniband: no RDMA device or driver")
    real = [one for one in ports if not one["software"] and one["kind"] != "unknown"]
    active = [one for one in real if one["state"] == "ACTIVE"]
    if real:
        rates: Dict[str, int] = {}
        for one in active or real:
            rates[one["kind"]] = rates.get(one["kind"], 0) + (one["rate_bps"] or 0)
        counts = {kind: sum(1 for one in active or real if one["kind"] == kind) for kind in sorted(rates)}
        best = max(sorted(rates), key=lambda kind: (rates[kind], counts[kind]))
        reason = "" if active else "no port is active; the kind is that of the ports that are down"
        p.say("network.fabric.kind", best, "sysfs", reason=reason, conditions={"ports": counts, "active": len(active)})
    else:
        kind = "ethernet" if interfaces(p)[0] else None
        p.tell("network.fabric.kind", kind, "sysfs", "no RDMA device and no physical interface is visible")


def disks(p: Probe) -> None:
    """Block devices that stand for hardware: NVMe, SSD, HDD, virtual disks, network disks."""
    if p.names("/sys/block") is None:
        for metric in ("storage.local.devices", "storage.local.nvme_total"):
            p.miss(metric, "sysfs", "/sys/block is not visible")
    found = []
    for name in p.names("/sys/block") or []:
        folder = "/sys/block/" + name
        sectors = p.value(folder + "/size")
        # hidden: one path of a multipath NVMe device, which is listed under its own name too
        software = re.match(r"(loop|ram|zram|dm-|md|sr|fd|nbd|drbd|rbd)", name) or p.value(folder + "/hidden") == "1"
        if software or not sectors.isdigit() or int(sectors) == 0:
            continue
        model = " ".join((p.value(folder + "/device/model") or p.value(folder + "/device/device/model")).split())[:80]
        paths = sorted(n for n in p.names(folder + "/device") or [] if n.startswith("nvme"))
        transports = [p.value("%s/device/%s/transport" % (folder, path)) for path in [".", *paths[:8]]]
        transport = next(filter(None, transports), "")
        rotational = p.value(folder + "/queue/rotational") == "1"
        if name.startswith("nvme"):
            kind = "network" if transport not in ("", "pcie") or model.startswith(NETWORK_DISKS) else "nvme"
        elif name.startswith(("vd", "xvd")) or re.search(r"virtual disk|QEMU|PersistentDisk", model, re.I):
            kind = "virtual"
        else:
            kind = "hdd" if rotational else "ssd"
        one: Dict[str, Any] = {
            "name": name,
            "kind": kind,
            "bytes": int(sectors) * 512,
            "model": model,
            "rotational": rotational,
        }
        found.append(dict(one, transport=transport, numa_node=p.numa(folder + "/device")))
    p.tell("storage.local.devices", found, "sysfs", "no block device of its own is visible")
    nvme = [one["bytes"] for one in found if one["kind"] == "nvme"]
    p.say("storage.local.nvme_total", sum(nvme), "sysfs", conditions={"devices": len(nvme)})


def scratch(p: Probe) -> None:
    """File system and free space under the scratch folder, asked in a child: a dead mount hangs whoever asks."""
    state, why, text = "skipped", "no scratch folder was named (--scratch)", ""
    if p.scratch:
        outcome = p.run([sys.executable, "-I", "-S", "-c", FILE_SYSTEM, p.scratch])
        state, why, text = outcome.state, "the scratch folder gives no answer: " + outcome.reason, outcome.text
    if state != "ok":
        for metric in ("storage.scratch.filesystem", "storage.scratch.free"):
            p.miss(metric, "statvfs", why, state=state)
        return
    place, free, total, read_only = json.loads(text)
    mount: Tuple[str, str, str] = ("", "", "")
    for line in (p.read("/proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        fields, tail = left.split(" "), right.split(" ")
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m.group(1), 8)), fields[4]) if len(fields) > 5 else ""
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if point and len(tail) > 1 and inside and len(point) >= len(mount[0]):  # a later mount hides an earlier one
            mount = (point, tail[0], tail[1])
    about = {"mount": mount[0], "device": mount[2], "total_bytes": total, "read_only": read_only}
    why = "no mount holds %s" % place[:200]
    p.tell("storage.scratch.filesystem", mount[1], "/proc/self/mountinfo", why, conditions=about)
    p.say("storage.scratch.free", free, "statvfs", conditions=about)


def containers(p: Probe) -> None:
    """Container runtimes and NVIDIA's container toolkit."""
    found, broken = [], []
    for name in RUNTIMES:
        outcome = p.run([name, "version"] if name == "enroot" else [name, "--version"], raw="version-" + name)
        version = version_in(outcome.text)
        if outcome.ok and version:
            found.append("%s %s" % (name, version))
        elif outcome.state != "absent":
            broken.append(outcome.reason or "%s names no version" % name)
    if found or not broken:
        none = "none of %s on PATH" % ", ".join(RUNTIMES)
        p.tell("compute.container.runtime", found, "--version", none, reason="; ".join(broken))
    else:
        p.miss("compute.container.runtime", "--version", "; ".join(broken), state="failed")
    toolkit = [["nvidia-ctk", "--version"], ["nvidia-container-cli", "--version"]]
    p.ask("compute.container.toolkit", toolkit, version_in)


def schedulers(p: Probe) -> None:
    """Schedulers that answer from here (a client alone proves none), the tools on PATH, and their versions."""
    found = ((kind, [tool for tool in tools if shutil.which(tool)]) for kind, tools in SCHEDULERS.items())
    present = {kind: tools for kind, tools in found if tools}
    asked = {"kubernetes": p.run(API_QUERY), "slurm": p.run(["sinfo", "-h", "-o", "%P"])}
    why = "no scheduler answered: " + "; ".join(outcome.reason or "no answer" for outcome in asked.values())
    answered = [kind for kind, outcome in asked.items() if outcome.ok]
    p.tell("control.scheduler.kind", answered, "sinfo, kubectl", why, conditions={"tools": present})
    slurm = [["sinfo", "--version"], ["srun", "--version"], ["slurmd", "-V"]]
    p.ask("control.slurm.version", slurm, version_in)
    kubernetes = [["kubelet", "--version"], ["kubectl", "version", "--client"], ["k3s", "--version"]]
    p.ask("control.kubernetes.version", kubernetes, version_in)


def seconds_in(text: str) -> Optional[float]:
    """Return a time span as systemd writes it (``-1min 2.5s``, ``+85us``) in seconds."""
    units = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(us|µs|ms|min|s|h|d)\b", text)
    total = sum(float(value) * units[unit] for value, unit in parts)
    return None if not parts else -total if text.strip().startswith("-") else total


def clock(p: Probe) -> None:
    """Offset of the clock, positive when it is ahead of its time source: chrony, systemd-timesyncd, ntpd."""
    tools = [["chronyc", "-n", "tracking"], ["timedatectl", "timesync-status"], ["ntpq", "-c", "rv 0 offset"]]
    p.ask("control.clock.offset", tools, offset_in)


def offset_in(text: str) -> Optional[float]:
    """Return the clock's lead in seconds from the answer of one of the three; None when it follows no source."""
    chrony = re.search(r"^System time\s*:\s*([\d.]+) seconds (slow|fast)", text, re.M)
    if chrony and not re.search(r"^Leap status\s*:\s*Not synchronised", text, re.M):
        return float(chrony.group(1)) * (-1 if chrony.group(2) == "slow" else 1)
    # the other two print how far the source is ahead
    timesyncd = re.search(r"^\s*Offset:\s*(\S.*)$", text, re.M)
    lead = seconds_in(timesyncd.group(1)) if timesyncd else None
    ntpd = re.search(r"offset=(-?[\d.]+)", text)
    if lead is None and ntpd:
        lead = float(ntpd.group(1)) / 1000
    return None if lead is None else -lead


PARTS: Tuple[Tuple[str, Callable[[Probe], None], Tuple[str, ...]], ...] = (
    ("CPU", cpu, tuple("compute.cpu." + part for part in ("model", "architecture", "sockets", "cores", "threads"))),
    ("memory", memory, ("compute.memory.total", "compute.memory.swap", "compute.numa.nodes")),
    ("system", system, ("compute.os.image", "compute.kernel.version")),
    ("disks", disks, ("storage.local.devices", "storage.local.nvme_total")),
    ("network", network, ("network.nic.count", "network.nic.devices", "network.gpudirect.modules")),
    ("fabric", fabric, ("network.rdma.devices", "network.fabric.kind")),
    ("GPUs", gpus, ("compute.gpu.pci", *GPU_METRICS)),
    ("scratch", scratch, ("storage.scratch.filesystem", "storage.scratch.free")),
    ("containers", containers, ("compute.container.runtime", "compute.container.toolkit")),
    ("schedulers", schedulers, ("control.scheduler.kind", "control.slurm.version", "control.kubernetes.version")),
    ("NCCL", nccl, ("compute.nccl.version",)),
    ("CUDA toolkit", cuda_toolkit, ("compute.cuda.toolkit",)),
    ("clock", clock, ("control.clock.offset",)),
)


def inventory(p: Probe) -> None:
    """Go through all parts; whatever a part did not say is said to have failed, with the reason."""
    p.emit({"t": "begin", "probe": "inventory", "version": VERSION, "node": platform.node(), "at": now()})
    for position, (title, look, owed) in enumerate(PARTS):
        reason = p.late
        if time.monotonic() < p.end:
            p.emit({"t": "progress", "done": round(position / len(PARTS), 3), "text": "inventory: " + title})
            try:
                look(p)
                reason = "the probe said nothing about it"
            except BrokenPipeError:
                raise
            except Exception as error:  # one broken part must not hide the others
                reason = "the probe broke: %s: %s" % (type(error).__name__, one_line(str(error)))
        for metric in owed:
            if metric not in p.deferred:
                p.miss(metric, "probe", reason, state="failed")
    p.emit({"t": "end", "ok": True, "seconds": round(time.monotonic() - p.started, 3)})


def leave(*_: Any) -> None:
    """End at once, and take the tools along: they run in sessions of their own."""
    for pid in list(_children):
        kill(pid)
    os._exit(143)


def watch_stdin() -> None:
    """Wait for the end of stdin, then leave: the caller is gone and nobody reads on."""
    while os.read(0, 65536):
        pass
    leave()


def main(arguments: Optional[List[str]] = None) -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description="Inventory of this node as JSON lines; no root needed")
    parser.add_argument("--scratch", default="", metavar="DIR", help="folder whose file system and space to report")
    parser.add_argument("--deadline", type=float, default=60.0, metavar="SECONDS", help="stop looking then (60)")
    parser.add_argument("--watch-stdin", action="store_true", help="end when stdin ends")
    parser.add_argument("--root", default="/", metavar="DIR", help="read /proc, /sys and /etc below DIR (for tests)")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, leave)
    if given.watch_stdin:
        threading.Thread(target=watch_stdin, daemon=True).start()
    try:
        inventory(Probe(given.root, given.scratch, given.deadline, sys.stdout.buffer))
    except BrokenPipeError:
        leave()  # nobody listens; a normal exit would try to flush and complain
    return 0


if __name__ == "__main__":
    sys.exit(main())
