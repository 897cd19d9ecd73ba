"""What the diagram holds: everything that is declared, and a hole exactly where something is missing."""

from __future__ import annotations

from typing import Any

import pytest
from diagram_samples import complete, kubernetes, mixed, without, workspace

from fourplane.base.findings import Finding, Level
from fourplane.report.diagram import build, finding_anchor
from fourplane.report.diagram.model import Box, BoxKind, Diagram, RowKind

FULL = complete()
KUBE = kubernetes(FULL)

SHARED = {
    # removed from a whole declaration: holes that must appear, and nothing else
    "brief.denominator": ["brief.denominator"],
    "brief.ownership": ["brief.ownership", "brief.ownership.telemetry"],
    "control.reason": ["control.reason"],
    "control.owners.queues": ["control.owners.queues"],
    "control.owners.quotas": ["control.owners.quotas"],
    "control.owners.retries": ["control.owners.retries"],
    "control.owners.user_access": ["control.owners.user_access"],
    "control.queues[1].owner": ["control.queues[1].owner"],
    "control.queues[1].retry": ["control.queues[1].retry"],
    "control.queues": ["control.queues"],
    "control.runbooks[3]": ["control.runbooks"],
    "control.runbooks[3].owner": ["control.runbooks[3].owner"],
    "network.fabric": ["network.fabric"],
    "network.fabric.owner": ["network.fabric.owner"],
    "network.fabric.placement": ["network.fabric.placement"],
    "network.fabric.oversubscription": ["network.fabric.oversubscription"],
    "network.fabric.failure_domains": ["network.fabric.failure_domains"],
    "network.fabric.visibility": ["network.fabric.visibility"],
    "network.borders": ["network.borders"],
    "network.borders[1].owner": ["network.borders[1].owner"],
    "pools[0].lifecycle.driver.owner": ["pools[0].lifecycle.driver.owner"],
    "pools[0].lifecycle.os_image.version": ["pools[0].lifecycle.os_image.version"],
    "pools[0].lifecycle.cuda": ["pools[0].lifecycle.cuda.version"],
    "pools[0].replacement.owner": ["pools[0].replacement.owner"],
    "pools[0].sharing": ["pools[0].sharing"],
    "pools[0].shape.gpu.model": ["pools[0].shape.gpu.model"],
    "prices.gpu_hour": ["prices.gpu_hour"],
    "security.identity": ["security.identity"],
    "security.secrets.owner": ["security.secrets.owner"],
    "security.image_signing": ["security.image_signing"],
    "security.isolation": ["security.isolation"],
    "security.network_policy": ["security.network_policy"],
    "security.audit_retention": ["security.audit_retention"],
    "security.ssh": ["security.ssh"],
    "security.remote_hands.owner": ["security.remote_hands.owner"],
    "security.data_cleanup": ["security.data_cleanup"],
    "storage.staging": ["storage.staging"],
    "storage.staging.source": ["storage.staging.source"],
    "storage.weights": ["storage.weights"],
    "storage.checkpoints": ["storage.checkpoints"],
    "storage.checkpoints.place": ["storage.checkpoints.place"],
    "storage.outputs": ["storage.outputs"],
    "storage.outputs[1].owner": ["storage.outputs[1].owner"],
    "storage.filesystems": ["storage.filesystems"],
    "storage.object_stores": ["storage.object_stores"],
    "storage.caches": ["storage.caches"],
    "storage.snapshots": ["storage.snapshots"],
    "storage.snapshots.owner": ["storage.snapshots.owner"],
    "storage.backup": ["storage.backup"],
    "storage.backup.owner": ["storage.backup.owner"],
    "storage.cleanup": ["storage.cleanup"],
    "storage.gds": ["storage.gds"],
    "teams[0].owner": ["teams[0].owner"],
    "teams[1].cost_label": ["teams[1].cost_label"],
    "teams[0].quotas": ["teams[0].quotas"],
    "telemetry.labels": ["telemetry.labels"],
    "telemetry.cost": ["telemetry.cost.owner", "telemetry.cost.source"],
    "telemetry.cost.owner": ["telemetry.cost.owner"],
    "telemetry.fabric": ["telemetry.fabric.source"],
    "telemetry.gpus.owner": ["telemetry.gpus.owner"],
}
SLURM = {
    "control.slurm.version": ["control.slurm.version"],
    "control.slurm.accounting": ["control.slurm.accounting"],
}
KUBERNETES = {
    "control.kubernetes.version": ["control.kubernetes.version"],
    "control.kubernetes.queueing": ["control.kubernetes.queueing"],
    "control.kubernetes.gpu_stack": ["control.kubernetes.gpu_stack"],
}
CASES = [
    *(pytest.param(FULL, path, holes, id=f"slurm-{path}") for path, holes in (SHARED | SLURM).items()),
    *(pytest.param(KUBE, path, holes, id=f"kubernetes-{path}") for path, holes in (SHARED | KUBERNETES).items()),
]


