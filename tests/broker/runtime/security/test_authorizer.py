"""Rules are kept as ZooKeeper has them, whoever writes them, and decisions follow at once; on a real server."""

import asyncio
import itertools
import logging

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import DENIED_PRINCIPALS_COUNTED_MAX, THINGS_IN_A_TURN
from broker.common.logs import log_levels, set_log_level
from broker.common.security_limits import DECISION_NAME_LENGTH_MAX
from broker.runtime.security import authorizer as authorizer_module
from broker.runtime.security.authorizer import Authorizer
from broker.runtime.security.authorizer_log import OTHERS
from broker.security.acls.decision import AccessRules
from broker.security.acls.filters import BindingFilter, EntryFilter, PatternFilter
from broker.security.acls.model import AclEntry, Binding, Pattern, PatternType, Permission
from broker.security.membership import MEMBER
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType, bits
from broker.security.rights import UNLIMITED
from broker.zookeeper import acl_nodes
from broker.zookeeper.acl_nodes import AclStore
from broker.zookeeper.acl_znodes import ACL_CHANGES, EXTENDED_ACL_CHANGES, acl_path
from broker.zookeeper.errors import MalformedZnode, WrongVersion
from broker.zookeeper.session import ZooKeeperSession
from tests.eventually import eventually
from tests.manual_clock import ManualClock

TOPIC = ResourceType.TOPIC
ALICE, HOST = "User:alice", "10.0.0.1"
READ = AclEntry(ALICE, "*", AclOperation.READ, Permission.ALLOW)
NO_READ = READ._replace(permission=Permission.DENY)
T = Pattern(TOPIC, "t")
PREFIX = Pattern(TOPIC, "pre", PatternType.PREFIXED)

_chroots = itertools.count()


@pytest.fixture
async def new_session(zookeeper):
    chroot, opened = f"/authorizer-{next(_chroots)}", []

    async def open_session() -> ZooKeeperSession:
        session = ZooKeeperSession(f"127.0.0.1:{zookeeper.port}{chroot}", 4_000)
        await session.connect(10_000)
        opened.append(session)
        return session

    yield open_session
    for session in opened:
        await session.close()


@pytest.fixture
async def session(new_session):
    return await new_session()


@pytest.fixture
async def started(new_session):
    running = []

    async def start(session=None, **settings) -> Authorizer:
        settings = {"super_users": ["User:root"], "clock": ManualClock(), **settings}
        authorizer = Authorizer(session or await new_session(), **settings)
        running.append(authorizer)
        await authorizer.start()
        return authorizer

    yield start
    for authorizer in running:
        authorizer.stop()


def denials_logged(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "broker.authorizer"]


async def test_what_is_there_counts_from_the_start_and_what_comes_soon(started, session):
    store = AclStore(session)
    await store.ensure_paths()
    await store.change(T, lambda _present: (READ,))
    authorizer = await started()
    rights = authorizer.rights_of(ALICE, HOST)
    assert rights.may(AclOperation.READ, TOPIC, "t")
    assert not rights.may(AclOperation.READ, TOPIC, "prefixed")
    await store.change(PREFIX, lambda _present: (READ,))
    await eventually(lambda: rights.may(AclOperation.READ, TOPIC, "prefixed"), "a prefix that another tells of")
    await store.change(T, lambda present: (*present, NO_READ))
    await eventually(lambda: not rights.may(AclOperation.READ, TOPIC, "t"), "a deny that another tells of")
    await store.change(T, lambda _present: ())
    await eventually(lambda: not authorizer.describe(BindingFilter(PatternFilter(name="t"))), "rules that go")
    assert await session.exists(acl_path(T)) is None


async def test_a_change_counts_here_when_it_returns_and_elsewhere_soon(started, session):
    here, there = await started(), await started()
    of_here, of_there = here.rights_of(ALICE, HOST), there.rights_of(ALICE, HOST)
    assert not of_here.may(AclOperation.READ, TOPIC, "t")
    assert await here.create([Binding(T, READ), Binding(T, READ), Binding(PREFIX, READ)]) == {}
    assert of_here.may(AclOperation.READ, TOPIC, "t")
    await eventually(lambda: of_there.may(AclOperation.READ, TOPIC, "t"), "the same on the other")
    assert (await session.get(f"{ACL_CHANGES}/acl_changes_0000000000")).data == b"TOPIC:t"
    assert len(await session.children(EXTENDED_ACL_CHANGES)) == 1
    await here.create([Binding(T, READ)])
    assert len(await session.children(ACL_CHANGES)) == 1, "nothing is told when nothing has changed"
    (gone,) = await here.delete([BindingFilter()])
    assert {one.binding for one in gone} == {Binding(T, READ), Binding(PREFIX, READ)}
    assert not of_here.may(AclOperation.READ, TOPIC, "t")
    await eventually(lambda: not of_there.may(AclOperation.READ, TOPIC, "t"), "gone on the other")


