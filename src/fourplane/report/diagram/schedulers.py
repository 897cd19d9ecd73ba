"""Panels of Slurm and Kubernetes: the chain of the cluster admins, and the chain of the teams (K1, K2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fourplane.base.text import plural
from fourplane.report.diagram.holes import Draft, lines
from fourplane.report.diagram.machine_lanes import is_target, node_count
from fourplane.report.diagram.model import Box, Hole, Panel, Row, RowKind
from fourplane.review.gaps import value_at
from fourplane.review.wording import is_set, listing
from fourplane.spec.compute import Pool, PoolRole
from fourplane.spec.control import Kubernetes, Queue, Slurm

__all__ = ["MOST_NAMES", "kubernetes_panel", "no_scheduler_panel", "slurm_panel"]

MOST_NAMES = 4
"""Teams or queues that a box lists; the rest is counted."""

_STACKS = {"gpu-operator": "GPU Operator", "device-plugin": "Device plugin", "dra": "Dynamic Resource Allocation"}
_QUEUEING = {"kueue": "Kueue", "volcano": "Volcano", "kai": "KAI Scheduler"}

Indexed = list[tuple[int, Queue]]


def slurm_panel(draft: Draft, slurm: Slurm, *, beside: bool) -> Panel:
    """Return the panel of Slurm: images to daemons, and accounts to batch jobs."""
    control, security = draft.declaration.control, draft.declaration.security
    queues = _queues(draft, "slurm")
    version = draft.gap(slurm.version, "nobody states Slurm's version", "control.slurm.version", "R5.scheduler")
    daemon = Box("slurm:slurmctld", "slurmctld", lines(slurm.version and f"Slurm {slurm.version}"),
                 gaps=version + _reason(draft), subjects=("control.slurm",),
                 owner=_policy(draft))  # fmt: skip
    if slurm.accounting:
        books = Box("slurm:slurmdbd", "slurmdbd", ("accounting of jobs and limits",))
    else:
        hole = draft.hole("nobody keeps accounts of jobs", "control.slurm.accounting", "R6.jobs")
        books = Box("slurm:slurmdbd", "slurmdbd", hole=hole)
    logins = [(i, p) for i, p in enumerate(draft.declaration.pools) if p.role is PoolRole.LOGIN]
    login = Box(
        "slurm:login",
        "Login",
        lines(
            f"nodes of {listing([p.name for _, p in logins], limit=2)}" if logins else None,
            security.ssh and security.ssh.choice,
        ),
        owner=_by(draft, "user_access"),
        gaps=_lacks_owner(draft, "user_access", "user access"),
    )
    accounts = _teams(draft, "slurm:accounts", "Accounts and QOS", "account")
    partitions = _queue_box(draft, "slurm:partitions", "Partitions", "partition", queues)
    jobs = _jobs(draft, "slurm:jobs", "Batch jobs", queues)
    return Panel(
        "slurm",
        (
            Row(
                (_admins(draft, "slurm"), daemon, books, *_images(draft, "slurm"), _nodes(draft, "slurm")),
                RowKind.CHAIN,
            ),
            Row((_app_teams(draft, "slurm"), login, accounts, partitions, jobs), RowKind.CHAIN),
        ),
        "Slurm",
        control.reason or "",
        beside,
    )


def kubernetes_panel(draft: Draft, cluster: Kubernetes, *, beside: bool) -> Panel:
    """Return the panel of Kubernetes: images to nodes, and namespaces to Pods, Jobs and RayJobs."""
    control = draft.declaration.control
    queues = _queues(draft, "kubernetes")
    server = Box(
        "kubernetes:api",
        "Kubernetes API",
        lines(" ".join(x for x in (cluster.distribution, cluster.version) if x)),
        gaps=draft.gap(cluster.version, "nobody states the version of Kubernetes", "control.kubernetes.version",
                       "R5.scheduler") + (() if beside else _reason(draft)),
        subjects=("control.kubernetes",),
        owner=_policy(draft),
    )  # fmt: skip
    if cluster.gpu_stack:
        stack = Box("kubernetes:gpu_stack", _STACKS.get(cluster.gpu_stack, cluster.gpu_stack),
                    ("makes GPUs known to the scheduler",))  # fmt: skip
    else:
        hole = draft.hole("nobody said how nodes offer their GPUs", "control.kubernetes.gpu_stack")
        stack = Box("kubernetes:gpu_stack", "GPU Operator, device plugin or DRA", hole=hole)
    namespaces = Box(
        "kubernetes:namespaces",
        "Namespaces",
        tuple(_named([team.name for team in draft.declaration.teams])),
        owner=_by(draft, "user_access"),
        gaps=_lacks_owner(draft, "user_access", "user access"),
    )
    quotas = _teams(draft, "kubernetes:quotas", "Quotas", "quota")
    codes = ("kubernetes-without-queueing",)
    system = draft.gap(cluster.queueing, "nobody chose a queueing system", "control.kubernetes.queueing", "", codes)
    noun = _QUEUEING.get(cluster.queueing or "", "")
    title = f"{noun} queues" if noun else "Queues"
    queue = _queue_box(draft, "kubernetes:queues", title, "queue", queues, system)
    jobs = _jobs(draft, "kubernetes:jobs", "Pod, Job, RayJob", queues)
    return Panel(
        "kubernetes",
        (
            Row(
                (
                    _admins(draft, "kubernetes"),
                    server,
                    *_images(draft, "kubernetes"),
                    stack,
                    _nodes(draft, "kubernetes"),
                ),
                RowKind.CHAIN,
            ),
            Row((_app_teams(draft, "kubernetes"), namespaces, quotas, queue, jobs), RowKind.CHAIN),
        ),
        "Kubernetes",
        "" if beside else control.reason or "",  # one reason for both stands with the first
        beside,
    )


def no_scheduler_panel(draft: Draft) -> Panel:
    """Return what is drawn while nobody chose a scheduler."""
    hole = draft.hole("nobody chose a scheduler", "control", "R5.scheduler",
                      ("scheduler-missing", "scheduler-is-a-launcher"))  # fmt: skip
    scheduler = Box("scheduler", "Slurm or Kubernetes", hole=hole)
    queues = list(enumerate(draft.declaration.control.queues))
    return Panel(
        "scheduler",
        (
            Row(
                (_admins(draft, "scheduler"), scheduler, *_images(draft, "scheduler"), _nodes(draft, "scheduler")),
                RowKind.CHAIN,
            ),
            Row(
                (
                    _app_teams(draft, "scheduler"),
                    _teams(draft, "scheduler:quotas", "Quotas", "quota"),
                    _queue_box(draft, "scheduler:queues", "Queues", "queue", queues),
                    _jobs(draft, "scheduler:jobs", "Jobs", queues),
                ),
                RowKind.CHAIN,
            ),
        ),
        "Scheduler",
        draft.declaration.control.reason or "",
    )


# ── chain of the cluster admins ─────────────────────────────────────────────────────────────────────────────────────


def _admins(draft: Draft, scheduler: str) -> Box:
    ownership = draft.declaration.brief.ownership
    names = [ownership.scheduler_policy, ownership.drivers] if ownership else []
    return draft.owner(f"owner:{scheduler}:admins", "Cluster admins", names, "drivers and scheduler policy",
                       "brief.ownership", "R1.ownership", ("lifecycle-owner-missing",))  # fmt: skip


def _images(draft: Draft, scheduler: str) -> Iterator[Box]:
    """Yield node image and container runtime of the pools that this scheduler serves."""
    pools = _served(draft, scheduler)
    image = (("os_image", "image"), ("driver", "driver"), ("cuda", "CUDA"))
    yield _layers(draft, f"{scheduler}:image", "Node image", pools, image)
    runtime = (("container_runtime", "runtime"), ("container_toolkit", "toolkit"))
    yield _layers(draft, f"{scheduler}:runtime", "Container runtime", pools, runtime)


def _served(draft: Draft, scheduler: str) -> list[tuple[int, Pool]]:
    """Return the pools to which a scheduler's queues lead; those to which none leads stand with the first."""
    pools, queues = list(enumerate(draft.declaration.pools)), draft.declaration.control.queues
    named = {queue.pool for _, queue in _queues(draft, scheduler)}
    if not named or None in named:
        return pools
    orphans = {pool.name for _, pool in pools} - {queue.pool for queue in queues} if _first(draft) == scheduler else ()
    return [(i, pool) for i, pool in pools if pool.name in named or pool.name in orphans]


