"""OpenTelemetry's metrics: sums and gauges are read, all else is skipped, what is damaged is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.errors import ProtocolError
from broker.protocol.otlp import ATTRIBUTES_MAX, TEXT_LENGTH_MAX, PushedPoint, read_metrics
from tests.broker.protocol.otlp_messages import CUMULATIVE, SUM, field, metric, metrics_data, point, varint
from tests.examples import examples


def test_sums_and_gauges_are_read_with_their_attributes():
    data = metrics_data(
        metric("rate", point(2.5, topic="t", client="c")),
        metric("sent", point(3), point(4, topic="t"), kind=SUM),
        metric("open", point(-1), kind=SUM, temporality=CUMULATIVE),
    )
    assert list(read_metrics(data)) == [
        PushedPoint("rate", (("client", "c"), ("topic", "t")), 2.5, is_delta=False, is_sum=False),
        PushedPoint("sent", (), 3.0, is_delta=True, is_sum=True),
        PushedPoint("sent", (("topic", "t"),), 4.0, is_delta=True, is_sum=True),
        PushedPoint("open", (), -1.0, is_delta=False, is_sum=True),
    ]


def test_histograms_are_skipped():
    histogram, points = 9, field(1, varint(1 << 3) + varint(5))
    assert list(read_metrics(metrics_data(metric("h", points, kind=histogram)))) == []


def test_names_and_attributes_have_bounds():
    many = {f"k{number}": "v" for number in range(ATTRIBUTES_MAX + 5)}
    (read,) = read_metrics(metrics_data(metric("n" * 10_000, point(1, **many))))
    assert (len(read.name), len(read.attributes)) == (TEXT_LENGTH_MAX, ATTRIBUTES_MAX)


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_message_that_is_cut_off_is_refused(cut):
    data = metrics_data(metric("sent", point(3, topic="t"), kind=SUM))
    with pytest.raises(ProtocolError):
        list(read_metrics(data[:-cut]))


@given(data=st.binary(max_size=200))
@settings(max_examples=examples(200))
def test_any_bytes_are_read_or_refused(data):
    try:
        for read in read_metrics(data):
            assert isinstance(read.value, float)
    except ProtocolError:
        pass
