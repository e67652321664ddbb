import pytest

from broker.common.errors import InvariantViolation
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.memory import GroupMemory
from broker.coordinator.group.states import MAY_FOLLOW, GroupState


def test_every_state_is_in_the_table():
    assert set(MAY_FOLLOW) == set(GroupState)


def test_every_state_but_dead_can_be_left_and_each_can_be_reached():
    followed = set().union(*MAY_FOLLOW.values())
    assert followed == set(GroupState) - {GroupState.DEAD}
    assert all(MAY_FOLLOW.values())


@pytest.mark.parametrize("state", GroupState)
@pytest.mark.parametrize("following", GroupState)
def test_transition_missing_from_the_table_is_our_defect(state: GroupState, following: GroupState):
    group = ClassicGroup("g", GroupMemory().account())
    group.state = state
    if state in MAY_FOLLOW[following]:
        group.transition_to(following, wall_ms=1)
        assert group.state is following
    else:
        with pytest.raises(InvariantViolation):
            group.transition_to(following, wall_ms=1)
