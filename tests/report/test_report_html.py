from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import report_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.findings import Finding, Level
from fourplane.base.verdicts import Verdict
from fourplane.report.figures import Band
from fourplane.report.html import MAX_FACTS, MAX_OBSERVATIONS, render_html
from fourplane.report.view import build
from fourplane.review.model import Action, Area, Condition, Review

VOID = {"meta", "link", "br", "input", "wbr", "img", "hr"}


class Page(HTMLParser):
    """Elements, ids, links and text of a page; refuses tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.raw: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style"):
            self.raw[self._open[-1]] = self.raw.get(self._open[-1], "") + data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def values(self, name: str, tag: str = "") -> list[str]:
        return [value for t, n, value in self.attributes if n == name and (not tag or t == tag)]


@pytest.fixture(scope="module")
def laptop() -> Page:
    return Page(render_html(samples.laptop_view()))


@pytest.fixture(scope="module")
def hostile() -> Page:
    return Page(render_html(samples.hostile_view()))


@pytest.fixture(scope="module")
def huge() -> str:
    return render_html(samples.huge_view())


def test_the_title_is_verdict_and_name_and_the_language_is_set(laptop: Page) -> None:
    assert "Failed: laptop" in laptop.text
    assert laptop.values("lang", "html") == ["en"]


def test_sections_come_in_the_order_of_reading(laptop: Page) -> None:
    ids = laptop.values("id")
    order = [ids.index(i) for i in ("headline", "areas", "planes", "bandwidth", "storage", "findings", "evidence")]
    assert order == sorted(order)
    text = laptop.text
    assert (
        text.index("Rejected: 2 of 24 conditions failed.")
        < text.index("the next three actions")
        < text.index("Nine areas")
    )


def test_only_three_actions_are_shown(laptop: Page) -> None:
    assert "Rent two H100 nodes" in laptop.text
    assert "fourth thing" not in laptop.text


def test_every_link_inside_the_page_has_its_target_and_ids_are_unique(laptop: Page) -> None:
    ids = laptop.values("id")
    assert len(ids) == len(set(ids))
    inner = [h for h in laptop.values("href") if h.startswith("#")]
    assert len(inner) > 40
    assert {h[1:] for h in inner} <= set(ids)


def test_citations_lead_to_their_observation(laptop: Page) -> None:
    text = render_html(samples.laptop_view())
    reference = samples.cite("storage.staging.throughput")
    anchors = set(re.findall(rf'<a href="#(obs-[0-9a-f]+)" title="{re.escape(reference)}"', text))
    assert len(anchors) == 1
    row = text.split(f'<tr id="{anchors.pop()}">')[1].split("</tr>")[0]
    assert "412 MB/s" in row
    assert "storage/1 copy" in row
    assert f"runs/{samples.RUN}/raw/storage.jsonl:12" in row
    assert "9c1f" * 16 in row


def test_places_of_one_file_stand_together_below_the_workspace() -> None:
    root = "/nowhere"
    evidence = (
        f"{root}/fourplane.yaml:12:3",
        f"{root}/quotes/a.yaml:4:1",
        f"{root}/fourplane.yaml:15:8",
        "/else/x.yaml:1:1",
    )
    condition = Condition("R1.model", "Model", Verdict.PASSED, "", evidence)
    review = Review("n", samples.NOW, (Area("R1", "Brief", (condition,)),), (), ())
    text = render_html(build(samples.make_case([]), review))
    shown = re.findall(r"<li><code [^>]*>([^<]*)</code></li>", text)
    assert shown == ["fourplane.yaml:12:3, 15:8", "quotes/a.yaml:4:1", "/else/x.yaml:1:1"]


def test_two_methods_of_one_fact_keep_apart() -> None:
    observations = [samples.observe("compute.cpu.cores", 2, method=m) for m in ("lscpu", "in container")]
    ids = Page(render_html(build(samples.make_case(observations), samples.laptop_review()))).values("id", "tr")
    assert len([i for i in ids if i.startswith("obs-")]) == 2
    assert len(ids) == len(set(ids))


def test_the_policy_allows_only_our_own_style_and_script(laptop: Page) -> None:
    policy = next(v for v in laptop.values("content", "meta") if "default-src" in v)
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(laptop.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_nothing_is_fetched(laptop: Page) -> None:
    assert laptop.tags["img"] == laptop.tags["iframe"] == laptop.tags["object"] == 0
    assert laptop.values("src") == []
    assert laptop.values("href", "link") == ["data:,"]
    assert "@import" not in laptop.raw["style"]
    assert "url(" not in laptop.raw["style"]


def test_links_out_are_web_addresses_only() -> None:
    text = render_html(samples.hostile_view())
    out = [h for h in Page(text).values("href", "a") if not h.startswith("#")]
    assert out == ['https://example.org/?q="><script>']
    assert 'rel="noreferrer noopener external"' in text


def test_hostile_text_stays_text(hostile: Page) -> None:
    assert hostile.tags["script"] == 1
    assert hostile.tags["img"] == hostile.tags["xss"] == 0
    assert not [n for _, n, _ in hostile.attributes if n.startswith("on")]
    assert hostile.text.count("<script>alert(1)</script>") > 20
    everything = hostile.text + " ".join(v for _, _, v in hostile.attributes)
    assert "\u202e" not in everything
    assert "\x1b" not in everything
    assert "\\u202egnp.exe" in everything


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=80))
def test_any_name_gives_a_well_formed_page_with_the_same_elements(name: str) -> None:
    def page(text: str) -> Page:
        condition = Condition("R1.model", text, Verdict.UNPROVEN, f"x{text}", (f"x{text}",), f"x{text}")
        return Page(
            render_html(
                build(
                    samples.make_case([]),
                    Review(text, samples.NOW, (Area("R1", text, (condition,)),), (), (Action(text),)),
                )
            )
        )

    assert page(name).tags == page("plain").tags


def test_long_lists_are_bounded_and_say_so(huge: str) -> None:
    page = Page(huge)
    assert len(huge.encode()) < 2 * 2**20
    assert huge.count("<tr data-verdict=") == MAX_FACTS
    assert f"{12_000 - MAX_FACTS:,} more facts of this plane" in page.text
    assert f"{3_000 - MAX_OBSERVATIONS:,} more observations" in page.text
    assert "850 more findings not shown here; all of them are in report.json" in page.text
    assert "996 more curves" in page.text
    assert "and 992 more in report.json" in page.text


def test_failed_rows_survive_the_cap(huge: str) -> None:
    assert huge.count('<tr data-verdict="failed">') == 10


def test_cited_observations_survive_the_cap(huge: str) -> None:
    page = Page(huge)
    inner = {h[1:] for h in page.values("href") if h.startswith("#")}
    assert inner <= set(page.values("id"))
    assert len([i for i in inner if i.startswith("obs-")]) > 60
    assert f'<code title="{samples.RUN}' not in huge  # a citation whose observation isn't shown


def test_a_curve_without_expectation_says_so_and_one_with_names_its_source(laptop: Page) -> None:
    assert "no expectation on file for this transport" in laptop.text
    view = samples.laptop_view()
    banded = replace(
        view, curves=(replace(view.curves[0], bands=(Band("declared target", 5.0, None, "fourplane.yaml:9:1"),)),)
    )
    text = Page(render_html(banded)).text
    assert "Held against: declared target (" in text
    assert "fourplane.yaml:9:1" in text


def test_wrong_results_are_said_in_words() -> None:
    observations = [samples.observe("network.allreduce.curve", samples.curve(wrong_at=65536))]
    text = Page(render_html(build(samples.make_case(observations), samples.laptop_review()))).text
    assert "Wrong results at 64 KiB" in text
    assert "Wrong results" not in Page(render_html(samples.laptop_view())).text


def test_points_of_the_curve_are_in_a_table(laptop: Page) -> None:
    assert "The 24 points as a table" in laptop.text
    assert re.search(r"64 MiB \d\d,\d{3} 2\.24 2\.24 5 0 Storage", laptop.text)


def test_every_verdict_is_a_word_not_only_a_colour(laptop: Page) -> None:
    text = render_html(samples.laptop_view())
    tags = re.findall(r'<span class="tag (\w+)">(\w+)</span>', text)
    assert {kind for kind, _ in tags} == {"passed", "failed", "unproven", "stale", "waived"}
    assert all(kind == word for kind, word in tags)


def test_tables_are_headed_and_named(laptop: Page) -> None:
    text = render_html(samples.laptop_view())
    assert text.count("<th ") == len(re.findall(r'<th [^>]*scope="(?:col|row)"', text))
    for table in re.findall(r"<table.*?</table>", text, re.S):
        named = "<caption>" in table or "aria-labelledby=" in table.split(">")[0] or "Empty fields" in text
        assert named


def test_damage_of_the_store_is_said_above_the_actions() -> None:
    view = replace(samples.laptop_view(), damage=(Finding("evidence-damaged", Level.ERROR, "a byte differs"),))
    text = Page(render_html(view)).text
    assert text.index("The evidence store is damaged") < text.index("the next three actions")


def test_an_empty_report_says_what_is_missing() -> None:
    text = Page(render_html(samples.empty_view())).text
    for sentence in (
        "No all-reduce was measured.",
        "No storage figure was measured.",
        "No run is on file.",
        "No findings.",
        "Nothing was observed yet.",
        "no evidence on file",
    ):
        assert sentence in text


def test_the_footer_names_version_time_and_head(laptop: Page) -> None:
    foot = laptop.text.split("Made by")[1]
    assert "Fourplane " in foot
    assert "2026-12-01 04:55:12 UTC" in foot
    assert "b7d2" * 16 in foot


def test_the_same_view_gives_the_same_page() -> None:
    assert render_html(samples.laptop_view()) == render_html(samples.laptop_view())
