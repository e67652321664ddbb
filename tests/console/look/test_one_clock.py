"""One zone on every page: moments are drawn by `moment`, `short_moment` and `utc_time`, which say UTC."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
#: Filters and tags of Django that print a time in words of their own; `naturaltime` is a span, which has no zone.
OTHER_WAYS = re.compile(r"\|\s*(date|time|localtime|timezone|utc)\b|{%\s*(now|localtime|timezone)\b")
#: The address of a filter carries its moment in ISO 8601, which is read by no person.
CARRIES = {"components/moment-field.html"}


def test_no_template_prints_a_time_another_way():
    found = {
        str(path.relative_to(ROOT / "templates"))
        for path in (ROOT / "templates").rglob("*.html")
        if OTHER_WAYS.search(path.read_text())
    }
    assert found == CARRIES


def test_no_script_writes_a_time_into_a_page():
    """Only into the tip over it, where the reader's own zone is named."""
    writers = {
        path.name
        for path in (ROOT / "static" / "js").glob("*.js")
        if re.search(r"DateTimeFormat|toLocale\w*String|getHours|getTimezoneOffset", path.read_text())
    }
    assert writers == {"times.js"}
    written = re.findall(r"each\.(\w+) =", (ROOT / "static" / "js" / "times.js").read_text())
    assert written == ["title"]


def test_every_time_of_day_that_is_drawn_says_its_zone():
    figures = (ROOT / "console" / "kit" / "common" / "figures.py").read_text()
    formats = re.findall(r"%H:%M[^\"]*", figures)
    assert formats
    assert [each for each in formats if not each.endswith(("UTC", "UTC}", "{zone}"))] == []


def test_a_time_without_its_zone_stands_only_below_a_title_that_names_it():
    users = {
        str(path.relative_to(ROOT / "templates"))
        for path in (ROOT / "templates").rglob("*.html")
        if "|time_ms" in path.read_text()
    }
    assert users == {"records/partials/row.html"}
    assert "<th>Time (UTC)</th>" in (ROOT / "templates" / "records" / "list.html").read_text()