def _first(draft: Draft) -> str:
    control = draft.declaration.control
    return "slurm" if control.slurm is not None else "kubernetes" if control.kubernetes is not None else "scheduler"


def _layers(draft: Draft, key: str, title: str, pools: Sequence[tuple[int, Pool]],
            layers: Sequence[tuple[str, str]]) -> Box:  # fmt: skip
    """Return the box of some layers of software over all pools: versions, owners, and what nobody states or owns.

    A stand-in, a login node or a CPU node holds no GPU, so neither driver nor CUDA is missed on it.
    """
    texts: list[str] = []
    gaps: tuple[Hole, ...] = ()
    owners: dict[str, None] = {}
    targets = [(i, pool) for i, pool in pools if is_target(pool)]
    for layer, word in layers:
        versions = [value_at(pool.lifecycle, f"{layer}.version") for _, pool in pools]
        known = list(dict.fromkeys(str(v) for v in versions if is_set(v)))
        if known:
            shown = listing(known, limit=2)
            texts.append(shown if layer in ("os_image", "container_runtime") else f"{word} {shown}")
        gaps += _uncared(draft, targets, layer)
        holders = [value_at(pool.lifecycle, f"{layer}.owner") for _, pool in pools]
        owners.update(dict.fromkeys(str(v) for v in holders if is_set(v)))
    if not pools:
        return Box(key, title, hole=draft.hole("no pool is declared", "pools", "R2.lifecycle"))
    if not texts and not owners and gaps:
        hole = draft.hole(f"nobody declared the {title.lower()}", gaps[0].path, "R2.lifecycle",
                          ("lifecycle-owner-missing",))  # fmt: skip
        return Box(key, title, hole=hole)
    return Box(key, title, tuple(texts or ["version as found"]), gaps=gaps, owner=listing(list(owners), limit=2))


