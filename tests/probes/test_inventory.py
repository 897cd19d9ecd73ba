from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inventory_nodes import PROBE, Node, hgx_node

from fourplane.records.metrics import METRICS

_PREFIXES = (
    "compute.", "control.", "storage.local.", "network.nic.", "network.rdma.", "network.fabric.", "network.gpudirect.",
)  # fmt: skip
NODE_METRICS = {name for name in METRICS if name.startswith(_PREFIXES)}
NODE_METRICS |= {"storage.scratch.filesystem", "storage.scratch.free"}
"""What the inventory owes; GPU facts may be left to the controller when their raw text is sent."""
GPU_METRICS = {name for name in NODE_METRICS if name.startswith("compute.gpu.")} | {"compute.cuda.version"}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_a_machine_with_nothing_still_says_a_word_on_every_metric(node: Node) -> None:
    found = node.run()
    assert (found.status, found.stderr, found.output.refusals) == (0, "", [])
    assert found.output.complete
    assert {one.metric for one in found.output.observations} == NODE_METRICS
    keys = [(one.subject, one.metric) for one in found.output.observations]
    assert len(keys) == len(set(keys))
    assert all(one.reason for one in found.output.observations if one.state != "measured")
    kinds = found.kinds()
    assert (kinds[0], kinds[-1], kinds.count("begin"), kinds.count("end")) == ("begin", "end", 1, 1)


