"""The names that logs and parts of logs are set aside under, and which partition each is of."""

import pytest

from broker.common.limits import TOPIC_NAME_LENGTH_MAX
from broker.common.types import TopicPartition
from broker.log.directory import DELETE_SUFFIX, FUTURE_SUFFIX, STRAY_SUFFIX, LogDirectory, aside_name, is_stray_of

LONG = "x" * (TOPIC_NAME_LENGTH_MAX - 1)
NAMES = ["t-0", "t-10", "t-0.b-3", "t", f"t-0.{'a' * 32}{FUTURE_SUFFIX}", f"{LONG}y-7", f"{LONG}z-7", f"{LONG}y-77"]


@pytest.mark.parametrize("name", NAMES)
def test_a_stray_is_of_the_one_partition_it_was_made_of(name):
    stray = aside_name(name, STRAY_SUFFIX)
    assert len(stray.encode()) <= 255
    assert [other for other in NAMES if is_stray_of(stray, other)] == [name]
    assert not is_stray_of(aside_name(name, DELETE_SUFFIX), name)


def test_the_name_of_a_stray_ends_with_its_partition_however_long_the_topics_name_is():
    stem, _, _ = aside_name(f"{LONG}y-12", STRAY_SUFFIX).rpartition(".")
    assert stem.endswith("-12")


def test_a_stray_with_a_long_name_is_no_partition_and_is_found(tmp_path):
    directory = LogDirectory(tmp_path)
    partition = TopicPartition(LONG, 12)
    directory.path_of(partition).mkdir()
    aside = directory.set_aside_as_stray(partition, "a test")
    assert directory.partitions() == []
    directory.find_strays()
    assert directory.strays == {aside}
    directory.unlock()