def _nodes(draft: Draft, scheduler: str) -> Box:
    """Return the end of the chain: the pools that this scheduler serves."""
    pools = _served(draft, scheduler)
    if not pools:
        return Box(f"{scheduler}:nodes", "Nodes", hole=draft.hole("no pool is declared", "pools", "R2.gpu_topology"))
    said = [f"{pool.name}: {plural(count, 'node')}" if (count := node_count(pool)) is not None else pool.name
            for _, pool in pools]  # fmt: skip
    return Box(f"{scheduler}:nodes", "Nodes", tuple(_named(said, "pool")))


def _uncared(draft: Draft, pools: Sequence[tuple[int, Pool]], layer: str) -> tuple[Hole, ...]:
    """Return the holes of one layer: pools whose version or owner nobody names, together where they are the same."""
    what = {"os_image": "the node image", "driver": "the driver", "cuda": "CUDA", "container_runtime": "the runtime",
            "container_toolkit": "the toolkit"}[layer]  # fmt: skip
    lacking = {
        field: [(i, p.name) for i, p in pools if not is_set(value_at(p, f"lifecycle.{layer}.{field}"))]
        for field in ("version", "owner")
    }
    said = [("version", f"nobody states the version of {what}"), ("owner", f"nobody owns {what}")]
    if lacking["version"] == lacking["owner"]:
        said = [("version", f"nobody states or owns {what}")]
    holes = []
    for field, text in said:
        if bare := lacking[field]:
            names = f" on {listing([name for _, name in bare], limit=2)}" if len(draft.declaration.pools) > 1 else ""
            path = f"pools[{bare[0][0]}].lifecycle.{layer}.{field}"
            holes.append(draft.hole(text + names, path, "R2.lifecycle", ("lifecycle-owner-missing",)))
    return tuple(holes)


# ── chain of the teams ──────────────────────────────────────────────────────────────────────────────────────────────


def _app_teams(draft: Draft, scheduler: str) -> Box:
    teams = draft.declaration.teams
    owners = [team.owner for team in teams]
    box = draft.owner(f"owner:{scheduler}:teams", "App teams", owners, "the teams' work", "teams", "R5.quotas")
    if not teams:
        return Box(box.id, box.title, (), box.kind, draft.hole("nobody declared a team", "teams", "R5.quotas"))
    bare = [(team.name, f"teams[{i}].owner") for i, team in enumerate(teams) if not is_set(team.owner)]
    gaps = () if box.hole else draft.gap_of(bare, "nobody owns team")
    subjects = tuple(f"teams[{i}]" for i in range(len(teams)))
    return Box(box.id, box.title, box.lines, box.kind, box.hole, gaps, subjects)


