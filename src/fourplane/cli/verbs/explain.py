"""``fourplane explain``: what a finding code, a metric or a fact of the catalogue means."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fourplane.base.codes import Code, all_codes, find, similar
from fourplane.base.errors import UsageError
from fourplane.base.text import printable

if TYPE_CHECKING:
    from fourplane.catalog.facts import Catalog
    from fourplane.catalog.model import Expected, Fact, Subject

__all__ = ["command", "import_codes"]

_WIDTH = 80


@click.command("explain")
@click.argument("words", metavar="[CODE]", nargs=-1)
@click.option(
    "-C", "--workspace", "root", type=click.Path(path_type=Path), default=".",
    help="Folder of the workspace, whose catalog/*.yaml count as well.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(words: tuple[str, ...], root: Path, as_json: bool) -> int:
    """Explain a finding code, a metric or a fact of the catalogue.

    CODE is what a finding shows (checkpoint-stall-too-long), a metric
    (network.allreduce.busbw_peak), a subject of the catalogue (h100-sxm, "NVIDIA
    H200", aws-p5), one of its facts (h100-sxm memory), a fact of all subjects
    (price_range), or published figures (all_reduce 8xh100). Without it all codes
    are listed.

    Facts that a workspace adds in catalog/*.yaml are shown with their place, and
    with what they override.
    """
    from fourplane.cli.output import print_json

    groups = import_codes()
    name = " ".join(words).strip()
    if not name:
        if as_json:
            print_json({"codes": [_code_json(code) for code in all_codes()]})
        else:
            _list_codes(groups)
        return 0
    found = _look_up(name, _catalog(root))
    if as_json:
        print_json(found)
    else:
        for line in _lines(found):
            click.echo(line)
    return 0


def _catalog(root: Path) -> Catalog:
    """Return the catalogue with the workspace's own facts; what is wrong with those is told on stderr."""
    from fourplane.catalog import load_catalog
    from fourplane.cli.output import talk

    try:
        own = (root / "fourplane.yaml").is_file()
    except OSError:
        own = False
    catalog = load_catalog(root if own else None)
    for one in catalog.findings:
        talk(f"{printable(one.place)}: {one.level} {one.code}: {printable(one.message)}; the entry is left out")
    return catalog


def import_codes() -> dict[str, list[Code]]:
    """Import every ``codes`` module of the package and return the codes by the package that defines them."""
    sources = _code_modules()
    groups: dict[str, list[Code]] = {group: [] for group in (*sources, "other")}
    for code in all_codes():
        group = next((group for group, text in sources.items() if f'"{code.code}"' in text), "other")
        groups[group].append(code)
    return {group: codes for group, codes in groups.items() if codes}


@cache
def _code_modules() -> dict[str, str]:
    """Import the modules named ``codes`` or ``*_codes``; return their source by package."""
    import pkgutil
    from importlib import import_module
    from pathlib import Path

    import fourplane

    sources: dict[str, str] = {}
    for name in sorted(module.name for module in pkgutil.walk_packages(fourplane.__path__, "fourplane.")):
        package, _, last = name.removeprefix("fourplane.").rpartition(".")
        # base.codes is the registry itself
        if package != "base" and (last == "codes" or last.endswith("_codes")):
            file = import_module(name).__file__ or ""
            sources[package] = sources.get(package, "") + Path(file).read_text(encoding="utf-8")
    return sources


def _look_up(name: str, catalog: Catalog) -> dict[str, Any]:
    """Return what ``name`` stands for, as JSON.

    Raises:
        UsageError: it stands for nothing; the nearest names are told.
    """
    from fourplane.records.metrics import METRICS

    code = find(name.casefold())
    if code is not None:
        return _code_json(code)
    metric = METRICS.get(name.casefold())
    if metric is not None:
        data = {"name": metric.name, "plane": metric.plane, "unit": metric.unit, "meaning": metric.meaning}
        return {"kind": "metric", **data}
    figures = _figures(catalog, name)
    if figures:
        return {"kind": "expected", "name": name, "figures": [one.to_json() for one in figures]}
    subjects = _subjects(catalog, name)
    if len(subjects) == 1:
        return _subject_json(subjects[0], subjects[0].facts)
    if subjects:
        return {"kind": "ambiguous", "name": name, "candidates": [[one.key, one.title] for one in subjects]}
    head, _, last = name.rpartition(" ")
    named = _subjects(catalog, head) if head else []
    facts = [fact for fact in named[0].facts if fact.name == last.casefold()] if len(named) == 1 else []
    if facts:
        return _subject_json(named[0], tuple(facts))
    everywhere = [fact for one in catalog.subjects.values() for fact in one.facts if fact.name == name.casefold()]
    if everywhere:
        return {"kind": "facts", "name": name.casefold(), "facts": [fact.to_json() for fact in everywhere]}
    _refuse(name, catalog, [*METRICS])
    raise AssertionError("unreachable")


def _subjects(catalog: Catalog, name: str) -> list[Subject]:
    one = catalog.find(name)
    return [one] if one else list(catalog.candidates(name))


def _figures(catalog: Catalog, name: str) -> list[Expected]:
    """Return published figures for ``all_reduce``, ``all_reduce 8xh100`` or ``all_reduce h100``."""
    op, _, rest = name.casefold().partition(" ")
    figures = [one for one in catalog.expected_figures if one.op == op]
    wanted = rest.strip()
    if not figures or not wanted:
        return figures
    count, times, gpu = wanted.partition("x")
    if times and count.strip().isdigit():
        figures = [one for one in figures if one.gpus_per_node == int(count)]
        wanted = gpu.strip()
    boards = {board.key for board in catalog.candidates(wanted)}
    return [one for one in figures if one.gpu in boards]


def _refuse(name: str, catalog: Catalog, metrics: Iterable[str]) -> None:
    known = [code.code for code in all_codes()] + list(metrics)
    known += [n.casefold() for n in catalog.names()] + [one.op for one in catalog.expected_figures]
    known += [fact.name for one in catalog.subjects.values() for fact in one.facts]
    near = similar(name.casefold(), list(dict.fromkeys(known)))
    hint = (
        f"did you mean {' or '.join(repr(one) for one in near)}?" if near else "see 'fourplane explain' for all codes"
    )
    raise UsageError("explain-unknown", f"nothing is known as {name!r}", hint)


def _code_json(code: Code) -> dict[str, Any]:
    return {
        "kind": "code",
        "code": code.code,
        "title": code.title,
        "reason": code.reason,
        "fix": code.fix,
        "link": code.link,
        "requirement": code.requirement,
    }


def _subject_json(subject: Subject, facts: tuple[Fact, ...]) -> dict[str, Any]:
    return {
        "kind": subject.kind,
        "name": subject.key,
        "title": subject.title,
        "aliases": list(subject.aliases),
        "facts": [fact.to_json() for fact in facts],
    }


def _list_codes(groups: dict[str, list[Code]]) -> None:
    for group, codes in groups.items():
        click.echo(click.style(group, bold=True))
        for code in codes:
            for line in _wrap(f"{code.code}  {code.title}", "  ", "      "):
                click.echo(line)


def _lines(found: dict[str, Any]) -> list[str]:
    """Return the text of one answer, 80 columns wide; a link is never broken."""
    kind = found["kind"]
    if kind == "code":
        return _code_lines(found)
    if kind == "metric":
        unit = f", in {found['unit']}" if found["unit"] else ""
        return [found["name"], *_wrap(f"{found['meaning']}{unit} ({found['plane']} plane)")]
    if kind == "ambiguous":
        told = [f"  {key}  {title}" for key, title in found["candidates"]]
        return [f"{found['name']} may stand for:", *told]
    if kind == "expected":
        return [line for figure in found["figures"] for line in _figure_lines(figure)]
    if kind == "facts":
        return [line for fact in found["facts"] for line in _fact_lines(fact, f"{fact['subject']} ")]
    lines = _wrap(f"{found['name']}: {printable(found['title'])}", "", "  ")
    if found["aliases"]:
        lines += _wrap(f"also: {printable(', '.join(found['aliases']))}")
    for fact in found["facts"]:
        lines += _fact_lines(fact)
    return lines


def _code_lines(found: dict[str, Any]) -> list[str]:
    lines = [click.style(found["code"], bold=True), *_wrap(found["title"]), ""]
    for label in ("reason", "fix"):
        lines += _wrap(f"{label}: {found[label]}")
    if found["link"]:
        lines.append(f"  link: {found['link']}")
    if found["requirement"]:
        lines.append(f"  requirement: {found['requirement']}")
    return lines


def _fact_lines(fact: dict[str, Any], before: str = "") -> list[str]:
    conditions = ", ".join(f"{key} {value}" for key, value in fact["conditions"].items())
    unit = "" if fact["unit"] == "count" else f" {fact['unit']}"
    head = f"{before}{fact['name']}: {_number(fact['value'])}{unit}" + (f" ({conditions})" if conditions else "")
    return [*_wrap(printable(head)), *_origin_lines(fact)]


def _figure_lines(figure: dict[str, Any]) -> list[str]:
    from fourplane.base.units import format_bytes

    nodes = "1 node" if figure["nodes"] == 1 else f"{figure['nodes']} nodes"
    case = (
        f"{figure['op']}, {nodes} of {figure['gpus_per_node']} {figure['gpu']}, over {' or '.join(figure['transport'])}"
    )
    nics = f", {figure['nics']}" if figure["nics"] else ""
    size = format_bytes(figure["size_bytes"])
    kind = "measured" if figure["kind"] == "measured" else "a gate that somebody ships"
    where = f" at {size}" if figure["size_bytes"] else ""
    statistic = f", {figure['statistic']}" if figure["statistic"] else ""
    head = f"{case}{nics}: {_number(figure['busbw_gbps'])} GB/s{where}{statistic}, {kind}"
    return [*_wrap(printable(head), "", "  "), *_origin_lines(figure)]


def _origin_lines(entry: dict[str, Any]) -> list[str]:
    """Return note, sources, and where a workspace's own entry stands and what it overrides."""
    lines = _wrap(printable(entry["note"]), "      ") if entry["note"] else []
    for one in entry["sources"]:
        lines += _wrap(printable(f"{one['title']}, {one['date']}"), "      ", "        ")
    if entry["place"]:
        lines += _wrap(printable(f"of this workspace: {entry['place']}"), "      ", "        ")
    if entry["overrides"]:
        lines += _wrap(printable(f"overrides what is shipped: {entry['overrides']}"), "      ", "        ")
    return lines


def _number(value: float | list[float]) -> str:
    from fourplane.catalog.model import format_number

    return "–".join(format_number(one) for one in value) if isinstance(value, list) else format_number(value)


def _wrap(text: str, first: str = "  ", rest: str = "") -> list[str]:
    import textwrap

    rest = rest or first
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
