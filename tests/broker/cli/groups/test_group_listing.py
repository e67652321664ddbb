from broker.cli.groups.group_listing import (
    assignment_text,
    deleted_lines,
    list_lines,
    member_lines,
    offset_lines,
    offset_rows,
    reset_lines,
    share_lines,
    state_lines,
)
from broker.client.groups import CoordinatorAddress
from broker.client.typed_groups import CONSUMER, STREAMS, GroupMember, ShareOffset, TypedGroup
from broker.common.types import TopicPartition

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def member(name="c-1", *assignment, instance=""):
    return GroupMember(name, instance, "client", "/127.0.0.1", assignment)


def group(*members):
    return TypedGroup("g", "Stable" if members else "Empty", "range", members)


def test_rows_are_what_members_have_and_then_what_nobody_has():
    two, one = member("two", T0, T1), member("one", U0)
    other = TopicPartition("x", 0)
    rows = offset_rows(group(one, two), {T0: 5, other: 1}, {T0: 8, T1: 2, U0: 0})
    assert [(row.partition, row.current, row.log_end, row.lag, row.member) for row in rows] == [
        (T0, 5, 8, 3, two),
        (T1, None, 2, None, two),
        (U0, None, 0, None, one),
        (other, 1, None, None, None),
    ]


def test_columns_of_describe_stand_where_scripts_look_for_them():
    rows = offset_rows(group(member("c-1", T0)), {T0: 5, U0: 1}, {T0: 8})
    assert offset_lines("g", rows) == [
        "",
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     "
        "HOST            CLIENT-ID",
        "g               t               0          5               8               3               c-1             "
        "/127.0.0.1      client",
        "g               u               0          1               -               -               -               "
        "-               -",
    ]


def test_a_column_is_as_wide_as_its_longest_cell():
    long = "a-group-with-a-rather-long-name"
    _, head, row = offset_lines(long, offset_rows(group(), {T0: 1}, {T0: 1}))
    assert head.startswith(f"{'GROUP':<{len(long)}} TOPIC")
    assert row.startswith(f"{long} t ")


def test_members_have_a_column_for_instances_only_if_there_are_any():
    _, head, row = member_lines(group(member("c-1", T1, T0)), verbose=False)
    assert head == "GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     "
    assert row == "g               c-1             /127.0.0.1      client          2               "
    _, head, row = member_lines(group(member("c-1", T0, instance="i-1")), verbose=True)
    assert head.split() == [
        "GROUP",
        "CONSUMER-ID",
        "GROUP-INSTANCE-ID",
        "HOST",
        "CLIENT-ID",
        "#PARTITIONS",
        "ASSIGNMENT",
    ]
    assert row.split() == ["g", "c-1", "i-1", "/127.0.0.1", "client", "1", "t(0)"]


def test_an_assignment_names_topics_with_their_partitions():
    assert assignment_text([U0, T1, T0]) == "t(0,1), u(0)"
    assert assignment_text([]) == "-"


def test_the_state_of_a_group_is_one_line():
    _, head, row = state_lines(group(), CoordinatorAddress(1, "127.0.0.1", 9092))
    assert head == "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS"
    assert row == "g               127.0.0.1:9092  (1)       range                Empty                0"


def test_a_list_with_states_or_types_is_a_table():
    rows = [{"group": "g", "state": "Empty", "type": "Classic"}]
    assert list_lines(rows, ("state",)) == [f"{'GROUP':<25} {'STATE':<20}", f"{'g':<25} {'Empty':<20}"]
    assert [line.split() for line in list_lines(rows, ("type", "state"))] == [
        ["GROUP", "TYPE", "STATE"],
        ["g", "Classic", "Empty"],
    ]


def test_resets_and_deletions_are_told_one_row_a_line():
    assert reset_lines({"g": {T1: 7, T0: 0}}) == [
        "",
        "GROUP           TOPIC           PARTITION  NEW-OFFSET",
        "g               t               0          0",
        "g               t               1          7",
    ]
    assert deleted_lines({T0: "Successful", TopicPartition("x", -1): "Error: no"}) == [
        "",
        "TOPIC           PARTITION  STATUS         ",
        "t               0          Successful     ",
        "x               -          Error: no      ",
    ]


def typed_group(group_type=CONSUMER, **values):
    member = GroupMember("c-1", "", "client", "/127.0.0.1", (T0,), epoch=3, target=(T0, T1), **values)
    return TypedGroup("g", "Reconciling", "uniform", (member,), group_type, group_epoch=4, assignment_epoch=4)


def test_members_of_groups_of_kafka_4_have_epochs_and_targets():
    _, head, row = member_lines(typed_group(), verbose=True)
    assert head.split() == [
        *("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"),
        *("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"),
    ]
    assert row.split() == ["g", "c-1", "/127.0.0.1", "client", "1", "3", "t:0", "4", "t:0,1"]
    _, head, row = member_lines(typed_group(), verbose=False)
    assert head.split() == ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]


def test_a_column_tells_who_uses_the_classic_protocol_while_a_member_does():
    _, head, row = member_lines(typed_group(is_upgraded=False), verbose=True)
    assert (head.split()[-1], row.split()[-1]) == ("UPGRADED", "false")
    _, head, _ = member_lines(typed_group(is_upgraded=True), verbose=True)
    assert head.split()[-1] == "TARGET-ASSIGNMENT"


def test_a_member_of_a_streams_group_has_tasks():
    tasks = {"tasks": "ACTIVE: [0: 0]", "target_tasks": "ACTIVE: [0: 0,1]"}
    _, _, row = member_lines(typed_group(STREAMS, **tasks), verbose=True)
    assert "ACTIVE: [0: 0] " in row
    assert row.endswith("ACTIVE: [0: 0,1]")


def test_the_state_of_a_group_of_kafka_4_has_its_epochs():
    _, head, row = state_lines(typed_group(), CoordinatorAddress(1, "127.0.0.1", 9092), verbose=True)
    assert head.split()[-4:] == ["STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"]
    assert row.split()[-5:] == ["uniform", "Reconciling", "4", "4", "1"]


def test_a_share_group_has_start_offsets_and_what_is_not_acknowledged():
    _, head, *rows = share_lines("g", {T1: ShareOffset(7, None), T0: ShareOffset(5, 3)})
    assert head.split() == ["GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG"]
    assert [row.split() for row in rows] == [["g", "t", "0", "5", "3"], ["g", "t", "1", "7", "-"]]
