"""Groups of real clients come and go: whoever is there shares all partitions, and nobody else has any.

Each test plays the same story with each library at the same time, in groups of their own.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true
from tests.interop.group_member import LIBRARIES, Member

PARTITIONS = 4
COOPERATIVE = ["confluent-kafka", "kafka-python"]


def create_topic(cluster, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 3)])[name].result(30)


class Group:
    """One library's group; members still there when the story is over leave."""

    def __init__(self, cluster, library: str, name: str, **settings):
        self.library = library
        self.topic = f"{name}-{library}"
        self._settings = {
            "servers": cluster.bootstrap_servers,
            "library": library,
            "topic": self.topic,
            "group": self.topic,
            **settings,
        }
        self._members: list[Member] = []

    def member(self, instance: str | None = None) -> Member:
        member = Member({**self._settings, "instance": instance})
        self._members.append(member)
        return member

    def crash_all(self) -> None:
        for member in self._members:
            member.crash()


def tell_of_each(cluster, story: Callable[[Group], None], name: str, libraries: Iterable[str], **settings) -> None:
    """Plays the story with every library at once, each with a topic and a group of its own."""

    def play(library: str) -> None:
        with _group(cluster, library, name, **settings) as group:
            create_topic(cluster, group.topic)
            story(group)

    with ThreadPoolExecutor() as threads:
        list(threads.map(play, libraries))


@contextlib.contextmanager
def _group(cluster, library: str, name: str, **settings) -> Iterator[Group]:
    group = Group(cluster, library, name, **settings)
    try:
        yield group
    finally:
        group.crash_all()


def await_shares(group: Group, members: list[Member], shares: list[int], when: str) -> None:
    """Disjoint parts of all partitions, of these sizes."""

    def is_shared() -> bool:
        parts = [member.assignment for member in members]
        return sorted(map(len, parts)) == shares and len(set().union(*parts)) == sum(shares)

    what = f"{group.library}, {when}: shares of {shares}; there are"
    await_true(is_shared, f"{what} {[member.assignment for member in members]}", deadline_s=30)


def test_partitions_are_shared_by_those_who_join_leave_and_crash(cluster, name):
    def story(group: Group) -> None:
        first = group.member()
        await_shares(group, [first], [4], "alone")
        second, third = group.member(), group.member()
        await_shares(group, [first, second, third], [1, 1, 2], "two joined")
        second.leave()
        await_shares(group, [first, third], [2, 2], "one left")
        third.crash()
        await_shares(group, [first], [4], "one crashed, its session is over")

    tell_of_each(cluster, story, name, LIBRARIES)


def test_topic_created_later_is_read_by_those_whose_pattern_it_matches(cluster, name):
    def story(group: Group) -> None:
        member = group.member()
        await_shares(group, [member], [4], "one topic matches")
        create_topic(cluster, f"{group.topic}-later")
        await_true(lambda: len(member.assignment) >= 8, f"{group.library} reads the new topic", deadline_s=60)

    tell_of_each(cluster, story, name, LIBRARIES, is_pattern=True)


def test_static_member_that_restarts_has_its_partitions_again_and_nobody_notices(cluster, name):
    def story(group: Group) -> None:
        stays, restarts = group.member("one"), group.member("two")
        await_shares(group, [stays, restarts], [2, 2], "both are there")
        kept, noticed = restarts.assignment, len(stays.events)
        restarts.crash()
        again = group.member("two")
        await_true(lambda: again.assignment == kept, f"{group.library}: {kept} again, not {again.assignment}")
        assert stays.events[noticed:] == []

    tell_of_each(cluster, story, name, LIBRARIES)


def test_cooperative_members_give_up_only_what_others_get(cluster, name):
    def story(group: Group) -> None:
        first = group.member()
        await_shares(group, [first], [4], "alone")
        noticed = len(first.events)
        second = group.member()
        await_shares(group, [first, second], [2, 2], "shared")
        given_up = {item for what, changed in first.events[noticed:] if what == "revoked" for item in changed}
        assert given_up == second.assignment

    tell_of_each(cluster, story, name, COOPERATIVE, is_cooperative=True)
