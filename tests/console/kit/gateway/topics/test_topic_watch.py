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


class Asked:
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
def asked() -> Asked:
    return Asked()


def test_a_new_topic_is_asked_about_once(asked):
    assert asked.watch.look(["orders"]) == {"orders": SETTINGS}
    asked.watch.look(["orders", "payments"])

    assert asked.rounds == [["orders"], ["payments"]]


def test_a_setting_that_changed_is_learned_after_a_while(asked):
    asked.watch.look(["orders"])
    asked.now = AGAIN_AFTER_SECONDS
    asked.watch.look(["orders"])

    assert asked.rounds == [["orders"], ["orders"]]


def test_many_topics_are_asked_about_in_turn(asked):
    names = [f"t{number:03}" for number in range(2 * TOPICS_PER_ROUND)]
    for _ in range(3):
        known = asked.watch.look(names)

    assert [len(round_) for round_ in asked.rounds] == [TOPICS_PER_ROUND, TOPICS_PER_ROUND]
    assert len(known) == len(names)


def test_a_silent_cluster_is_left_alone_and_what_was_known_stays(asked):
    asked.watch.look(["orders"])
    asked.answers, asked.now = False, AGAIN_AFTER_SECONDS
    asked.watch.look(["orders"])
    asked.now += PAUSE_SECONDS - 1

    assert asked.watch.look(["orders", "new"]) == {"orders": SETTINGS}
    assert len(asked.rounds) == 2


def test_a_deleted_topic_is_forgotten(asked):
    asked.watch.look(["orders"])

    assert asked.watch.look([]) == {}
