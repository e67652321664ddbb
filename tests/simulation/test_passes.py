"""The checker of whether compaction gets anywhere."""

from types import SimpleNamespace

from tests.simulation.history import History
from tests.simulation.passes import Passes
from tests.simulation.timeline import Timeline


class OneLog:
    directory = "orders-0"


LOG = OneLog()


class Cleaner:
    def __init__(self):
        self.history = History(Timeline())
        self._passes = Passes(self.history)

    def passes(self, log=LOG, cuts=0, begin=10, planned=20, reached=10):
        stats = None if reached is None else SimpleNamespace(end_offset=reached)
        target = SimpleNamespace(log=log, cuts_count=cuts)
        self._passes.cleaned(target, SimpleNamespace(first_dirty_offset=begin, end_offset=planned), stats)
        return self.history.violations


def test_a_pass_that_cleaned_nothing_is_not_made_again():
    cleaner = Cleaner()
    assert not cleaner.passes()
    (violation,) = cleaner.passes()
    assert "orders-0: cleaned from 10 to 20 in vain, again" in violation


def test_it_is_made_again_when_there_is_more_to_read_or_something_else():
    cleaner = Cleaner()
    cleaner.passes()
    assert not cleaner.passes(planned=30)
    assert not cleaner.passes(cuts=1)
    assert not cleaner.passes(log=OneLog())


def test_who_gets_on_or_fails_may_try_again():
    cleaner = Cleaner()
    for _ in range(2):
        assert not cleaner.passes(reached=15)
        assert not cleaner.passes(reached=None)