async def test_a_rule_that_several_filters_mean_is_told_under_the_first(started):
    authorizer = await started()
    await authorizer.create([Binding(T, READ), Binding(T, NO_READ)])
    deny = BindingFilter(entry=EntryFilter(permission=Permission.DENY))
    results = await authorizer.delete([deny, BindingFilter(), deny])
    assert [[one.binding.entry for one in result] for result in results] == [[NO_READ], [READ], []]
    assert all(one.error is None for result in results for one in result)


@pytest.mark.parametrize(("rules", "filters"), [(3, 1_000), (1_000, 3)])
async def test_others_have_their_turn_while_many_filters_meet_many_rules(started, monkeypatch, rules, filters):
    authorizer = await started()
    patterns = {Pattern(TOPIC, f"t{n}"): (READ,) for n in range(rules)}
    monkeypatch.setattr(authorizer, "_rules", AccessRules(patterns, allows_if_none=False))
    slices, matches = [0], PatternFilter.matches

    def counted(filter_, pattern):
        if not slices[-1]:
            asyncio.get_running_loop().call_soon(slices.append, 0)
        slices[-1] += 1
        return matches(filter_, pattern)

    monkeypatch.setattr(PatternFilter, "matches", counted)
    elsewhere = [BindingFilter(PatternFilter(name=f"u{n}")) for n in range(filters)]
    assert await authorizer.delete(elsewhere) == [[]] * filters
    assert sum(slices) == rules * filters
    assert max(slices) <= 2 * THINGS_IN_A_TURN


async def test_a_filter_that_names_a_pattern_reaches_what_nobody_has_told_of(started, session):
    """KAFKA-9386."""
    authorizer = await started()
    await session.create(acl_path(T), acl_nodes.encode_acls([READ]))
    assert authorizer.describe(BindingFilter()) == {}
    assert await authorizer.delete([BindingFilter()]) == [[]]
    ((gone,),) = await authorizer.delete([BindingFilter(PatternFilter(TOPIC, "t", PatternType.LITERAL))])
    assert gone.binding == Binding(T, READ)
    assert await session.exists(acl_path(T)) is None


async def test_rules_that_two_write_at_a_time_are_all_kept(started):
    one, other = await started(), await started()
    entries = [READ._replace(principal=f"User:{number}") for number in range(10)]
    refused = await asyncio.gather(
        *((one if number % 2 else other).create([Binding(T, entry)]) for number, entry in enumerate(entries))
    )
    assert refused == [{}] * 10
    for item in (one, other):
        await eventually(lambda: set(item.describe(BindingFilter()).get(T, ())) == set(entries), "all")  # noqa: B023


async def test_a_conflict_is_tried_again_a_few_times(started, monkeypatch):
    authorizer = await started()
    monkeypatch.setattr(acl_nodes, "_PAUSE_S", 0)
    tries = []

    async def conflict(*_arguments):
        tries.append(1)
        raise WrongVersion("/x")

    monkeypatch.setattr(AclStore, "_write", conflict)
    refused = await authorizer.create([Binding(T, READ)])
    assert refused[Binding(T, READ)].code is ErrorCode.REQUEST_TIMED_OUT
    assert len(tries) == 11


async def test_everything_is_read_again_after_a_session_was_lost(started, new_session, session):
    its_session = await new_session()
    authorizer = await started(its_session)
    rights = authorizer.rights_of(ALICE, HOST)
    # Without a notice: what one misses whose session has ended, for more than 15 minutes.
    await session.create(acl_path(T), acl_nodes.encode_acls([READ]))
    assert not rights.may(AclOperation.READ, TOPIC, "t")
    assert await session.end_other(its_session.identity)
    await eventually(lambda: rights.may(AclOperation.READ, TOPIC, "t"), "read again", within_s=20)