def draw(document: dict[str, Any]) -> Diagram:
    return build(workspace(document))


def box(diagram: Diagram, key: str) -> Box:
    return next(one for one in diagram.boxes if one.id == key)


@pytest.mark.parametrize("document", [FULL, KUBE], ids=["slurm", "kubernetes"])
def test_a_whole_declaration_has_no_hole(document: dict[str, Any]) -> None:
    diagram = draw(document)
    assert diagram.holes == ()
    assert "every responsibility that is drawn has an owner" in diagram.summary


@pytest.mark.parametrize(("document", "path", "holes"), CASES)
def test_a_hole_appears_exactly_where_a_field_is_missing(document: dict[str, Any], path: str, holes: list[str]) -> None:
    diagram = draw(without(document, path))
    assert sorted(hole.path for hole in diagram.holes) == sorted(holes)
    assert all(hole.text for hole in diagram.holes)


def test_no_scheduler_no_pool_no_team_are_holes_of_their_own() -> None:
    bare = draw({"name": "bare"})
    missing = {hole.path for hole in bare.holes}
    assert {"control", "pools", "teams", "network.fabric", "storage.staging", "security.identity"} <= missing
    assert [lane.id for lane in bare.lanes] == ["users", "control", "nodes", "fabric", "storage"]
    assert box(bare, "scheduler").hole


def test_one_node_without_a_fabric_misses_nothing_of_one() -> None:
    document = without(FULL, "network.fabric")
    document["network"]["fabric"] = {"kind": "none"}
    assert draw(document).holes == ()


def test_a_stand_in_misses_neither_driver_nor_gpu() -> None:
    document = without(FULL, "pools[0].lifecycle", "pools[0].shape", "pools[0].replacement", "pools[0].sharing")
    document["pools"][0]["role"] = "stand-in"
    assert draw(document).holes == ()


def test_a_pool_to_which_no_queue_leads_is_a_hole_and_keeps_its_life_cycle() -> None:
    document = without(FULL, "pools[0].nodes")
    document["pools"] += [one | {"name": "idle", "hosts": "idle-[1-8]"} for one in without(document, "name")["pools"]]
    assert [hole.text for hole in draw(document).holes] == ["no queue leads to pool idle"]
    holes = draw(without(document, "pools[1].lifecycle.driver")).holes
    assert "nobody states or owns the driver on idle" in [hole.text for hole in holes]


def test_a_queue_that_names_no_pool_leads_to_all_and_one_without_a_scheduler_belongs_to_the_only_one() -> None:
    document = without(KUBE, "control.queues[0].pool", "control.queues[0].scheduler")
    diagram = draw(document)
    assert diagram.holes == ()
    assert box(diagram, "kubernetes:queues").lines[0].startswith("train, ")
    assert {edge.target: edge.label for edge in diagram.edges}["pool:h100"] == "train and debug"


