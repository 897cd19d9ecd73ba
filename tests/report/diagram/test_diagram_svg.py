"""The drawing as SVG: valid, escaped, linked, small, the same every time; and within its boxes in a real browser."""

from __future__ import annotations

import os
import shutil
from typing import Any
from xml.etree import ElementTree

import pytest
from diagram_samples import complete, mixed, without, workspace

from fourplane.base.findings import Finding, Level
from fourplane.report.diagram import build, finding_anchor, page_style, render
from fourplane.report.diagram.layout import NARROW, WIDE
from fourplane.report.diagram.model import Diagram
from fourplane.report.diagram.style import FALLBACK

NS = "{http://www.w3.org/2000/svg}"
EVIL = "</text><script>alert(1)</script>\"' & \u202e<image href='http://example.org/x'/>"


def diagram(document: dict[str, Any] | None = None, *findings: Finding) -> Diagram:
    return build(workspace(document or mixed()), findings)


def parse(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_it_is_valid_xml_with_name_and_description(width: float) -> None:
    root = parse(render(diagram(), width=width))
    assert root.tag == f"{NS}svg" and root.attrib["viewBox"].startswith(f"0 0 {width:.0f} ")
    assert [child.tag for child in root][:2] == [f"{NS}title", f"{NS}desc"]
    assert root[0].text == "Architecture of mixed"
    assert root.attrib["aria-labelledby"] == root[0].attrib["id"]
    assert root.attrib["aria-describedby"] == root[1].attrib["id"]
    assert "missing responsibilities" in (root[1].text or "")


def test_names_with_markup_are_text() -> None:
    document = mixed()
    document["network"]["borders"][0]["name"] = EVIL
    document["teams"][0]["owner"] = EVIL
    document["security"]["identity"]["choice"] = EVIL
    drawn = render(diagram(document))
    root = parse(drawn)
    assert {one.tag for one in root.iter()} <= {
        NS + tag for tag in ("svg", "title", "desc", "style", "g", "a", "rect", "text", "line", "polygon", "path",
                             "circle")
    }  # fmt: skip
    assert "\u202e" not in drawn and "<script" not in drawn
    assert "alert(1)" in "".join(root.itertext())


def test_nothing_is_fetched_and_nothing_runs() -> None:
    root = parse(render(diagram()))
    for one in root.iter():
        assert not [key for key in one.attrib if key.startswith("on") or key == "style"]
        assert one.attrib.get("href", "#").startswith("#")
    assert "url(" not in render(diagram())


def test_ids_are_unique_also_when_wide_and_narrow_stand_on_one_page() -> None:
    page = parse(f"<div>{render(diagram(), standalone=False)}{render(diagram(), width=NARROW, standalone=False)}</div>")
    ids = [one.attrib["id"] for one in page.iter() if "id" in one.attrib]
    assert len(ids) == len(set(ids)) == 4


def test_a_hole_links_to_its_finding_else_to_its_condition() -> None:
    about = Finding("decision-without-owner", Level.WARNING, "m", path="security.secrets", file="fourplane.yaml")
    document = without(complete(), "security.secrets.owner", "storage.gds", "teams[0].owner")
    root = parse(render(diagram(document, about), base="report.html", conditions={"R4.gds": "c-9"}))
    links = {one.attrib["aria-label"]: one.attrib["href"] for one in root.iter(f"{NS}a")}
    assert links == {
        "nobody owns secrets: finding decision-without-owner": f"report.html#{finding_anchor(about)}",
        "nobody decided on GPUDirect Storage: condition R4.gds": "report.html#c-9",
    }
    assert root.attrib["role"] == "group"
    assert "nobody owns team research" in "".join(" ".join(root.itertext()).replace("\u00a0", " ").split("\n"))


def test_without_links_it_is_one_image() -> None:
    assert parse(render(diagram())).attrib["role"] == "img"


def test_every_hole_is_dashed_and_carries_a_question_mark() -> None:
    drawn = diagram()
    root = parse(render(drawn))
    dashed = [one for one in root.iter(f"{NS}rect") if one.attrib["class"] == "arch-hole"]
    marks = [one for one in root.iter(f"{NS}text") if one.text == "?"]
    expected = sum(len(box.holes) for box in drawn.boxes)
    assert len(dashed) == len(marks) == expected > 40
    assert all(one.attrib["stroke-dasharray"] for one in dashed)
    whole = parse(render(diagram(complete())))
    assert not [one for one in whole.iter(f"{NS}rect") if one.attrib["class"] == "arch-hole"]


def test_reading_order_is_from_top_to_bottom() -> None:
    words = " ".join(parse(render(diagram(complete()))).itertext())
    at = [words.index(word) for word in ("Users and", "Cluster", "slurmctld", "h100: 8", "Finance", "InfiniBand fabric",
                                         "Dataset staging", "Backup")]  # fmt: skip
    assert at == sorted(at)


def test_colours_are_there_without_a_style_sheet_and_with_the_page() -> None:
    alone, inline = render(diagram()), render(diagram(), standalone=False)
    assert "prefers-color-scheme: dark" in alone and "@media print" in alone
    assert "<style" not in inline
    for text in parse(inline).iter(f"{NS}text"):
        assert text.attrib["fill"] in FALLBACK.values()
    assert "prefers-color-scheme" not in page_style() and "var(--unproven, " in page_style()


def test_every_class_is_the_diagram_s_own() -> None:
    """A rule of the page for ``.note`` would otherwise set a text in another size than it was measured in."""
    names = {name for one in parse(render(diagram())).iter() for name in one.attrib.get("class", "").split()}
    assert all(name == "arch" or name.startswith("arch-") for name in names)
    selectors = [line.partition("{")[0] for line in page_style().splitlines() if "{" in line]
    assert selectors and all(line.startswith(".arch") and ", ." not in line.partition(":is(")[0] for line in selectors)


def test_no_text_is_small() -> None:
    for width in (NARROW, WIDE):
        sizes = [float(one.attrib["font-size"]) for one in parse(render(diagram(), width=width)).iter(f"{NS}text")]
        assert min(sizes) >= 13


def test_it_is_the_same_every_time_and_stays_small() -> None:
    document = mixed()
    assert render(diagram(document)) == render(diagram(document))
    pool, team = document["pools"][1], document["teams"][1]
    document["pools"] = [pool | {"name": f"pool-{i}"} for i in range(500)]
    document["teams"] = [team | {"name": f"team-{i}", "quotas": {}} for i in range(500)]
    document["control"]["queues"] = [{"name": f"queue-{i}"} for i in range(500)]
    assert len(render(diagram(document))) < 150_000


def test_a_node_is_drawn_with_its_gpus() -> None:
    root = parse(render(diagram(complete())))
    gpus = [one for one in root.iter(f"{NS}rect") if one.attrib["class"] == "arch-gpu"]
    nodes = [one for one in root.iter(f"{NS}rect") if one.attrib["class"] == "arch-node"]
    assert (len(nodes), len(gpus)) == (8, 64)
    assert "8 nodes, 8 GPUs each" in [one.text for one in root.iter(f"{NS}title")]


def test_more_nodes_than_there_is_room_for_are_told() -> None:
    document = without(complete(), "pools[0].nodes", "pools[0].hosts")
    document["pools"][0]["count"] = 300
    root = parse(render(diagram(document)))
    said = next(one.text or "" for one in root.iter(f"{NS}title") if (one.text or "").startswith("300 nodes"))
    assert said.startswith("300 nodes, 8 GPUs each; ") and said.endswith(" drawn")
    gpus, nodes = (
        sum(one.attrib["class"] == kind for one in root.iter(f"{NS}rect")) for kind in ("arch-gpu", "arch-node")
    )
    assert nodes == gpus // 8 + 2, "two more behind the last one"


@pytest.mark.lab
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_in_a_browser_no_text_leaves_its_box(width: float) -> None:
    from playwright.sync_api import sync_playwright

    document = mixed()
    document["teams"][0]["owner"] = "漢字 " * 8 + "\ufdfd" * 6
    document["security"]["secrets"]["choice"] = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"
    chromium = os.environ.get("FOURPLANE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    script = """(family) => {
      const svg = document.querySelector('svg'); svg.setAttribute('font-family', family);
      const frames = [...svg.querySelectorAll('rect.arch-box, rect.arch-hole, rect.arch-lane')].map(r => r.getBBox());
      return [...svg.querySelectorAll('text:not(.arch-t-edge)')].map(t => [t.textContent, t.getBBox()])
        .filter(([_, b]) => !frames.some(f => b.x >= f.x && b.x + b.width <= f.x + f.width + .5 && b.y >= f.y - 3
                          && b.y + b.height <= f.y + f.height + 3)).map(([text]) => text);
    }"""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_content(render(diagram(document), width=width))
        outside = {family: page.evaluate(script, family) for family in ("Liberation Sans", "DejaVu Sans")}
        browser.close()
    assert outside == {"Liberation Sans": [], "DejaVu Sans": []}
