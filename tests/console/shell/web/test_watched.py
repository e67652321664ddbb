"""Which page shows which row."""

import pytest

from console.kit.access.reach import EVERYTHING
from console.shell.web.watched import ROWS_MAX, PageState, WatchedRows


class Page:
    def __init__(self, name: str = "topics"):
        self.name, self.reach = name, EVERYTHING

    def put(self, html: str) -> None: ...


def test_a_page_is_found_by_the_rows_it_shows():
    rows, first, second = WatchedRows(), Page(), Page()
    rows.show(first, PageState(frozenset({("topic-row", 1), ("topic-row", 2)})))
    rows.show(second, PageState(frozenset({("topic-row", 2), ("group-row", 1)})))

    assert rows.showing({"topic-row": [2, 3]}) == {first: {("topic-row", 2)}, second: {("topic-row", 2)}}
    assert rows.showing({"group-row": [2]}) == {}


def test_a_page_that_turned_over_shows_its_new_rows_only():
    rows, page = WatchedRows(), Page()
    rows.show(page, PageState(frozenset({("topic-row", 1), ("topic-row", 2)})))

    assert rows.show(page, PageState(frozenset({("topic-row", 2), ("topic-row", 3)}))) == {("topic-row", 3)}
    assert rows.showing({"topic-row": [1]}) == {}
    assert rows.showing({"topic-row": [3]}) == {page: {("topic-row", 3)}}


def test_a_closed_page_leaves_nothing_behind():
    rows, page = WatchedRows(), Page()
    rows.show(page, PageState(frozenset({("topic-row", 1)})))
    rows.remove(page)
    rows.remove(page)

    assert (rows.shown, rows.showing({"topic-row": [1]})) == ({}, {})


def test_what_a_browser_says_is_taken_as_rows_of_ours_only():
    rows = ["topic-row-7", "user-row-1", "topic-row-", "topic-row-7x", 12, None, "group-page-3"]

    assert PageState.parse({"rows": rows, "moves": True}) == PageState(
        frozenset({("topic-row", 7), ("group-page", 3)}), True
    )


@pytest.mark.parametrize("text", [None, [], "rows", {}, {"rows": None}, {"rows": {"topic-row-1": 1}}, 7])
def test_what_makes_no_sense_shows_nothing(text):
    assert PageState.parse(text) == PageState()


def test_a_page_shows_a_bounded_number_of_rows():
    state = {"rows": [f"topic-row-{number}" for number in range(ROWS_MAX + 50)]}

    assert len(PageState.parse(state).keys) == ROWS_MAX
