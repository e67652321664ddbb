"""Whether waiting, a new driver or only a person makes the next try of a query worth while."""

import pytest

from broker.spark.failures import Cure, cure_of, reason_of

_AROUND = """[STREAM_FAILED] Query terminated with exception: Traceback (most recent call last):
  File "source.py", line 31, in partitions
{}

\tat org.apache.spark.sql.errors.QueryExecutionErrors"""


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("broker.client.errors.BrokerUnreachable: 127.0.0.1:9092 does not answer", Cure.WAITING),
        ("TimeoutError: offsets of sales: no leader", Cure.WAITING),
        ("broker.spark.ledger.SinkError: the transaction of q-0.1 is not open any more, or another's", Cure.WAITING),
        ("broker.spark.ledger.OldCheckpointError: batch 9 is written already, this is batch 7", Cure.A_PERSON),
        ("broker.spark.ledger.LostPartError: batch 9 was decided and q-0.1 cannot be committed", Cure.A_PERSON),
        ("broker.spark.offsets.DataLossError: sales-0 was read up to 90 and now ends at 40", Cure.A_PERSON),
        ("broker.spark.decisions.DecisionsError: topic barnabas-sinks has cleanup.policy=delete", Cure.A_PERSON),
        ("broker.spark.ledger.TooManyTasksError: 4000 tasks are too many for one batch", Cure.A_PERSON),
        ("broker.spark.task_producer.RecordTooLargeError: out-1: a record of 2000000 bytes", Cure.A_PERSON),
        ("ZeroDivisionError: division by zero", Cure.A_NEW_DRIVER),
        ("java.lang.OutOfMemoryError: Java heap space", Cure.A_NEW_DRIVER),
    ],
)
def test_a_failure_says_who_can_cure_it(line, cure):
    assert cure_of(_AROUND.format(line)) is cure


def test_what_a_person_must_see_to_comes_before_what_passes():
    failure = "TimeoutError: commit of batch 9\nbroker.spark.ledger.LostPartError: batch 9 is there in part"

    assert cure_of(failure) is Cure.A_PERSON


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("TimeoutError: no leader of sales-0", "no leader of sales-0"),
        ("broker.spark.offsets.DataLossError: t-0 now ends at 2: it was cut.", "t-0 now ends at 2: it was cut."),
        ("data source barnabas throw exception: DataLossError: t-0 was cut.", "t-0 was cut."),
        ("ZeroDivisionError: division by zero", "ZeroDivisionError: division by zero"),
        (
            "org.apache.spark.SparkException: Lost task 0.0 (TID 1): java.lang.OutOfMemoryError: Java heap space",
            "OutOfMemoryError: Java heap space",
        ),
    ],
)
def test_the_reason_is_one_sentence_of_the_exception_that_counts(line, reason):
    assert reason_of(_AROUND.format(line)) == reason


def test_a_traceback_in_one_escaped_line_is_no_part_of_the_reason():
    failure = _AROUND.format("broker.spark.offsets.DataLossError: t-0 was cut.").replace("\n", "\\n")

    assert reason_of(failure) == "t-0 was cut."


def test_the_reason_is_what_a_person_must_see_to_though_something_passing_came_last():
    assert reason_of("LostPartError: batch 9 is there in part\nTimeoutError: commit of batch 9") == (
        "batch 9 is there in part"
    )


def test_the_reason_of_an_unknown_failure_is_its_first_line_within_limits():
    assert reason_of("\nIt fell over.\n\tat somewhere") == "It fell over."
    assert reason_of("x" * 10_000) == "x" * 500


def test_worker_that_was_too_slow_for_spark_is_waited_for():
    failure = (
        "Job aborted: org.apache.spark.SparkException: Python worker failed to connect back.\n\tat org.apache\n"
        "Caused by: java.net.SocketTimeoutException: Timed out while waiting for the Python worker to connect back"
    )

    assert cure_of(failure) is Cure.WAITING
    assert reason_of(failure) == "a Python worker of Spark did not start within the ten seconds that Spark gives it"
