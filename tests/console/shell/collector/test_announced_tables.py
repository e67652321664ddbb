"""Tables that are pushed say of a cluster without brokers what their pages say."""

import pytest

from console.kit.live import groups
from console.shell.collector.announce import Announcer
from console.state.clusters import store
from console.state.clusters.topic_rows import TopicChanges


@pytest.fixture
def pushed(db, monkeypatch):
    """pushed(): what pages of brokers and placement are sent, by their group."""
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr("console.shell.collector.announce.send_now", sent.extend)
    store.ensure_state()

    def push() -> dict[str, str]:
        sent.clear()
        announcer = Announcer(lambda of_groups: {groups.BROKERS, groups.PLACEMENT} & set(of_groups))
        announcer.topics_changed(TopicChanges(), {})
        return dict(sent)

    return push


def test_a_cluster_that_cannot_be_read_is_unknown_on_both(pushed):
    store.update_state(brokers_error="No broker answered in time.")
    for html in pushed().values():
        assert "Brokers are unknown: No broker answered in time." in html


def test_where_the_console_runs_brokers_it_says_how_to_start_one(pushed, settings):
    for runs_brokers, words in ((True, "Start one on the"), (False, "has not been read yet")):
        settings.RUNS_BROKERS = runs_brokers
        tables = pushed()
        assert tables.keys() == {groups.BROKERS, groups.PLACEMENT}
        for html in tables.values():
            assert words in html
