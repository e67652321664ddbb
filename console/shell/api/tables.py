"""Rows of a page's table as JSON can write them."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from console.kit.common.csv_table import CsvTable
from console.kit.features.api import ApiRead
from console.shell.api import door
from console.shell.api.plans import NotDone
from console.state.clusters.queries import cluster_state

ROWS_MAX, ROWS_USUAL = 10_000, 500
#: Letters of all rows together, after which no further one is added: 4 KB of gzip in a record are 4 MB in its row.
LENGTH_MAX = 16 * 1024 * 1024
#: No table is longer.
SKIP_MAX = 1_000_000_000


def rows(
    person: User, read: ApiRead, values: Mapping[str, Any], filters: Iterable[tuple[str, str]], take: int, skip: int
) -> dict[str, Any]:
    """Return rows. `values` stand in the path; `filters` are those of the page. `more`: there are further rows, also
    after LENGTH_MAX letters; `note`: what has to be known of the rows, such as which records a search has not looked
    at.

    Raises NotDone where the page has no table for now, and what views raise.
    """
    own = {"take", "skip", "format", *dict(read.chosen)}
    query = [*(pair for pair in filters if pair[0] not in own), *read.chosen, ("format", "csv")]
    try:
        path = reverse(read.page, kwargs=dict(values))
    except NoReverseMatch:
        raise NotDone("There is nothing of this name.", 404) from None
    answer = door.look(person, path, query)
    table = answer.response
    if not isinstance(table, CsvTable):
        sentence = str(answer.shown.get("error") or answer.shown.get("sentence") or "There is nothing to read here.")
        raise NotDone(sentence, table.status_code if table.status_code >= 400 else 503)
    names = [re.sub(r"\W+", "_", title).strip("_").lower() for title in table.titles]
    shown: list[dict[str, object]] = []
    length, has_more = 0, False
    for row in islice(table.rows, skip, skip + take + 1):
        if has_more := len(shown) == take or length >= LENGTH_MAX:
            break
        shown.append(dict(zip(names, map(_value, row), strict=True)))
        length += _length(row)
    note = " ".join(filter(None, [_unknown(read), table.note]))
    return {"rows": shown, "skip": skip, "more": has_more, "note": note}


def _length(value: object) -> int:
    """Return the letters of the texts in `value`."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(len(str(name)) + _length(item) for name, item in value.items())
    return sum(map(_length, value)) if isinstance(value, list | tuple | set | frozenset) else 0


def _unknown(read: ApiRead) -> str:
    """Return why the rows may not be true now; empty while they are."""
    if not read.tier:
        return ""
    state = cluster_state()
    outage = state.groups_outage if read.tier == "groups" else state.outage
    return outage.sentence if outage else ""


def _value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _value(item) for name, item in value.items()}
    return [_value(item) for item in value] if isinstance(value, list | tuple | set | frozenset) else str(value)