def test_this_machine_is_read_without_refusal() -> None:
    argv = [sys.executable, "-I", str(PROBE), "--scratch", "/tmp", "--deadline", "60"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=90, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    said = {line["metric"]: line for line in lines if line["t"] == "observation" and line["subject"] == ""}
    assert said["compute.cpu.threads"]["value"] >= len(os.sched_getaffinity(0))
    assert 1 <= said["compute.cpu.cores"]["value"] <= said["compute.cpu.threads"]["value"]
    assert said["compute.memory.total"]["value"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert said["storage.scratch.free"]["value"] > 0


def test_eight_gpu_node(tmp_path: Path) -> None:
    found = hgx_node(tmp_path).run()
    assert [found.value(f"compute.cpu.{name}") for name in ("sockets", "cores", "threads")] == [2, 8, 16]
    assert (found.value("compute.numa.nodes"), found.value("compute.memory.total")) == (2, 2000 * 1024)
    assert found.value("compute.os.image") == "Example Linux 9.4"
    assert found.value("network.nic.count") == 10
    assert found.value("network.nic.speed", "nic:mlx5_3") == 400 * 10**9
    assert found.value("network.nic.speed", "nic:eth1") == 100 * 10**9
    nics = {nic["name"]: (nic["kind"], nic["rdma"]) for nic in found.value("network.nic.devices")}
    assert nics["mlx5_7"] == ("infiniband", "mlx5_7")
    assert nics["eth0"] == ("roce", "mlx5_8")
    assert found.value("network.fabric.kind") == "infiniband"
    assert found.one("network.fabric.kind").conditions == {"ports": {"infiniband": 8, "roce": 2}, "active": 10}
    assert len(found.value("network.rdma.devices")) == 10
    assert found.value("network.gpudirect.modules") == ["nvidia_peermem"]
    assert found.value("storage.local.nvme_total") == 4 * 3840 * 10**9 // 512 * 512
    assert [one["kind"] for one in found.value("storage.local.devices")] == ["nvme"] * 4 + ["ssd"]
    devices = found.value("compute.gpu.pci")
    assert sum(one["vendor"] == "nvidia" for one in devices) == 8
    assert devices[1]["max_link_speed"] == "32.0 GT/s PCIe"


def test_gpu_tools_are_sent_raw_and_left_to_the_controller(tmp_path: Path) -> None:
    found = hgx_node(tmp_path).run()
    assert {"nvidia-smi-query", "nvidia-smi-topo", "nvidia-smi-q"} <= set(found.output.raws)
    assert found.output.raws["nvidia-smi-topo"].startswith("\t\x1b[4mGPU0")
    said = {one.metric for one in found.output.observations}
    assert said & GPU_METRICS == {"compute.gpu.pci"}
    assert said == NODE_METRICS - GPU_METRICS | {"compute.gpu.pci"}


def test_no_gpu_is_zero_only_when_the_bus_says_so(node: Node) -> None:
    node.pci("0000:00:02.0", "0x030000", "0x1234")
    found = node.run()
    assert found.value("compute.gpu.count") == 0
    assert found.one("compute.gpu.count").method.endswith("pci scan")
    assert found.why("compute.gpu.model")[0] == "absent"


def test_no_bus_and_no_tool_is_absent_and_never_zero(node: Node) -> None:
    state, reason = node.run().why("compute.gpu.count")
    assert state == "absent"
    assert "no PCI bus" in reason
    assert "nvidia-smi not on PATH" in reason


@pytest.mark.parametrize(("kind", "vendor"), [("0x030200", "0x10de"), ("0x120000", "0x1002"), ("0x038000", "0x1002")])
def test_a_gpu_without_driver_never_looks_like_no_gpu(node: Node, kind: str, vendor: str) -> None:
    node.pci("0000:11:00.0", kind, vendor)
    found = node.run()
    for metric in GPU_METRICS - {"compute.gpu.pci"}:
        state, reason = found.why(metric)
        assert state == "failed", metric
        assert reason.startswith("1 on the PCI bus, but no driver tool answers: nvidia-smi not on PATH")


def test_driver_package_on_a_node_without_gpu_is_still_zero(node: Node) -> None:
    node.pci("0000:00:01.0", "0x020000", "0x8086")
    node.tool("nvidia-smi", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", 9)
    found = node.run()
    assert found.value("compute.gpu.count") == 0
    assert "ended with status 9" in found.one("compute.gpu.count").reason


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("garbage \x01\x02 everywhere\n", 0),
        ("No devices were found\n", 6),
        ("index, name, uuid\n", 0),
        ("", 0),
        ("Segmentation fault\n", 139),
    ],
)
def test_nonsense_of_nvidia_smi_is_a_failure_with_its_words(node: Node, output: str, status: int) -> None:
    node.pci("0000:11:00.0", "0x030200", "0x10de")
    node.tool("nvidia-smi", output, status)
    state, reason = node.run().why("compute.gpu.count")
    assert state == "failed"
    assert ("listed no GPU" if status == 0 else f"status {status}") in reason
    assert "\x01" not in reason


def test_a_hanging_nvidia_smi_is_stopped_and_everything_else_is_said(node: Node) -> None:
    node.cpus(1, 2, 1)
    node.pci("0000:11:00.0", "0x030200", "0x10de")
    # the child of a child holds the pipe as well, and the rows before the hang look like an answer
    node.script("nvidia-smi", "echo 'index, name'\necho '0, X'\n/bin/sleep 600 &\nexec /bin/sleep 600\n")
    found = node.run(deadline=2.5)
    assert (found.status, found.output.complete) == (0, True)
    state, reason = found.why("compute.gpu.count")
    assert state == "failed"
    assert "nvidia-smi did not end within" in reason
    assert {one.metric for one in found.output.observations} == NODE_METRICS
    late = found.why("control.clock.offset")
    assert late == ("failed", "deadline of 2.5 s reached")


def test_a_tool_that_leaves_a_child_behind_does_not_hold_up_the_probe(node: Node) -> None:
    node.script("sinfo", "/bin/sleep 600 &\necho slurm 24.05.3\n")
    assert node.run().value("control.slurm.version") == "24.05.3"


def test_a_tool_that_never_stops_writing_is_cut(node: Node) -> None:
    node.script("sinfo", "while :; do echo 0123456789012345678901234567890123456789; done\n")
    node.script("srun", "exit 3\n")
    state, reason = node.run().why("control.slurm.version")
    assert state == "failed"
    assert "sinfo wrote more than" in reason
    assert "srun ended with status 3" in reason


def test_deadline_already_over(node: Node) -> None:
    found = node.run(deadline=0)
    assert found.output.complete
    assert {one.reason for one in found.output.observations} == {"deadline of 0 s reached"}
    assert {one.metric for one in found.output.observations} >= NODE_METRICS - {"network.nic.speed"}


def test_amd_node(node: Node) -> None:
    for number in range(2):
        node.pci(f"0000:{5 + number * 0x10:02x}:00.0", "0x120000", "0x1002", driver="amdgpu")
    node.tool("amd-smi", (PROBE.parents[3] / "tests/corpus/amd_smi/static_2gpus.json").read_text())
    node.tool("rocm-smi", '{"system": {"(Topology) Link type between DRM devices 0 and 1": "XGMI"}}')
    found = node.run()
    assert {"amd-smi", "rocm-smi-topo"} <= set(found.output.raws)
    assert found.why("compute.cuda.version") == ("absent", "CUDA belongs to NVIDIA GPUs")
    assert not [one for one in found.output.observations if one.metric == "compute.gpu.count"]


def test_limits_of_a_container_are_conditions(node: Node) -> None:
    node.cpus(1, 8, 2)
    node.file("proc/self/cgroup", "0::/job/step\n")
    node.file("sys/fs/cgroup/job/cpu.max", "400000 100000\n")
    node.file("sys/fs/cgroup/job/step/cpu.max", "max 100000\n")
    node.file("sys/fs/cgroup/job/step/memory.max", "1073741824\n")
    node.file("proc/self/status", "Name: x\nCpus_allowed_list:\t0-3\n")
    node.file("run/.containerenv", "")
    found = node.run()
    assert found.value("compute.cpu.threads") == 16
    conditions = found.one("compute.cpu.threads").conditions
    assert conditions == {"cpu_quota": 4.0, "memory_limit_bytes": 1 << 30, "cpus_allowed": 4}
    assert found.one("compute.memory.total").conditions == {"memory_limit_bytes": 1 << 30}
    assert found.one("compute.os.image").conditions == {"container": "podman"}


def test_limits_of_cgroup_version_1(node: Node) -> None:
    node.cpus(1, 2, 1)
    node.file("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/x\n")
    node.file("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n")
    node.file("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n")
    node.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n")
    assert node.run().one("compute.cpu.cores").conditions == {"cpu_quota": 1.5}


def test_cores_of_several_dies_and_an_offline_thread(node: Node) -> None:
    base = "sys/devices/system/cpu"
    node.file(f"{base}/online", "0-2\n")
    node.file(f"{base}/offline", "3\n")
    for number, die in enumerate((0, 0, 1)):
        node.file(f"{base}/cpu{number}/topology/physical_package_id", "0\n")
        node.file(f"{base}/cpu{number}/topology/die_id", f"{die}\n")
        node.file(f"{base}/cpu{number}/topology/core_id", "0\n")
    found = node.run()
    assert (found.value("compute.cpu.cores"), found.value("compute.cpu.threads")) == (2, 3)
    assert found.one("compute.cpu.threads").conditions["offline"] == 1


def test_superchip_counts_numa_nodes_with_cpus_only(node: Node) -> None:
    node.cpus(2, 2, 1)
    node.file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n")
    for number in range(2, 10):
        node.file(f"sys/devices/system/node/node{number}/cpulist", "\n")
    found = node.run()
    assert found.value("compute.cpu.model") == "Neoverse-V2"
    assert found.value("compute.numa.nodes") == 2
    assert len(found.one("compute.numa.nodes").conditions["nodes"]) == 10


def test_only_virtual_interfaces_are_no_count(node: Node) -> None:
    node.file("sys/class/net/lo/mtu", "65536\n")
    node.file("sys/class/net/eth0/mtu", "1450\n")
    found = node.run()
    assert found.why("network.nic.count") == ("absent", "only virtual interfaces are visible: eth0")
    assert found.why("network.fabric.kind")[0] == "absent"
    assert found.why("network.nic.speed")[0] == "absent"


def test_unknown_speed_and_lost_link_are_absent_with_the_reason(node: Node) -> None:
    node.nic("eth0", "0000:01:00.0", driver="virtio_net")
    node.nic("eth1", "0000:02:00.0", speed="-1", carrier="0")
    found = node.run()
    assert found.why("network.nic.speed", "nic:eth0") == ("absent", "driver virtio_net reports no speed")
    assert found.why("network.nic.speed", "nic:eth1") == ("absent", "the link is down")
    assert found.value("network.fabric.kind") == "ethernet"


def test_virtual_functions_and_the_boards_usb_link_are_left_out(node: Node) -> None:
    node.nic("eth0", "0000:01:00.0", speed="25000")
    node.nic("eth0v0", "0000:01:00.2", speed="25000")
    node.link("sys/devices/pci0000:00/0000:01:00.2/physfn", "sys/devices/pci0000:00/0000:01:00.0")
    node.link("sys/class/net/usb0/device", "sys/devices/usb1/1-1")
    node.link("sys/devices/usb1/1-1/subsystem", "sys/bus/usb")
    found = node.run()
    assert found.value("network.nic.count") == 1
    assert found.one("network.nic.count").conditions == {"left_out": ["eth0v0", "usb0"]}


@pytest.mark.parametrize(
    ("layer", "driver", "state", "kind", "reason"),
    [
        ("Ethernet", "mlx5_core", "4: ACTIVE", "roce", ""),
        ("Unspecified", "efa", "4: ACTIVE", "efa", ""),
        ("InfiniBand", "mlx5_core", "1: DOWN", "infiniband", "no port is active"),
    ],
)
def test_kind_of_fabric(node: Node, layer: str, driver: str, state: str, kind: str, reason: str) -> None:
    node.pci("0000:01:00.0", "0x020000", "0x15b3", driver=driver)
    node.rdma("rdma0", "0000:01:00.0", layer, "100 Gb/sec (4X EDR)", state)
    found = node.run()
    assert found.value("network.fabric.kind") == kind
    assert found.one("network.fabric.kind").reason.startswith(reason)


def test_rdma_in_software_is_no_fabric(node: Node) -> None:
    node.nic("eth0", "0000:01:00.0", speed="25000")
    node.file("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n")
    node.file("sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE\n")
    assert node.run().value("network.fabric.kind") == "ethernet"


def test_kinds_of_disks(node: Node) -> None:
    node.disk("loop0", 1)
    node.disk("dm-0", 100)
    node.disk("sda", 4000, rotational="1")
    node.disk("vda", 100)
    node.disk("nvme0n1", 500, model="Amazon Elastic Block Store")
    node.disk("nvme1n1", 1900, model="Amazon EC2 NVMe Instance Storage")
    node.disk("nvme2n1", 1000, model="EXAMPLE", **{"device/nvme2/transport": "tcp"})
    node.disk("nvme3c0n1", 1000, hidden="1")
    node.disk("nvme4n1", 0)
    found = node.run()
    assert {one["name"]: one["kind"] for one in found.value("storage.local.devices")} == {
        "sda": "hdd", "vda": "virtual", "nvme0n1": "network", "nvme1n1": "nvme", "nvme2n1": "network",
    }  # fmt: skip
    assert found.one("storage.local.nvme_total").conditions == {"devices": 1}


def test_scratch_folder(node: Node, tmp_path: Path) -> None:
    assert node.run().why("storage.scratch.free")[0] == "skipped"
    scratch = tmp_path / "with space"
    scratch.mkdir()
    point = str(scratch).replace(" ", "\\040")
    mounts = f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:5 / {point} rw shared:1 - wekafs backend/fs rw\n"
    node.file("proc/self/mountinfo", mounts + "broken\n")
    found = node.run("--scratch", str(scratch))
    assert found.value("storage.scratch.filesystem") == "wekafs"
    assert found.one("storage.scratch.filesystem").conditions["mount"] == str(scratch)
    assert found.value("storage.scratch.free") > 0
    state, reason = node.run("--scratch", str(tmp_path / "nowhere")).why("storage.scratch.free")
    assert state == "failed"
    assert "nowhere" in reason or "status 1" in reason


def test_versions_of_tools(node: Node) -> None:
    node.tool("docker", "Docker version 28.1.1, build 4eba377\n")
    node.tool("containerd", "containerd github.com/containerd/containerd v1.7.27 05044ec\n")
    node.tool("podman", "boom\n", 125)
    node.tool("nvidia-ctk", "NVIDIA Container Toolkit CLI version 1.17.4\ncommit: 9b69590c\n")
    node.tool("sinfo", "slurm-wlm 23.11.4\n")
    node.tool("kubectl", "Client Version: v1.31.2\nKustomize Version: v5.4.2\n")
    node.tool("nvcc", "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.8, V12.8.93\n")
    found = node.run()
    assert found.value("compute.container.runtime") == ["docker 28.1.1", "containerd 1.7.27"]
    assert "podman ended with status 125" in found.one("compute.container.runtime").reason
    assert found.value("compute.container.toolkit") == "1.17.4"
    assert found.value("control.slurm.version") == "23.11.4"
    assert found.value("control.kubernetes.version") == "1.31.2"
    assert found.value("compute.cuda.toolkit") == "12.8"
    assert found.value("control.scheduler.kind") == ["kubernetes", "slurm"]
    assert found.one("control.scheduler.kind").conditions["tools"] == {"kubernetes": ["kubectl"], "slurm": ["sinfo"]}
    assert found.one("control.slurm.version").raw == "version-sinfo"


def test_a_scheduler_that_does_not_answer_is_none_whatever_tools_there_are(node: Node) -> None:
    node.tool("kubectl", "", status=1)
    found = node.run().one("control.scheduler.kind")
    assert found.state == "absent"
    assert "kubectl ended with status 1" in found.reason
    assert found.conditions["tools"] == {"kubernetes": ["kubectl"]}


def test_nccl_of_the_loader_before_the_header(node: Node) -> None:
    node.file("usr/lib/libnccl.so.2.27.7", "")
    (node.root / "usr/lib/libnccl.so.2").symlink_to("libnccl.so.2.27.7")
    node.tool("ldconfig", "\tlibnccl.so.2 (libc6,x86-64) => /usr/lib/libnccl.so.2\n\tlibc.so.6 => /lib/libc.so.6\n")
    node.file("usr/include/nccl.h", "#define NCCL_MAJOR 2\n#define NCCL_MINOR 21\n#define NCCL_PATCH 5\n")
    node.tool("python3", '[["nvidia-nccl-cu12", "2.26.2"]]')
    found = node.run()
    assert found.value("compute.nccl.version") == "2.27.7"
    assert [one["version"] for one in found.one("compute.nccl.version").conditions["found"]] == [
        "2.27.7", "2.26.2", "2.21.5",
    ]  # fmt: skip


def test_a_part_that_breaks_does_not_hide_the_others(node: Node) -> None:
    node.tool("python3", "not JSON")
    found = node.run()
    state, reason = found.why("compute.nccl.version")
    assert state == "failed"
    assert reason.startswith("the probe broke: JSONDecodeError")
    assert found.output.complete
    assert found.why("control.clock.offset")[0] == "absent"


@pytest.mark.parametrize(
    ("tool", "text", "offset"),
    [
        ("chronyc", "System time     : 0.000250000 seconds slow of NTP time\nLeap status     : Normal\n", -0.00025),
        ("chronyc", "System time     : 0.5 seconds fast of NTP time\nLeap status     : Normal\n", 0.5),
        ("timedatectl", "       Server: 10.0.0.1\n       Offset: +1min 2.5s\n        Delay: 3us\n", -62.5),
        ("timedatectl", "       Offset: -85us\n", 85e-6),
        ("ntpq", "offset=-0.250\n", 0.00025),
    ],
)
def test_clock_offset_is_positive_when_the_clock_is_ahead(node: Node, tool: str, text: str, offset: float) -> None:
    node.tool(tool, text)
    assert node.run().value("control.clock.offset") == pytest.approx(offset)


def test_unsynchronised_clock_has_no_offset(node: Node) -> None:
    node.tool("chronyc", "System time     : 0.0 seconds slow of NTP time\nLeap status     : Not synchronised\n")
    state, reason = node.run().why("control.clock.offset")
    assert state == "failed"
    assert reason.startswith("chronyc does not say")


def test_the_probe_leaves_with_its_caller_and_takes_its_tools_along(node: Node, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    node.script("nvidia-smi", f"echo $$ > {told}.tmp\n/bin/mv {told}.tmp {told}\nexec /bin/sleep 600\n")
    argv = [sys.executable, "-I", str(PROBE), "--root", str(node.root), "--watch-stdin"]
    with subprocess.Popen(argv, env={"PATH": str(node.bin)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as probe:
        assert probe.stdin is not None
        assert probe.stdout is not None
        for line in probe.stdout:
            if b'"inventory: GPUs"' in line:
                break
        while not told.exists():
            assert probe.poll() is None
        probe.stdin.close()
        assert probe.wait(timeout=30) == 143
    pid = int(told.read_text())
    stat = Path(f"/proc/{pid}/stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_units_are_those_of_the_vocabulary() -> None:
    tree = ast.parse(PROBE.read_text(encoding="utf-8"))
    table = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "UNITS"
    )
    assert table == {name: METRICS[name].unit for name in NODE_METRICS if METRICS[name].unit}


def test_help_is_short() -> None:
    done = subprocess.run(
        [sys.executable, str(PROBE), "--help"], capture_output=True, text=True, timeout=30, check=True
    )
    assert len(done.stdout.splitlines()) <= 15
    assert "--scratch DIR" in done.stdout
    bad = subprocess.run(
        [sys.executable, str(PROBE), "--wish"], capture_output=True, text=True, timeout=30, check=False
    )
    assert (bad.returncode, bad.stdout) == (2, "")