def test_runbooks_of_tenants_are_missed_only_among_tenants() -> None:
    document = without(FULL, "control.runbooks[6]", "control.runbooks[5]")
    assert [hole.text for hole in draw(document).holes] == [
        "nobody wrote the runbook for quota dispute", "nobody wrote the runbook for tenant leak",
    ]  # fmt: skip
    assert draw(without(document, "teams[1]")).holes == ()


def test_serving_without_an_ingress_is_a_hole_and_training_without_one_is_none() -> None:
    document = without(FULL, "network.ingress")
    assert draw(document).holes == ()
    document["brief"]["workload"] = "online-inference"
    assert [hole.path for hole in draw(document).holes] == ["network.ingress"]


def declared(document: dict[str, Any]) -> set[str]:
    """Return the paths of everything that must be somewhere in the picture."""
    control, storage = document["control"], document["storage"]
    lists = {
        "pools": document["pools"], "teams": document["teams"], "network.borders": document["network"]["borders"],
        "control.queues": control["queues"], "control.runbooks": control["runbooks"],
        **{f"storage.{key}": storage.get(key, ()) for key in ("outputs", "filesystems", "object_stores", "caches")},
    }  # fmt: skip
    single = {f"storage.{key}" for key in ("staging", "weights", "checkpoints", "snapshots", "backup", "gds")}
    present = {path for path in single if path.split(".")[1] in storage}
    present |= {f"control.{name}" for name in ("slurm", "kubernetes") if name in control}
    present |= {f"security.{key}" for key in document["security"]}
    telemetry = document["telemetry"]
    present |= {f"telemetry.{key}" for key in telemetry if key != "labels"}
    return present | {f"{path}[{i}]" for path, entries in lists.items() for i in range(len(entries))}


@pytest.mark.parametrize("document", [FULL, KUBE, mixed()], ids=["slurm", "kubernetes", "mixed"])
def test_everything_declared_is_in_the_picture(document: dict[str, Any]) -> None:
    drawn = {path for one in draw(document).boxes for path in one.subjects}
    assert declared(document) <= drawn


def test_many_are_folded_and_none_is_lost() -> None:
    document = without(FULL, "pools[0].nodes")
    pool, team = document["pools"][0], document["teams"][0]
    document["pools"] = [pool | {"name": f"pool-{i}", "hosts": f"p{i}-[1-8]"} for i in range(60)]
    document["teams"] = [team | {"name": f"team-{i}", "quotas": {"pool-0": 8}} for i in range(100)]
    queue = document["control"]["queues"][0]
    document["control"]["queues"] = [queue | {"name": f"queue-{i}", "pool": f"pool-{i}"} for i in range(60)]
    document["network"]["borders"] = [{"name": f"border-{i}", "owner": "net"} for i in range(40)]
    document["storage"]["filesystems"] = [{"name": f"fs-{i}"} for i in range(40)]
    document["storage"]["outputs"] = [{"name": f"out-{i}", "owner": "ops"} for i in range(40)]
    diagram = draw(document)
    assert declared(document) <= {path for one in diagram.boxes for path in one.subjects}
    assert len(diagram.boxes) < 90
    assert box(diagram, "fold:pools").title == "and 53 more pools"
    assert box(diagram, "fold:pools").lines == ("424 nodes",)
    assert "and 97 more teams" in box(diagram, "slurm:accounts").lines
    assert diagram.holes == ()


def test_a_fold_tells_of_the_holes_that_it_hides() -> None:
    document = without(FULL, "pools[0].nodes")
    pool = without(document, "pools[0].sharing")["pools"][0]
    document["pools"] = [pool | {"name": f"pool-{i}", "hosts": f"p{i}-[1-8]"} for i in range(20)]
    for queue in document["control"]["queues"]:
        queue.pop("pool")
    folded = box(draw(document), "fold:pools")
    assert [hole.text for hole in folded.gaps] == ["13 more holes in these pools"]


