"""What was counted as rows of a file, and of the API. Pure."""

from collections.abc import Iterator
from typing import Any

TITLES = ("about", "name", "value", "note")
Row = tuple[str, str, object, str]


def rows_of(profile: dict[str, Any]) -> Iterator[Row]:
    """Yield rows; `value` is a number where there is one; `note` what it is a share or example of."""
    for name in ("records", "looked_into", "tombstones", "empty_values", "with_headers"):
        yield "records", name, profile[name], ""
    keys = profile["keys"]
    yield "keys", "none", keys["none"], ""
    yield "keys", "distinct", keys["distinct"], "" if keys["is_exact"] else "estimated"
    yield from (("key", key, count, f"at most {keys['missed']} more") for key, count in keys["top"])
    for part, figures in profile["sizes"].items():
        yield from ((f"{part} bytes", name, figure, "") for name, figure in figures.items())
    yield from (("header", name, count, "") for name, count in profile["headers"])
    for part, formats in profile["formats"].items():
        yield from ((f"{part} format", name, count, "") for name, count in formats)
    for part, fields in profile["fields"].items():
        for path, count, types, example in fields["rows"]:
            kinds = " ".join(name for name, _ in types)
            yield f"{part} field", path, count, f"of {fields['documents']}; {kinds}; {example}"
    yield from (("order", name, item, "") for name, item in profile["order"].items())
    batches = profile["batches"]
    yield "batches", "count", batches["count"], ""
    yield from (("batches", f"compressed by {name}", count, "") for name, count in batches["codecs"])
    for unit in ("records", "bytes"):
        yield from ((f"{unit} of a batch", name, figure, "") for name, figure in batches[unit].items())
