"""Names are written by strangers, some from right to left: beside other text they turn only themselves."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_links_and_what_is_set_off_stand_for_themselves():
    rules = (ROOT / "static" / "css" / "components.css").read_text()
    (selectors,) = re.findall(r"([^{}/]+)\{ unicode-bidi: isolate; \}", rules)
    assert {"a", "strong", "code", ".mono", ".name", ".clip"} <= {part.strip() for part in selectors.split(",")}


def test_a_legend_isolates_the_names_of_its_lines():
    loose = [path.name for path in (ROOT / "templates").rglob("*.html") if "</span>{{ line.name }}" in path.read_text()]
    assert loose == []
