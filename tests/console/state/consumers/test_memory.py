"""What is asked of the cluster a little at a time."""

from console.kit.gateway.groups.interface import TopicPartition, UnreadView
from console.state.consumers.memory import POSITIONS_PER_LOOK, UnreadMemory


class Cluster:
    """Answers with the position itself, and remembers who was asked for."""

    def __init__(self):
        self.groups = self
        self.partitions_asked: list[TopicPartition] = []

    def first_unread(self, positions: dict[TopicPartition, int]) -> dict[TopicPartition, UnreadView]:
        self.partitions_asked += positions
        return {place: UnreadView(position, 1) for place, position in positions.items()}


def test_positions_that_move_on_at_each_look_keep_nobody_from_being_asked_for():
    cluster = Cluster()
    memory = UnreadMemory(cluster)
    places = [("orders", number) for number in range(3 * POSITIONS_PER_LOOK)]
    for look in range(3):
        memory.learn({place: [look] for place in places}, dict.fromkeys(places, 1_000))
    assert sorted(cluster.partitions_asked) == places


def test_what_is_known_is_not_asked_for_again():
    cluster = Cluster()
    memory = UnreadMemory(cluster)
    for _ in range(3):
        memory.learn({("orders", 0): [7]}, {("orders", 0): 1_000})
    assert cluster.partitions_asked == [("orders", 0)]
