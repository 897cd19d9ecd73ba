"""The page in a real browser: nothing fetched, nothing complained about, readable on a phone and on paper."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fourplane.report.html import render_html

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import report_samples as samples

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.lab

CHROMIUM = os.environ.get("FOURPLANE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
VIEWS = ["laptop", "hostile", "huge", "empty"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name in VIEWS:
        (folder / f"{name}.html").write_text(render_html(getattr(samples, f"{name}_view")()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    from playwright.sync_api import sync_playwright

    profile = tmp_path_factory.mktemp("profile")
    with sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            str(profile), executable_path=CHROMIUM, headless=True, args=FLAGS
        )
        yield context
        context.close()


class Visit:
    """One opened page with everything that it said and asked for."""

    def __init__(self, browser: BrowserContext, path: Path, width: int, scheme: Any = "light") -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page: Page = browser.new_page()
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=scheme)
        self.page.on("console", lambda m: self.said.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.said.append(f"pageerror: {e}"))
        self.page.on("dialog", lambda d: (self.said.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.url = path.as_uri()
        self.page.goto(self.url, wait_until="load")

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_is_quiet_asks_for_nothing_and_does_not_overflow(
    browser: BrowserContext, pages: Path, name: str, width: int, scheme: str
) -> None:
    with Visit(browser, pages / f"{name}.html", width, scheme) as visit:
        assert visit.page.locator("h1").is_visible()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.said == []
        assert [url for url in visit.asked if not url.startswith("data:")] == [visit.url]


def test_the_verdict_is_in_the_first_screen_of_a_phone(browser: BrowserContext, pages: Path) -> None:
    with Visit(browser, pages / "laptop.html", 390) as visit:
        headline = visit.page.locator("h1")
        assert headline.inner_text() == "Rejected: 2 of 24 conditions failed."
        box = headline.bounding_box()
        assert box is not None and box["y"] + box["height"] < 400
        assert visit.page.title() == "Failed: laptop"


def test_the_filter_narrows_the_facts_and_says_so(browser: BrowserContext, pages: Path) -> None:
    with Visit(browser, pages / "laptop.html", 1280) as visit:
        rows = visit.page.locator("table.facts tbody tr:visible")
        assert rows.count() == 8
        visit.page.get_by_role("checkbox", name="passed").uncheck()
        assert rows.count() == 6
        visit.page.get_by_label("Show facts with").fill("gpu node")
        assert rows.count() == 2
        assert visit.page.get_by_role("status").inner_text() == "2 of 8 facts shown"


def test_a_citation_leads_to_its_observation(browser: BrowserContext, pages: Path) -> None:
    with Visit(browser, pages / "laptop.html", 1280) as visit:
        link = visit.page.locator("#area-R4 .cites a").first
        target = link.get_attribute("href") or ""
        link.click()
        row = visit.page.locator(target)
        assert "storage.staging.throughput" in row.inner_text()
        row.wait_for(state="visible")
        assert visit.page.evaluate("location.hash") == target


def test_the_keyboard_reaches_the_verdict_first(browser: BrowserContext, pages: Path) -> None:
    with Visit(browser, pages / "laptop.html", 1280) as visit:
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.className") == "skip"
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("document.activeElement.id") == "main"


def test_it_prints_on_a4_with_nothing_cut(browser: BrowserContext, pages: Path) -> None:
    with Visit(browser, pages / "laptop.html", 680) as visit:  # A4 less its margins, at 96 dots an inch
        visit.page.emulate_media(media="print")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 680
        assert not visit.page.locator(".contents").is_visible()
        assert visit.page.locator("figure details td").first.is_visible()
        assert visit.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
