"""Which topics are asked about their settings, and when."""

import pytest

from console.kit.gateway.topics.watch import (
    AGAIN_AFTER_SECONDS,
    PAUSE_SECONDS,
    TOPICS_PER_ROUND,
    TopicWatch,
    WatchedSettings,
)

SETTINGS = WatchedSettings(2, 604_800_000, "delete")


class WatchedCluster:
    """A cluster that answers alike for every topic, and a clock."""

    def __init__(self):
        self.rounds: list[list[str]] = []
        self.now = 0.0
        self.answers = True
        self.watch = TopicWatch(self.ask, lambda: self.now)

    def ask(self, names: list[str]) -> dict[str, WatchedSettings]:
        self.rounds.append(names)
        return dict.fromkeys(names, SETTINGS) if self.answers else {}


@pytest.fixture
def watched() -> WatchedCluster:
    return WatchedCluster()


def test_a_new_topic_is_asked_about_once(watched):
    assert watched.watch.look(["orders"]) == {"orders": SETTINGS}
    watched.watch.look(["orders", "payments"])

    assert watched.rounds == [["orders"], ["payments"]]


def test_a_setting_that_changed_is_learned_after_a_while(watched):
    watched.watch.look(["orders"])
    watched.now = AGAIN_AFTER_SECONDS
    watched.watch.look(["orders"])

    assert watched.rounds == [["orders"], ["orders"]]


def test_many_topics_are_asked_about_in_turn(watched):
    names = [f"t{number:03}" for number in range(2 * TOPICS_PER_ROUND)]
    for _ in range(3):
        known = watched.watch.look(names)

    assert [len(round_) for round_ in watched.rounds] == [TOPICS_PER_ROUND, TOPICS_PER_ROUND]
    assert len(known) == len(names)


def test_a_silent_cluster_is_left_alone_and_what_was_known_stays(watched):
    watched.watch.look(["orders"])
    watched.answers, watched.now = False, AGAIN_AFTER_SECONDS
    watched.watch.look(["orders"])
    watched.now += PAUSE_SECONDS - 1

    assert watched.watch.look(["orders", "new"]) == {"orders": SETTINGS}
    assert len(watched.rounds) == 2


def test_a_deleted_topic_is_forgotten(watched):
    watched.watch.look(["orders"])

    assert watched.watch.look([]) == {}
