"""Why offsets of a sink cannot be changed: its tasks are there still, or something else is wrong."""

from types import SimpleNamespace

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.connect.herder.errors import BadRequest, Conflict, NotGroupLeader
from broker.connect.rest import offsets
from broker.connect.rest.offsets import ConnectorOffsets, _refused, _sink_offset, _sink_partition


@pytest.mark.parametrize(
    ("code", "is_there"),
    [(ErrorCode.NON_EMPTY_GROUP, True), (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False)],
)
def test_only_who_has_members_is_told_to_be_stopped(code, is_there):
    message = str(_refused("out", ApiError(code)))
    assert message.startswith("Failed to change offsets of connector out: ")
    assert ("may not be fully stopped" in message) is is_there


@pytest.mark.parametrize("number", [1 << 63, -1, "1_0", " 7 ", True, None, 1e3, "9" * 5_000, [], {}])
def test_what_is_no_number_of_a_partition_or_an_offset_is_who_asks_fault(number):
    with pytest.raises(BadRequest):
        _sink_partition({"kafka_topic": "t", "kafka_partition": number})
    with pytest.raises(BadRequest):
        _sink_offset({"kafka_offset": number})


def test_the_largest_numbers_there_are_are_taken():
    assert _sink_partition({"kafka_topic": "t", "kafka_partition": str((1 << 31) - 1)}).partition == (1 << 31) - 1
    assert _sink_offset({"kafka_offset": (1 << 63) - 1}) == (1 << 63) - 1
    with pytest.raises(BadRequest):
        _sink_partition({"kafka_topic": "t", "kafka_partition": 1 << 31})


class Kept:
    """The source offsets of a connector whose task stores its last one when it stops."""

    def __init__(self):
        self.pairs = [({"filename": "a"}, {"position": 1})]

    def catch_up(self):
        return

    def all(self):
        return [pair for pair in self.pairs if pair[1] is not None]

    def put(self, pairs):
        self.pairs = list(pairs)

    def close(self):
        return


class StoppingGroup:
    """A group in which another worker stops a task at the third look."""

    is_leader = True

    def __init__(self, kept, looks=3):
        self._kept, self.looks = kept, looks

    def may_run(self, _connector):
        self.looks -= 1
        if self.looks == 0:
            self._kept.put([({"filename": "a"}, {"position": 2})])
        return self.looks > 0


def offsets_of(kept, group):
    config = {"connector.class": "FileStreamSource", "topic": "t", "file": "a"}
    herder = SimpleNamespace(
        group=group,
        require=lambda _name: config,
        resolved=lambda _name: config,
        call=lambda call: call(),
        configurations=SimpleNamespace(target=lambda _name: "STOPPED", tasks={"in": []}),
        offset_stores=SimpleNamespace(of=lambda _name, _props: kept),
        settings=SimpleNamespace(is_exactly_once=False),
    )
    return ConnectorOffsets(herder)


def test_offsets_that_were_reset_do_not_come_back_from_a_task_that_stops():
    kept = Kept()
    offsets_of(kept, StoppingGroup(kept)).reset("in")
    assert kept.all() == []


def test_offsets_that_were_altered_stay_so_though_a_task_still_stops():
    kept = Kept()
    given = {"partition": {"filename": "a"}, "offset": {"position": 7}}
    offsets_of(kept, StoppingGroup(kept)).alter("in", {"offsets": [given]})
    assert kept.all() == [({"filename": "a"}, {"position": 7})]


def test_offsets_of_a_connector_whose_task_does_not_stop_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(offsets, "_STOPPED_WITHIN_S", 0.1)
    kept = Kept()
    with pytest.raises(Conflict, match="Tasks of connector in have not stopped yet; try again"):
        offsets_of(kept, StoppingGroup(kept, looks=10**9)).reset("in")
    assert len(kept.all()) == 1


class LeavingGroup(StoppingGroup):
    """A group of which this worker is the leader at the first look alone."""

    leader_url = "http://next/"

    def __init__(self, kept):
        super().__init__(kept, looks=10**9)
        self._leads = [False, True]

    @property
    def is_leader(self):
        return self._leads.pop()


def test_a_leader_that_is_none_any_more_changes_no_offsets():
    kept = Kept()
    with pytest.raises(NotGroupLeader):
        offsets_of(kept, LeavingGroup(kept)).reset("in")
    assert len(kept.all()) == 1