async def test_a_broken_znode_keeps_from_starting_and_later_leaves_what_held(started, session):
    authorizer = await started()
    await authorizer.create([Binding(T, NO_READ), Binding(Pattern(TOPIC, "*"), READ)])
    await session.set(acl_path(T), b"{")
    await session.create(f"{ACL_CHANGES}/acl_changes_", b"TOPIC:t", sequential=True)
    await session.create(f"{ACL_CHANGES}/acl_changes_", b"nonsense", sequential=True)
    await AclStore(session).change(PREFIX, lambda _present: (READ,))
    await eventually(lambda: PREFIX in authorizer.describe(BindingFilter()), "what comes behind")
    assert not authorizer.rights_of(ALICE, HOST).may(AclOperation.READ, TOPIC, "t")
    with pytest.raises(MalformedZnode):
        await started()


async def test_a_directory_of_no_known_type_is_passed_over(started, session):
    """KAFKA-7216."""
    store = AclStore(session)
    await store.ensure_paths()
    await session.create("/kafka-acl/Teapot")
    await session.create("/kafka-acl/Teapot/t")
    await store.change(T, lambda _present: (READ,))
    assert (await started()).describe(BindingFilter()) == {T: [READ]}


async def test_super_users_may_do_everything_and_a_name_makes_nobody_a_member(started):
    authorizer = await started()
    await authorizer.create([Binding(T, NO_READ._replace(principal="User:*"))])
    assert authorizer.rights_of("User:root", HOST) is UNLIMITED
    assert not authorizer.rights_of(MEMBER, HOST).may(AclOperation.READ, TOPIC, "t")
    assert not authorizer.rights_of("Group:root", HOST).may(AclOperation.READ, TOPIC, "t")


async def test_hosts_of_both_families_are_met_in_any_form(started):
    authorizer = await started()
    await authorizer.create([Binding(T, READ._replace(host=host)) for host in ("10.0.0.1", "0:0:0:0:0:0:0:1")])
    for host, is_allowed in (("::ffff:10.0.0.1", True), ("::1", True), ("10.0.0.2", False), ("::2", False)):
        assert authorizer.rights_of(ALICE, host).sees(AclOperation.READ, TOPIC, "t") is is_allowed


async def test_authorized_operations_are_told_by_their_bits(started):
    authorizer = await started()
    await authorizer.create([Binding(T, READ)])
    rights = authorizer.rights_of(ALICE, HOST)
    assert rights.operations(TOPIC, "t") == bits([AclOperation.READ, AclOperation.DESCRIBE])
    assert rights.operations(ResourceType.CLUSTER, CLUSTER_NAME) == 0
    assert authorizer.log.denials == {}, "not told: nobody attempted anything"


async def test_a_decision_is_made_once_for_all_connections_until_rules_change(started, monkeypatch):
    authorizer = await started()
    decided = []
    allows = Authorizer.allows

    def counting(self, *arguments):
        decided.append(arguments)
        return allows(self, *arguments)

    monkeypatch.setattr(Authorizer, "allows", counting)
    rights = authorizer.rights_of(ALICE, HOST)
    assert authorizer.rights_of(ALICE, HOST) is rights
    for _ in range(5):
        assert not rights.may(AclOperation.READ, TOPIC, "t")
    assert len(decided) == 1
    await authorizer.create([Binding(T, READ)])
    for _ in range(5):
        assert rights.may(AclOperation.READ, TOPIC, "t")
    assert len(decided) == 2
    for _ in range(2):
        rights.sees(AclOperation.READ, TOPIC, "t" * (DECISION_NAME_LENGTH_MAX + 1))
    assert len(decided) == 4, "a name longer than any topic's is not remembered"


async def test_what_is_remembered_is_bounded_and_so_is_who(started, monkeypatch):
    monkeypatch.setattr(authorizer_module, "DECISIONS_REMEMBERED_MAX", 10)
    authorizer = await started()
    rights = [authorizer.rights_of(f"User:{number}", HOST) for number in range(3)]
    for number in range(100):
        rights[number % 3].sees(AclOperation.READ, TOPIC, f"t{number}")
        assert sum(len(right._known) for right in rights) <= 10
    del rights
    assert len(authorizer._rights) == 0


