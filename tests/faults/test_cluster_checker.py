"""Damage to replicas, groups and epochs, planted, is found and named."""

from dataclasses import replace

from tests.faults.history import (
    BrokersSeen,
    CommitSeen,
    CommitTried,
    ControllerSeen,
    Extent,
    Outcome,
    Produced,
    Seen,
    StateSeen,
    Stored,
)
from tests.faults.matrix.cluster_checker import check_cluster
from tests.faults.matrix.restart_row import nobody_noticed

AT = (0.0, 0.0)


def violations(*events) -> list[str]:
    return [violation.partition(":")[0] for violation in check_cluster(events).violations]


def state(leader=1, leader_epoch=1, controller_epoch=1, zk_version=0, isr=(1, 2), zxid=0) -> StateSeen:
    return StateSeen("t", 0, leader, leader_epoch, list(isr), controller_epoch, zk_version, zxid, AT)


def stored(broker, base_offset, epoch=1, digest="") -> Stored:
    return Stored(broker, "t", 0, base_offset, base_offset, epoch, digest or f"digest-{base_offset}")


def both(*offsets, **same) -> list[Stored]:
    return [stored(broker, offset, **same) for broker in (1, 2) for offset in offsets]


def extent(end) -> Extent:
    return Extent("final", "t", 0, 0, end)


def commit(offset, began, ended, outcome=Outcome.OK) -> CommitTried:
    return CommitTried("group", "group/m", "t", 0, offset, outcome, (0.0, began), (0.0, ended))


def committed(offset, began=9.0, ended=9.5) -> CommitSeen:
    return CommitSeen("group", "t", 0, offset, (0.0, began), (0.0, ended))


def seen(reader, offset) -> Seen:
    return Seen(reader, "t", 0, offset, None, f"p/{offset}", "", AT)


def test_replicas_that_hold_the_same_are_right():
    assert violations(state(), *both(0, 1), extent(2)) == []


def test_a_replica_that_lacks_what_was_read_is_found():
    assert violations(state(), *both(0), stored(1, 1), extent(2)) == ["I5"]


def test_a_replica_with_other_bytes_is_found():
    assert violations(state(), *both(0), stored(1, 1), stored(2, 1, digest="other"), extent(2)) == ["I5"]


def test_what_is_behind_the_end_may_differ():
    assert violations(state(), *both(0), stored(1, 1), stored(2, 1, digest="other"), extent(1)) == []


def test_a_replica_that_is_in_sync_and_has_no_files_is_found():
    assert violations(state(isr=(1, 2, 3)), *both(0), extent(1)) == ["I5"]


def test_an_older_epoch_behind_a_newer_one_is_found():
    assert violations(state(), *both(0, epoch=5), *both(1, epoch=4), extent(2)) == ["I5", "I5"]


def test_commits_that_grow_are_right_and_an_unknown_one_may_count_or_not():
    tried = [commit(5, 1, 2), commit(9, 3, 4, Outcome.UNKNOWN)]
    assert violations(*tried, committed(5)) == violations(*tried, committed(9)) == []


def test_an_acknowledged_commit_that_is_forgotten_is_found():
    assert violations(commit(5, 1, 2), committed(4)) == ["I6"]
    assert violations(commit(5, 1, 2), committed(-1)) == ["I6"]


def test_two_commits_under_way_together_may_end_in_any_order():
    assert violations(commit(5, 1, 3), commit(4, 2, 4)) == []


def test_a_committed_record_that_nobody_of_the_group_read_is_found():
    read = [seen("final", 0), seen("final", 1), seen("group/m", 1)]
    assert violations(*read, committed(2)) == ["I6"]
    assert violations(*read, seen("group/other", 0), committed(2)) == []


def test_epochs_that_go_back_are_found():
    assert violations(state(leader_epoch=2), state(leader_epoch=1, zk_version=1)) == ["I8"]
    assert violations(state(controller_epoch=2), state(leader_epoch=2, controller_epoch=1, zk_version=1)) == ["I8"]
    assert violations(ControllerSeen(1, 5, AT), ControllerSeen(2, 4, AT)) == ["I8"]


def test_an_epoch_with_two_owners_is_found():
    assert violations(state(leader=1), state(leader=2, zk_version=1)) == ["I8"]
    assert violations(ControllerSeen(1, 5, AT), ControllerSeen(2, 5, AT)) == ["I8"]


def test_nobody_being_controller_is_no_second_owner():
    assert violations(ControllerSeen(1, 5, AT), ControllerSeen(-1, 5, AT), ControllerSeen(2, 6, AT)) == []


def test_a_broker_that_left_while_it_led_is_found():
    there, gone = BrokersSeen([1, 2], 10, AT), BrokersSeen([2], 30, AT)
    led, moved = state(leader=1, zxid=5), state(leader=2, leader_epoch=2, zk_version=1, zxid=20)
    assert list(nobody_noticed([there, led, moved, gone])) == []
    assert list(nobody_noticed([there, led, gone, replace(moved, zxid=40)])) == ["broker 1 left while it led t-0"]


def test_an_error_that_a_client_could_not_get_over_is_found():
    failed = Produced("p", 1, "t", 0, None, "", "all", True, False, Outcome.UNKNOWN, -1, "_MSG_TIMED_OUT", AT, AT)
    assert len(list(nobody_noticed([failed]))) == 1
