"""A5 as bytes, so that Kafka's workers and ours may be in one group."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import ProtocolError
from broker.connect.group.wire import (
    CONNECTOR,
    Metadata,
    Unit,
    WorkerAssignment,
    decode_assignment,
    decode_metadata,
    encode_assignment,
    encode_metadata,
)

UNITS = st.frozensets(st.builds(Unit, st.text(max_size=9), st.integers(-1, 9)), max_size=9)
ASSIGNMENTS = st.builds(
    WorkerAssignment,
    st.text(max_size=9),
    st.text(max_size=9),
    st.integers(0, 2**62),
    UNITS,
    UNITS,
    st.integers(0, 2**31 - 1),
)


def test_metadata_is_written_as_kafkas_workers_write_it():
    assert encode_metadata(Metadata("http://a:1/", 7), 0).hex() == "0000000b" + b"http://a:1/".hex() + "00" * 7 + "07"
    assert encode_metadata(Metadata("u", 7), 2).hex() == "0002000175" + "00" * 7 + "07" + "ffffffff"


def test_an_assignment_is_written_as_kafkas_workers_write_it():
    assignment = WorkerAssignment("m", "u", 3, frozenset({Unit("c", CONNECTOR), Unit("c", 0)}), frozenset(), 5)
    head = "0001000000016d0001750000000000000003"
    assert encode_assignment(assignment, 1).hex() == (
        head + "0000000100016300000002ffffffff00000000" + "00000000" + "00000005"
    )


@given(ASSIGNMENTS, st.sampled_from([1, 2]))
def test_what_was_written_is_read(assignment, version):
    assert decode_assignment(encode_assignment(assignment, version)) == assignment
    assert decode_metadata(encode_metadata(Metadata("u", 1, assignment), version)).running == assignment


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data):
    for decode in (decode_assignment, decode_metadata):
        with contextlib.suppress(ProtocolError):
            decode(data)


def test_an_absent_list_of_units_is_an_empty_one():
    data = bytes.fromhex("00010000000000000000000000000000ffffffffffffffff00000000")
    assert decode_assignment(data).units == frozenset()
    with pytest.raises(ProtocolError):
        decode_assignment(data[:-1])


def test_a_leader_names_what_is_new_and_what_is_revoked_and_everything_else_stays():
    stays, goes, comes = Unit("c", CONNECTOR), Unit("c", 0), Unit("d", 0)
    answer = WorkerAssignment(units=frozenset({comes}), revoked=frozenset({goes}))
    assert answer.on_top_of(WorkerAssignment(units=frozenset({stays, goes}))).units == {stays, comes}
    assert answer.on_top_of(None).units == {comes}
