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


def test_the_reason_is_the_line_that_names_the_exception():
    assert reason_of(_AROUND.format("TimeoutError: no leader of sales-0")) == "TimeoutError: no leader of sales-0"


def test_the_reason_of_an_unknown_failure_is_all_that_is_known_of_it_within_limits():
    assert reason_of("x" * 10_000) == "x" * 4_000
