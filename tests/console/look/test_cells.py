"""A cell of a table stays a cell: no rule for a mark of the same name elsewhere makes something else of it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def classes_of_cells() -> set[str]:
    cells = [
        names
        for path in (ROOT / "templates").rglob("*.html")
        for names in re.findall(r'<t[dh] class="([^"{]*)"', path.read_text())
    ]
    return {name for names in cells for name in names.split()}


def test_no_rule_for_a_class_alone_changes_how_a_cell_of_that_class_is_laid_out():
    cells = classes_of_cells()
    assert {"key", "number", "text"} <= cells
    hit = set()
    for path in (ROOT / "static" / "css").glob("*.css"):
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", path.read_text()):
            if re.search(r"(?<![\w-])(display: (?!none)|height:)", body):
                alone = [part.strip() for part in selectors.split(",")]
                hit |= {f"{path.name} {item}" for item in alone if item.startswith(".") and item[1:] in cells}
    assert hit == set()
