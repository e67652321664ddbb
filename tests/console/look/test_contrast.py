"""Every pair of colours that meets on a page, in both themes, by WCAG 2.2: text 4.5 to 1, edges and focus 3 to 1."""

import re
from pathlib import Path

import pytest

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
