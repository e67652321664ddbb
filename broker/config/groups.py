"""Keys of groups: of the classic protocol, and of the consumer protocol (KIP-848)."""

from importlib.metadata import entry_points

from broker.config.definition import accepting, parse_int32, parse_list, setting

#: Kafka takes names of classes; here others are entry points of installed packages.
CONSUMER_GROUP_ASSIGNORS = ("uniform", "range")
ASSIGNOR_ENTRY_POINTS = "barnabas.consumer_group_assignors"
CONSUMER_GROUP_MIGRATION_POLICIES = ("disabled", "upgrade", "downgrade", "bidirectional")


def parse_lower_case(text: str) -> str:
    """Parse a name in whose case Kafka takes no interest."""
    return text.lower()


@accepting("a list of uniform, range and entry points of " + ASSIGNOR_ENTRY_POINTS, is_list=True)
def parse_assignors(text: str) -> tuple[str, ...]:
    """Parse names of assignors that there are."""
    names = parse_list(text)
    if not names or not {*names} <= {*CONSUMER_GROUP_ASSIGNORS, *entry_points(group=ASSIGNOR_ENTRY_POINTS).names}:
        raise ValueError(text)
    return names


class GroupKeys:
    """By attribute, as in `BrokerSettings`."""

    group_min_session_timeout_ms = setting(parse_int32, 6_000, "Shortest session timeout of a member.", at_least=0)
    group_max_session_timeout_ms = setting(parse_int32, 1_800_000, "Longest session timeout of a member.", at_least=0)
    group_initial_rebalance_delay_ms = setting(parse_int32, 3_000, "How long a new group awaits members.", at_least=0)
    group_max_size = setting(
        parse_int32,
        1_000,
        "Members one group may have. A record of 1 MB has to hold all of them; Kafka has no limit by default.",
        at_least=1,
    )
    group_consumer_session_timeout_ms = setting(
        parse_int32, 45_000, "Silence after which a member of a consumer group is removed.", at_least=1
    )
    group_consumer_heartbeat_interval_ms = setting(
        parse_int32, 5_000, "How often such a member is told to send a heartbeat.", at_least=1
    )
    group_consumer_min_session_timeout_ms = setting(
        parse_int32, 45_000, "Least consumer.session.timeout.ms that may be set for a group.", at_least=1
    )
    group_consumer_max_session_timeout_ms = setting(parse_int32, 60_000, "The greatest.", at_least=1)
    group_consumer_min_heartbeat_interval_ms = setting(
        parse_int32, 5_000, "Least consumer.heartbeat.interval.ms that may be set for a group.", at_least=1
    )
    group_consumer_max_heartbeat_interval_ms = setting(parse_int32, 15_000, "The greatest.", at_least=1)
    group_consumer_min_assignment_interval_ms = setting(
        parse_int32, 0, "Least consumer.assignment.interval.ms that may be set for a group.", at_least=0
    )
    group_consumer_max_assignment_interval_ms = setting(parse_int32, 15_000, "The greatest.", at_least=0)
    group_consumer_max_size = setting(parse_int32, 2**31 - 1, "Members one consumer group may have.", at_least=1)
    group_consumer_assignors = setting(
        parse_assignors,
        ("uniform", "range"),
        "Assignors of consumer groups, the default first: uniform, range, and those of installed packages.",
    )
    group_consumer_assignment_interval_ms = setting(
        parse_int32, 1_000, "Shortest time between two assignments of a consumer group.", at_least=0
    )
    group_consumer_regex_refresh_interval_ms = setting(
        parse_int32,
        600_000,
        "How often regular expressions are matched again though no topic changed: clients may see other topics by now.",
        at_least=10_000,
    )
    group_consumer_migration_policy = setting(
        parse_lower_case,
        "bidirectional",
        "Which groups change their protocol when members of the other one come: to the consumer protocol (upgrade), to "
        "the classic one when only its members are left (downgrade), both or none.",
        choices=CONSUMER_GROUP_MIGRATION_POLICIES,
    )
