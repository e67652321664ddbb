"""A time before the epoch is a time: it is none of the marks that ListOffsets has below zero."""

import pytest
from confluent_kafka.admin import OffsetSpec

from console.kit.gateway.topics.offset_times import offset_spec_at


@pytest.mark.parametrize("at_ms", [-1, -2, -3, -62_135_596_800_000, 0])
def test_a_time_before_the_epoch_is_asked_for_as_the_epoch(at_ms):
    assert offset_spec_at(at_ms)._value == OffsetSpec.for_timestamp(0)._value != OffsetSpec.latest()._value


def test_a_time_after_the_epoch_is_asked_for_as_it_is():
    assert offset_spec_at(1_700_000_000_000)._value == 1_700_000_000_000