@pytest.mark.parametrize("document", [FULL, KUBE, mixed()], ids=["slurm", "kubernetes", "mixed"])
def test_each_chain_of_the_control_plane_starts_at_its_owner(document: dict[str, Any]) -> None:
    control = draw(document).lanes[1]
    chains = [row for panel in control.panels for row in panel.rows if row.kind is RowKind.CHAIN]
    assert len(chains) >= 4
    assert all(row.boxes[0].kind is BoxKind.OWNER for row in chains)
    titles = {row.boxes[0].title for row in chains}
    assert titles == {"Cluster admins", "App teams", "Finance", "Security"}


def test_the_chains_of_kubernetes_run_as_the_mission_says() -> None:
    panel = draw(KUBE).lanes[1].panels[0]
    admins, teams = ([one.title for one in row.boxes] for row in panel.rows)
    assert admins == ["Cluster admins", "Kubernetes API", "Node image", "Container runtime", "GPU Operator", "Nodes"]
    assert teams == ["App teams", "Namespaces", "Quotas", "Kueue queues", "Pod, Job, RayJob"]


def test_two_schedulers_stand_beside_each_other_over_what_they_share() -> None:
    panels = draw(mixed()).lanes[1].panels
    assert [(panel.id, panel.beside) for panel in panels] == [("slurm", True), ("kubernetes", True), ("common", False)]
    slurm, kube = (box(draw(mixed()), key) for key in ("slurm:partitions", "kubernetes:queues"))
    assert slurm.lines[0].startswith("large") and kube.lines[0].startswith("chat")


def finding(code: str, path: str, file: str = "fourplane.yaml", message: str = "m") -> Finding:
    return Finding(code, Level.WARNING, message, file=file, line=3, column=5, path=path)


def test_a_hole_is_linked_to_the_finding_about_it_and_to_no_other() -> None:
    document = without(FULL, "security.secrets.owner", "security.image_signing", "control.queues[1].retry")
    right = finding("decision-without-owner", "security.secrets")
    retry = finding("queue-without-retry", "control.queues[1]")
    others = [
        finding("decision-without-owner", "security.identity"),
        finding("queue-without-retry", "control.queues[0]"),
        finding("queue-without-retry", "control.queues[1]", file="quotes/a.yaml"),
    ]
    holes = {hole.path: hole for hole in build(workspace(document), [*others, right, retry]).holes}
    assert holes["security.secrets.owner"].anchor == finding_anchor(right)
    assert holes["security.secrets.owner"].code == "decision-without-owner"
    assert holes["control.queues[1].retry"].anchor == finding_anchor(retry)
    assert (holes["security.image_signing"].anchor, holes["security.image_signing"].condition) == (
        "",
        "R7.image_policy",
    )


def test_a_finding_that_names_the_field_is_about_the_hole() -> None:
    both = finding("two-schedulers-without-design", "control", message="both, without telemetry.labels")
    labels = next(h for h in build(workspace(mixed()), [both]).holes if h.path == "telemetry.labels")
    assert labels.anchor == finding_anchor(both)


def test_anchors_differ_by_place_and_stay_the_same() -> None:
    one, other = finding("some-code", "a"), finding("some-code", "b")
    assert finding_anchor(one) == finding_anchor(finding("some-code", "a")) != finding_anchor(other)
    assert finding_anchor(one).startswith("finding-some-code-")


def test_arrows_name_what_travels() -> None:
    edges = {(edge.source, edge.target): edge.label for edge in draw(FULL).edges}
    assert edges[("control", "pool:h100")] == "train and debug"
    assert edges[("pool:h100", "fabric")] == "8 × 400 Gb/s each"
    assert edges[("fabric", "storage")] == "staging 10 GB/s · checkpoints 20 GB/s"
    assert edges[("actor:ci", "control")] == "images"
