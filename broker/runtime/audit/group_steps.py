"""What the groups of one coordinator have committed since they were last told of: their steps, by partition. Pure.

A step goes on from where the group stood. A commit that goes back begins another step; so does one that is not by a
member, of a group that had members: a tool has set it. A group that never had any is a consumer's that assigns itself
its partitions, and goes on by its own commits.
"""

from collections.abc import Iterator

from broker.common.types import TopicPartition

#: Of one partition until they are told; a group that goes to and fro more often has its last two made one.
STEPS_MAX = 20

GroupPartition = tuple[str, TopicPartition]
Steps = list[list[int]]


class GroupSteps:
    """`note` is what a commit pays. As large as what is committed in the time between two tellings."""

    def __init__(self) -> None:
        self._steps: dict[GroupPartition, Steps] = {}

    def __len__(self) -> int:
        return len(self._steps)

    def note(self, group: str, partition: TopicPartition, before: int | None, offset: int, *, by_member: bool) -> None:
        """Note a commit. `before`: what was committed until now, None for nothing."""
        if offset < 0:
            return
        key = group, partition
        steps = self._steps.get(key)
        if steps is None:
            start = offset if before is None else before
            steps = self._steps[key] = [[start, start]]
        last = steps[-1]
        if offset < last[1] or (not by_member and offset > last[1]):
            _begin(steps, offset)
        else:
            last[1] = offset

    def topics(self) -> set[str]:
        return {partition.topic for _, partition in self._steps}

    def take(self, count: int) -> Iterator[tuple[GroupPartition, Steps]]:
        """Yield and remove at most `count` of the entries that wait longest."""
        for key in list(self._steps)[:count]:
            yield key, self._steps.pop(key)


def _begin(steps: Steps, offset: int) -> None:
    if len(steps) < STEPS_MAX:
        steps.append([offset, offset])
    else:
        last = steps[-1]
        last[0], last[1] = min(last[0], offset), max(last[1], offset)
