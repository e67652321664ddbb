"""The states of a group and which may follow which.

What each request gets for an answer is written beside the state; identity comes first in all of them: a member id the
group does not know is answered UNKNOWN_MEMBER_ID, an older holder of a group.instance.id FENCED_INSTANCE_ID, a
generation that is not the group's ILLEGAL_GENERATION. OffsetFetch, DescribeGroups and ListGroups are answered in every
state.
"""

from enum import Enum


class GroupState(Enum):
    """A group's state; the value is the name DescribeGroups and ListGroups show."""

    #: No members: the group has been left by all, or is known only for the offsets it committed.
    #:   JoinGroup    a new member starts the initial rebalance delay, parked
    #:   SyncGroup, Heartbeat, LeaveGroup   UNKNOWN_MEMBER_ID
    #:   OffsetCommit accepted with generation -1 (simple consumer, administrator), else UNKNOWN_MEMBER_ID
    #:   DeleteGroups deleted
    EMPTY = "Empty"

    #: Waiting for the members to join the next generation: until all have, or the rebalance timeout is over.
    #:   JoinGroup    parked
    #:   SyncGroup    REBALANCE_IN_PROGRESS
    #:   Heartbeat    keeps the session alive and is answered REBALANCE_IN_PROGRESS
    #:   LeaveGroup   the member is removed
    #:   OffsetCommit accepted from the previous generation
    #:   DeleteGroups NON_EMPTY_GROUP
    PREPARING_REBALANCE = "PreparingRebalance"

    #: The generation exists; its leader has not yet handed in the assignment.
    #:   JoinGroup    with unchanged protocols the answer of this generation again, otherwise a new rebalance
    #:   SyncGroup    followers are parked; the leader's assignment is written and answers everybody
    #:   Heartbeat    NONE
    #:   LeaveGroup   the member is removed and the others join again
    #:   OffsetCommit REBALANCE_IN_PROGRESS
    #:   DeleteGroups NON_EMPTY_GROUP
    COMPLETING_REBALANCE = "CompletingRebalance"

    #: Every member has, or may fetch, its assignment.
    #:   JoinGroup    a follower with unchanged protocols is told the generation again; the leader, a new member or
    #:                changed protocols start a rebalance; a static member returning under a new id takes its old place
    #:   SyncGroup    the assignment, at once
    #:   Heartbeat    NONE
    #:   LeaveGroup   the member is removed and the others join again
    #:   OffsetCommit accepted
    #:   DeleteGroups NON_EMPTY_GROUP
    STABLE = "Stable"

    #: Not (or no longer) in memory: deleted, or its partition moved to another broker. Nothing follows; DescribeGroups
    #: shows this state for a group nobody knows.
    DEAD = "Dead"


_LIVING = frozenset(GroupState) - {GroupState.DEAD}

#: state: the states it may follow. A transition that is missing here is a defect of ours.
MAY_FOLLOW: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: frozenset({GroupState.EMPTY, GroupState.COMPLETING_REBALANCE, GroupState.STABLE}),
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.COMPLETING_REBALANCE}),
    GroupState.DEAD: _LIVING,
}

#: States in which the next generation is in the making and no record has told of it yet.
REBALANCING = frozenset({GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE})
