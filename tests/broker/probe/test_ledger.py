"""The fate of records, against a log that loses, repeats and reorders what it is told to."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.probe.ledger import LOST_AFTER_MS, REMEMBERED_MAX, WAITING_MAX, ProbeLedger, ReadFate
from tests.examples import examples

#: What becomes of each record: written or not, and whether the probe is told.
OUTCOMES = st.sampled_from(("acknowledged", "unheard", "refused", "acknowledged and lost", "twice"))


def play(outcomes):
    """The ledger after all was read, how many it called lost, and what each reading told."""
    ledger, log = ProbeLedger(), []
    for outcome in outcomes:
        index = ledger.send(0)
        if outcome == "refused":
            ledger.refuse(index)
            continue
        if outcome != "unheard":
            ledger.acknowledge(index, len(log))
        log.append(None if outcome == "acknowledged and lost" else index)
        if outcome == "twice":
            log.append(index)
    fates = [ledger.read(index, 5)[0] for index in log if index is not None]
    return ledger, ledger.judge(len(log), 0, len(log), 10), fates


@settings(max_examples=examples(600))
@given(st.lists(OUTCOMES, max_size=40))
def test_what_is_lost_or_doubled_is_told_and_nothing_else_is(outcomes):
    ledger, lost, fates = play(outcomes)
    assert lost == outcomes.count("acknowledged and lost")
    assert fates.count(ReadFate.DUPLICATE) == outcomes.count("twice")
    assert ReadFate.REORDERED not in fates
    assert ledger.waiting == 0


@settings(max_examples=examples(200))
@given(st.permutations(range(8)))
def test_a_record_behind_a_later_one_is_out_of_order(order):
    ledger = ProbeLedger()
    for offset in range(len(order)):
        ledger.acknowledge(ledger.send(0), offset)
    fates = [ledger.read(index, 1)[0] for index in order]
    behind = [any(earlier > index for earlier in order[:at]) for at, index in enumerate(order)]
    assert [fate is ReadFate.REORDERED for fate in fates] == behind


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.sampled_from(("send", "ack", "read", "judge")), st.integers(0, 2_000)), max_size=3_000))
def test_it_holds_no_more_than_its_bounds(steps):
    ledger = ProbeLedger()
    for deed, number in steps:
        match deed:
            case "send":
                ledger.send(number)
            case "ack":
                ledger.acknowledge(number, number)
            case "read":
                ledger.read(number, number)
            case _:
                ledger.judge(number, 0, number, number)
    assert ledger.waiting <= WAITING_MAX
    assert len(ledger._read) <= REMEMBERED_MAX
    assert len(ledger._lost) <= REMEMBERED_MAX


def test_nothing_is_lost_while_nobody_can_read():
    ledger = ProbeLedger()
    ledger.acknowledge(ledger.send(0), 7)
    assert ledger.judge(7, 0, -1, 10 * LOST_AFTER_MS) == 0
    assert ledger.judge(7, 0, 8, 10 * LOST_AFTER_MS) == 0


def test_what_a_shorter_log_does_not_have_is_lost_when_it_has_stayed_so():
    ledger = ProbeLedger()
    ledger.acknowledge(ledger.send(0), 7)
    assert ledger.judge(5, 0, 5, LOST_AFTER_MS) == 0
    assert ledger.judge(5, 0, 5, LOST_AFTER_MS + 1) == 1
    assert ledger.read(0, LOST_AFTER_MS + 2) == (ReadFate.FOUND, None)


def test_what_retention_deleted_unread_is_not_called_lost():
    ledger = ProbeLedger()
    ledger.acknowledge(ledger.send(0), 7)
    assert ledger.judge(position=20, log_start=10, end=20, at_ms=1) == 0
    assert ledger.waiting == 0


def test_a_record_nobody_acknowledged_is_forgotten_in_time():
    ledger = ProbeLedger()
    ledger.send(0)
    ledger.skip(LOST_AFTER_MS, LOST_AFTER_MS + 1)
    assert ledger.waiting == 0
