"""What an operator may set about groups: Kafka's keys with Kafka's defaults, and the bounds Kafka has no key for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig:
    """Each attribute is the broker property of the same name, dots for underscores."""

    #: Shortest and longest session timeout a member may ask for.
    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 1_800_000
    #: How long the first rebalance of an empty group waits for further members, again for each that arrives.
    group_initial_rebalance_delay_ms: int = 3_000
    #: Members one group may have.
    group_max_size: int = 1_000
    #: Longest metadata string of one committed offset; as in Kafka, counted in characters in spite of the name.
    offset_metadata_max_bytes: int = 4_096
    #: How long an answer waits for its records to be committed.
    offsets_commit_timeout_ms: int = 5_000
    #: How long the offsets of an empty group, or of a topic no member reads, are kept; how often that is looked at.
    offsets_retention_minutes: int = 10_080
    offsets_retention_check_interval_ms: int = 600_000


#: How long a new member may wait in its first JoinGroup. It has not been told an id yet and cannot send heartbeats;
#: without a bound, clients that gave up and tried again would pile up as members.
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000

#: Member ids handed out in a group (MEMBER_ID_REQUIRED) that have not come back yet. Each lives for a session timeout,
#: so a client that never comes back could otherwise fill the memory.
PENDING_MEMBERS_MAX = 10_000

#: Pause before the record of an emptied group is tried again after its append failed.
EMPTY_GENERATION_RETRY_MS = 1_000

#: Pause before a timer is looked at again that could not be dealt with.
TIMER_RETRY_MS = 1_000
