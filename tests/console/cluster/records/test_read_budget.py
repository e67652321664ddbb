"""The buckets of what people read, with a clock that is moved by hand."""

from console.cluster.records.read_budget import BURST_SECONDS, PEOPLE_MAX, Limits, ReadBudgets, ledger_of

MB = 1_000_000
LIMITS = Limits(total=20 * MB, per_person=10 * MB)


def test_a_person_may_read_at_once_what_has_come_in_and_then_at_the_limit():
    ledger = ReadBudgets(LIMITS)
    assert ledger.charge("ann", 19 * MB, 0).wait_ms == 0
    standing = ledger.charge("ann", 6 * MB, 0)
    assert standing.wait_ms == 500
    assert standing.why == "waiting: your budget of 10\u202fMB/s is used by what you read"
    assert ledger.charge("ann", 0, 499).wait_ms == 1
    assert ledger.charge("ann", 0, 501).wait_ms == 0


def test_nobody_reads_more_than_the_limit_for_long():
    ledger, read, now = ReadBudgets(LIMITS), 0, 0
    while now < 60_000:
        standing = ledger.charge("ann", MB, now)
        read += MB
        now += standing.wait_ms or 1
    assert read <= 10 * MB * (60 + BURST_SECONDS) + MB


def test_all_together_read_no_more_than_the_limit_of_all():
    ledger, read, now = ReadBudgets(LIMITS), 0, 0
    waits = dict.fromkeys(("ann", "bob", "cem", "dee"), 0)
    while now < 60_000:
        for name, until in waits.items():
            if now >= until and not (standing := ledger.charge(name, 0, now)).wait_ms:
                standing = ledger.charge(name, MB, now)
                read += MB
                waits[name] = now + standing.wait_ms
        now += 10
    assert 19 * MB * 60 < read <= 20 * MB * (60 + 2 * BURST_SECONDS) + 4 * MB


def test_what_the_others_use_is_said_in_numbers_and_never_by_name():
    ledger = ReadBudgets(LIMITS)
    for name in ("ann", "bob", "cem"):
        standing = ledger.charge(name, 15 * MB, 0)
    assert standing.why == "waiting: the budget of 20\u202fMB/s is used by 3 people"
    assert standing.wait_ms == 250


def test_who_has_read_nothing_of_late_goes_ahead_of_those_who_have_used_it_up():
    ledger = ReadBudgets(LIMITS)
    for name in ("ann", "bob", "cem"):
        ledger.charge(name, 15 * MB, 0)
    assert ledger.charge("dee", 0, 0).wait_ms == 0
    assert ledger.charge("dee", 5 * MB, 0).why.endswith("is used by 4 people")
    ledger.charge("eve", 15 * MB, 0)
    assert ledger.charge("fay", 0, 0).why.endswith("is used by 5 people")


def test_a_clock_that_was_set_back_brings_nothing_and_goes_on():
    ledger = ReadBudgets(LIMITS)
    ledger.charge("ann", 30 * MB, 1_000_000)
    assert ledger.charge("ann", 0, 400_000).wait_ms == 1_000
    assert ledger.charge("ann", 0, 401_001).wait_ms == 0


def test_without_a_limit_nobody_waits():
    assert ReadBudgets(Limits(0, 0)).charge("ann", 10**12, 0).wait_ms == 0
    assert ReadBudgets(Limits(0, 10 * MB)).charge("ann", 30 * MB, 0).why.startswith("waiting: your budget")
    assert ReadBudgets(Limits(20 * MB, 0)).charge("ann", 90 * MB, 0).why.endswith("is used by what you read")


def test_what_is_read_per_second_is_of_the_last_seconds():
    ledger = ReadBudgets(LIMITS)
    for now in range(0, 30_000, 1_000):
        ledger.charge("ann", 2 * MB, now)
        ledger.charge("bob", MB, now)
    rates = ledger.rates(29_000)
    assert list(rates) == ["ann", "bob"]
    assert 1.9 * MB < rates["ann"] < 2.3 * MB
    assert ledger.rates(120_000)["ann"] < 1


def test_it_is_bounded_and_forgets_who_reads_no_more():
    ledger = ReadBudgets(LIMITS)
    for number in range(PEOPLE_MAX + 200):
        ledger.charge(str(number), 1_000 + number, 0)
    assert len(ledger.accounts) <= PEOPLE_MAX + 1
    ledger.charge("last", 1, 600_000)
    assert set(ledger.accounts) == {"", "last"}


def test_it_is_the_same_after_it_was_kept_and_empty_where_something_else_was_kept():
    ledger = ReadBudgets(LIMITS)
    ledger.charge("ann", 25 * MB, 5)
    assert ledger_of(ledger.as_text(), LIMITS).accounts == ledger.accounts
    for text in (None, b"", b"[]", b'{"ann": 1}', b"\xff", b'{"ann": [1, null, 2]}', b"3"):
        assert ledger_of(text, LIMITS).accounts == {}
