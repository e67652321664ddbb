"""Every pair of colours that meets on a page, in both themes, by WCAG 2.2: text 4.5 to 1, edges and focus 3 to 1."""

import itertools
import math
import re
from operator import mul
from pathlib import Path

import pytest

from console.cluster.charts.colours import COLOURS

CSS = Path(__file__).parents[3] / "static" / "css"
GROUNDS = ("ground", "surface", "surface-raised", "surface-hover", "flash")
TEXTS = ("text", "text-muted", "accent", "ok", "warning", "critical")
TEXT_PAIRS = [(text, ground) for text in TEXTS for ground in GROUNDS]
TEXT_PAIRS += [(name, f"{name}-soft") for name in ("accent", "ok", "warning", "critical")]
TEXT_PAIRS += [("text", f"{name}-soft") for name in ("accent", "ok", "warning", "critical")]
TEXT_PAIRS += [("accent-text", "accent")]
EDGE_PAIRS = [
    (edge, ground) for edge in ("line-control", "focus") for ground in ("ground", "surface", "surface-raised")
]


def themes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root(.*?)\{(.*?)\}", (CSS / "tokens.css").read_text(), re.DOTALL)
    colours = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", body)) for _, body in blocks]
    light, by_system, chosen = (colour for colour in colours if colour)
    assert by_system == chosen
    return {"light": light, "dark": light | chosen}


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_computed_as_the_standard_says():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXT_PAIRS, 4.5), (EDGE_PAIRS, 3.0)], ids=["texts", "edges"])
def test_what_is_to_be_read_stands_out(theme, pairs, least):
    colours = themes()[theme]
    faint = {pair: round(contrast(*(colours[item] for item in pair)), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < least} == {}


def in_oklab(colour: str) -> tuple[float, ...]:
    """Ottosson's OKLab: distances are as large as they look."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    rgb = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    lms = (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
    cones = [sum(map(mul, row, rgb)) ** (1 / 3) for row in lms]
    axes = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    return tuple(sum(map(mul, row, cones)) for row in axes)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_of_charts_stand_out_and_are_told_apart(theme):
    """3 to 1 against the panel, and no two closer than 0.1 in OKLab, five times what is just seen beside each other."""
    colours = themes()[theme]
    series = {name: colours[name] for name in (f"series-{number}" for number in range(1, COLOURS + 1))}
    assert {name for name, colour in series.items() if contrast(colour, colours["surface"]) < 3.2} == set()
    near = {
        (one, other)
        for one, other in itertools.combinations(series, 2)
        if math.dist(in_oklab(series[one]), in_oklab(series[other])) < 0.1
    }
    assert near == set()


def test_each_colour_of_a_series_has_its_class():
    text = (CSS / "charts.css").read_text()
    assert re.findall(r"^\.series-(\d+) \{", text, re.MULTILINE) == [str(number) for number in range(COLOURS + 1)]


def test_no_text_is_made_faint_by_opacity():
    """Opacity takes contrast away where no pair of tokens tells; shapes without text may have it."""
    rules = [
        rule for path in CSS.glob("*.css") for rule in re.findall(r"[^{}]+\{[^{}]*\bopacity:[^{}]*\}", path.read_text())
    ]
    assert [rule for rule in rules if not re.search(r"svg|polygon|rect|path|::before|::after|\.dot", rule)] == []


def test_colours_come_from_the_tokens_only():
    results = {}
    for path in CSS.glob("*.css"):
        if path.name != "tokens.css" and (literals := re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[^{}]*;)", path.read_text())):
            results[path.name] = literals
    assert results == {}