def _teams(draft: Draft, key: str, title: str, noun: str) -> Box:
    """Return the box of quotas: what each team may use, whose decision that is, and who has none."""
    teams = draft.declaration.teams
    gaps = _lacks_owner(draft, "quotas", "quotas")
    if not teams:
        return Box(key, title, hole=draft.hole("nobody may use how much: no team", "teams", "R5.quotas"), gaps=gaps)
    bare = [(team.name, f"teams[{i}].quotas") for i, team in enumerate(teams) if not team.quotas]
    codes = ("scheduler-is-a-launcher",)
    if len(bare) == len(teams):
        return Box(key, title, hole=draft.hole("nobody set a quota", bare[0][1], "R5.quotas", codes), gaps=gaps)
    said = []
    for team in teams:
        gpus = sum(team.quotas.values())
        share = f", {team.share}" if team.share else ""
        said.append(f"{team.name}: {plural(gpus, 'GPU')}{share}" if team.quotas else f"{team.name}: no {noun}")
    gaps = draft.gap_of(bare, "no quota for", "R5.quotas", codes) + gaps
    return Box(key, title, tuple(_named(said, "team")), gaps=gaps, owner=_by(draft, "quotas"))


def _queue_box(draft: Draft, key: str, title: str, noun: str, queues: Indexed,
               extra: tuple[Hole, ...] = ()) -> Box:  # fmt: skip
    gaps = extra + _lacks_owner(draft, "queues", f"{noun}s")
    if not queues:
        hole = draft.hole(f"nobody declared a {noun}", "control.queues", "R5.queues")
        return Box(key, title, hole=hole, gaps=gaps)
    said = []
    for _, queue in queues:
        to = f" → {queue.pool}" if queue.pool else ""
        wall = f", {queue.max_wall}" if queue.max_wall else ""
        said.append(f"{queue.name}{to}{wall}")
    bare = [(queue.name, f"control.queues[{i}].owner") for i, queue in queues if not is_set(queue.owner)]
    gaps += draft.gap_of(bare, f"nobody owns {noun}", "R5.queues")
    subjects = tuple(f"control.queues[{i}]" for i, _ in queues)
    return Box(key, title, tuple(_named(said, noun)), gaps=gaps, subjects=subjects, owner=_by(draft, "queues"))


def _jobs(draft: Draft, key: str, title: str, queues: Indexed) -> Box:
    bare = [(q.name, f"control.queues[{i}].retry") for i, q in queues if q.retry is None or q.retry.count is None]
    gaps = _lacks_owner(draft, "retries", "retries")
    gaps += draft.gap_of(bare, "nobody said how failures are retried in", "R5.retries", ("queue-without-retry",))
    retried = [f"{q.name}: {q.retry.count}×" for _, q in queues if q.retry and q.retry.count]
    again = f"retries {listing(retried, limit=3)}" if retried else None
    frameworks = listing(draft.declaration.brief.frameworks, limit=3)
    return Box(key, title, lines(frameworks, again), gaps=gaps, owner=_by(draft, "retries"))


# ── small parts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _queues(draft: Draft, scheduler: str) -> Indexed:
    """Return the queues of one scheduler; one that names none belongs to the only one there is, else to Slurm."""
    control = draft.declaration.control
    chosen = [name for name in ("slurm", "kubernetes") if getattr(control, name) is not None]
    return [
        (i, queue)
        for i, queue in enumerate(control.queues)
        if (queue.scheduler if queue.scheduler in chosen else _first(draft)) == scheduler
    ]


def _named(names: Sequence[str], noun: str = "team") -> list[str]:
    if len(names) <= MOST_NAMES:
        return list(names)
    rest = len(names) - MOST_NAMES + 1
    return [*names[: MOST_NAMES - 1], f"and {plural(rest, f'more {noun}')}"]


def _by(draft: Draft, key: str) -> str:
    owners = draft.declaration.control.owners
    holder = getattr(owners, key) if owners else None
    return holder if holder and is_set(holder) else ""


def _lacks_owner(draft: Draft, key: str, what: str) -> tuple[Hole, ...]:
    owners = draft.declaration.control.owners
    path = f"control.owners.{key}"
    return draft.gap(getattr(owners, key) if owners else None, f"nobody owns {what}", path, f"R5.{key}")


def _policy(draft: Draft) -> str:
    ownership = draft.declaration.brief.ownership
    holder = ownership.scheduler_policy if ownership else None
    return holder if holder and is_set(holder) else ""


def _reason(draft: Draft) -> tuple[Hole, ...]:
    codes = ("two-schedulers-without-design",)
    return draft.gap(draft.declaration.control.reason, "nobody wrote down why this scheduler", "control.reason",
                     "R5.scheduler", codes)  # fmt: skip
