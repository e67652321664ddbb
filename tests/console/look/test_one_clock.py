"""One clock on every page: times are drawn by filters that write an element with its zone, and by one script."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
#: Filters and tags of Django that print a time in words of their own; `naturaltime` is a span, which has no zone.
OTHER_WAYS = re.compile(r"\|\s*(date|time|localtime|timezone|utc)\b|{%\s*(now|localtime|timezone)\b")
#: A browser's own field writes days as its language does, and knows no zone.
OWN_FIELDS = re.compile(r"""type=["']?(date|time|datetime-local|month|week)\b""")


def test_no_template_prints_a_time_another_way():
    templates = {path: path.read_text() for path in (ROOT / "templates").rglob("*.html")}

    assert [path for path, text in templates.items() if OTHER_WAYS.search(text) or OWN_FIELDS.search(text)] == []


def test_one_script_knows_the_reader_s_zone():
    writers = {
        path.name
        for path in (ROOT / "static" / "js").glob("*.js")
        if re.search(r"DateTimeFormat|toLocale\w*String|getHours|getTimezoneOffset", path.read_text())
    }
    assert writers == {"times.js"}


def test_every_time_of_day_in_a_text_says_its_zone():
    figures = (ROOT / "console" / "kit" / "common" / "figures.py").read_text()
    formats = re.findall(r"%H:%M[^\"]*", figures)
    assert formats
    assert [format_ for format_ in formats if not format_.endswith(("UTC", "UTC}", "{zone}"))] == []
