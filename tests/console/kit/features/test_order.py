"""Entries of several features come into one order, which a feature that is left out does not disturb."""

import pytest

from console.kit.features.declaration import PageLink, SidebarEntry
from console.kit.features.order import in_order


def link(route: str, after: str = "") -> PageLink:
    return PageLink(route.title(), route, SidebarEntry.BROKERS, after=after)


def routes(*runs: list[PageLink]) -> list[str]:
    return [entry.route for entry in in_order(runs)]


def test_entries_without_a_wish_come_in_the_order_of_their_features():
    assert routes([link("brokers"), link("racks")], [link("topics")]) == ["brokers", "racks", "topics"]


def test_an_entry_is_listed_right_behind_the_one_it_names_with_those_of_its_run():
    own = [link("notes", after="brokers"), link("labels")]
    assert routes(own, [link("brokers"), link("racks")]) == ["brokers", "notes", "labels", "racks"]


def test_two_entries_behind_one_come_in_the_order_of_their_features():
    first, second = [link("notes", after="brokers")], [link("quotas", after="brokers")]
    assert routes([link("brokers")], first, second) == ["brokers", "notes", "quotas"]


def test_an_entry_behind_one_that_was_left_out_stays_where_its_feature_is():
    assert routes([link("brokers")], [link("notes", after="topics")], [link("charts")]) == [
        "brokers",
        "notes",
        "charts",
    ]


def test_entries_that_follow_each_other_in_a_circle_are_refused_by_name():
    with pytest.raises(ValueError, match="after charts, notes"):
        in_order([[link("notes", after="charts")], [link("charts", after="notes")]])