async def test_a_denial_is_told_in_kafkas_words_once_in_a_while_and_counted_always(started, caplog):
    clock = ManualClock()
    clock.advance(60_000)
    authorizer = await started(clock=clock)
    rights = authorizer.rights_of(ALICE, HOST)
    with caplog.at_level(logging.INFO, "broker.authorizer"):
        for _ in range(50):
            rights.may(AclOperation.ALTER_CONFIGS, TOPIC, "t")
            rights.sees(AclOperation.READ, TOPIC, "t")
        sentence = (
            "Principal = User:alice is Denied Operation = AlterConfigs from host = 10.0.0.1 "
            "on resource = Topic:LITERAL:t"
        )
        assert denials_logged(caplog) == [sentence]
        clock.advance(10_000)
        rights.may(AclOperation.ALTER_CONFIGS, TOPIC, "t")
        assert denials_logged(caplog) == [
            sentence,
            "49 more denials like those before, or beyond the limit of this log",
            sentence,
        ]
    assert authorizer.log.denials == {ALICE: 51}
    last = authorizer.log.latest[ALICE]
    assert last == (clock.now_ms(), ALICE, HOST, AclOperation.ALTER_CONFIGS, TOPIC, "t")


async def test_many_different_denials_are_told_and_counted_up_to_a_bound(started, caplog):
    authorizer = await started()
    with caplog.at_level(logging.INFO, "broker.authorizer"):
        for number in range(1_100):
            authorizer.rights_of(f"User:{number}", HOST).may(AclOperation.READ, TOPIC, "t")
    assert len(denials_logged(caplog)) == 1_000
    assert len(authorizer.log.denials) == DENIED_PRINCIPALS_COUNTED_MAX + 1
    assert authorizer.log.denials[OTHERS] == 1_100 - DENIED_PRINCIPALS_COUNTED_MAX


async def test_what_is_allowed_is_told_at_debug_only(started, caplog):
    authorizer = await started()
    await authorizer.create([Binding(T, READ)])
    rights = authorizer.rights_of(ALICE, HOST)
    with caplog.at_level(logging.INFO, "broker.authorizer"):
        rights.may(AclOperation.READ, TOPIC, "t")
        assert denials_logged(caplog) == []
    with caplog.at_level(logging.DEBUG, "broker.authorizer"):
        rights.may(AclOperation.READ, TOPIC, "t")
    (sentence,) = denials_logged(caplog)
    assert sentence.startswith("Principal = User:alice is Allowed Operation = Read from host = 10.0.0.1")


async def test_writes_are_untold_while_they_are_allowed_and_nobody_wants_to_know(started):
    authorizer = await started()
    write = READ._replace(operation=AclOperation.WRITE)
    await authorizer.create([Binding(T, READ), Binding(T, write)])
    rights = authorizer.rights_of(ALICE, HOST)
    assert rights.may(AclOperation.READ, TOPIC, "t")
    assert not rights.may(AclOperation.WRITE, TOPIC, "other")
    assert rights.untold_writes == set()
    assert rights.may(AclOperation.WRITE, TOPIC, "t")
    assert rights.untold_writes == {"t"}
    level = log_levels()["broker.authorizer"]
    try:
        set_log_level("broker.authorizer", "DEBUG")
        assert rights.may(AclOperation.WRITE, TOPIC, "t")
        assert rights.untold_writes == set()
    finally:
        set_log_level("broker.authorizer", level)
    assert rights.may(AclOperation.WRITE, TOPIC, "t")
    assert rights.untold_writes == {"t"}
    await authorizer.create([Binding(T, write._replace(permission=Permission.DENY))])
    assert rights.untold_writes == set()
    assert not rights.may(AclOperation.WRITE, TOPIC, "t")


async def test_any_resource_is_decided_once_and_its_denial_told(started, caplog):
    authorizer = await started()
    rights = authorizer.rights_of(ALICE, HOST)
    with caplog.at_level(logging.INFO, "broker.authorizer"):
        assert not rights.may_on_any(AclOperation.WRITE, TOPIC)
    assert "on resource = Topic:LITERAL:NONE" in denials_logged(caplog)[0]
    await authorizer.create([Binding(T, READ._replace(operation=AclOperation.WRITE))])
    assert rights.may_on_any(AclOperation.WRITE, TOPIC)
