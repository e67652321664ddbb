from broker.cli.groups.offset_checking import checked_lines
from broker.common.types import TopicPartition

T0, T1, T2 = (TopicPartition("my-topic", number) for number in range(3))


def test_columns_are_those_of_the_tool_that_was():
    lines = checked_lines("test", [T1, T0, T2], {T0: 12}, {T0: 20, T1: 0}, {T0: "test_host-1431-a1b2c3d4-0"})
    assert lines == [
        "Group           Topic                          Pid Offset          logSize         Lag             Owner",
        "test            my-topic                       0   12              20              8               "
        "test_host-1431-a1b2c3d4-0",
        "test            my-topic                       1   unknown         0               unknown         none",
        "No broker for partition my-topic - 2",
    ]
