"""What the plans of stream jobs say, and what is in their way."""

import pytest

from console.ecosystem.streams.checkpoint_plan import EARLIEST, LATEST, CheckpointLoss, losses, reset_plan, start_plan
from console.ecosystem.streams.submission import Submission, SubmissionFacts, submission_plan

STARTS, ENDS = {("t", 0): 100, ("t", 1): 0}, {("t", 0): 150, ("t", 1): 7}


def submission(reads=("in",), writes=("out",)) -> Submission:
    return Submission("counts", "/data/streams/counts", {"job": "dedupe", "input.topic": "in"}, reads, writes)


def around(**given) -> SubmissionFacts:
    usual = {"names": {"demo"}, "topics": {"in"}, "writers": {}, "jobs_max": 3, "jobs": 1, "has_checkpoint": False}
    return SubmissionFacts(**(usual | given))


def test_plan_is_the_properties_file_and_what_it_makes():
    plan = submission_plan(submission(), around())
    assert plan.after == {"job": "dedupe", "input.topic": "in"}
    assert "Topics it makes if they are not there: out." in plan.touches
    assert plan.obstacle == ""
    assert plan.command == "python -m broker stream --config /data/streams/counts/stream.properties"


@pytest.mark.parametrize(
    ("topics", "given", "obstacle"),
    [
        ({}, {"names": {"counts"}}, "There is a process called counts already."),
        ({}, {"jobs": 3}, "3 stream jobs are here already, and BARNABAS_STREAM_JOBS is 3: each takes about 1.5 GB."),
        ({}, {"missing": "Stream jobs need pyspark."}, "Stream jobs need pyspark."),
        ({"writes": ("in",)}, {}, "It would read what it writes, without end: in."),
        ({"writes": ("_schemas",)}, {}, "_schemas is an internal topic, which its service alone writes."),
        ({"writes": ("out", "out")}, {}, "Two of its outputs are the same topic: out."),
    ],
)
def test_each_obstacle_is_one_sentence(topics, given, obstacle):
    assert submission_plan(submission(**topics), around(**given)).obstacle == obstacle


def test_topic_that_another_job_writes_and_an_old_checkpoint_are_said():
    plan = submission_plan(submission(), around(writers={"out": "other"}, has_checkpoint=True))
    assert "other writes the same topic: their records will be mixed." in plan.touches
    assert plan.touches[-1].endswith("it goes on from there.")


def test_reset_says_what_is_read_again_and_what_never():
    places = {("t", 0): 120, ("t", 1): 5}
    earliest = reset_plan("counts", places, EARLIEST, (STARTS, ENDS), "")
    assert {line.name: (line.old, line.new) for line in earliest.lines} == {"t-0": (120, 100), "t-1": (5, 0)}
    assert "25 offsets are read again, and what comes of them is written again." in earliest.touches
    latest = reset_plan("counts", places, LATEST, (STARTS, ENDS), "")
    assert latest.losses[0] == "32 offsets are never read by this job."
    assert earliest.confirmed != latest.confirmed
    assert earliest.typed_name == "counts"


def test_reset_needs_a_checkpoint_and_a_job_that_stands():
    assert reset_plan("counts", None, EARLIEST, (STARTS, ENDS), "").obstacle.startswith("There is no checkpoint")
    assert reset_plan("counts", {}, EARLIEST, (STARTS, ENDS), "It runs.").obstacle == "It runs."


def test_records_deleted_before_they_were_read_are_found():
    places = {("t", 0): 90, ("t", 1): 3, ("gone", 0): 5}
    lost = losses(places, STARTS)
    assert lost == [CheckpointLoss("t", 0, 90, 100)]
    assert "10 offsets were deleted" in start_plan("counts", lost, True).losses[0]
    assert "will stop with an error" in start_plan("counts", lost, True).touches[0]
    assert "goes on without" in start_plan("counts", lost, False).touches[0]
    assert losses(None, STARTS) == []
