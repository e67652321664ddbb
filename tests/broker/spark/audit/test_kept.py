"""What increments tell by window is cut and merged whatever it is."""

from dataclasses import dataclass

from broker.audit.tally import RecordTally
from broker.spark.audit.kept import _cut, _turned, added, as_plain


@dataclass
class Sketch:
    """As a sketch of latencies: it is merged in its place, and written as a list."""

    counts: dict[int, int]

    def merge(self, other):
        for bucket, count in other.counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + count

    def as_list(self):
        return sorted(self.counts.items())


def test_what_can_be_added_or_merged_is_summed_by_window_and_kind():
    one = {"dead": {60: RecordTally(1, 10)}, "filtered": {60: RecordTally(2, 20)}}
    other = {"dead": {60: RecordTally(3, 30), 120: RecordTally(4, 40)}}
    assert added(one, other) == {
        "dead": {60: RecordTally(4, 40), 120: RecordTally(4, 40)},
        "filtered": {60: RecordTally(2, 20)},
    }
    sketches = added({60: Sketch({1: 1})}, {60: Sketch({1: 2, 7: 1}), 120: Sketch({3: 1})})
    assert as_plain(sketches) == {60: [(1, 3), (7, 1)], 120: [(3, 1)]}


def test_windows_are_cut_out_of_kinds_and_a_kind_without_any_is_left_out():
    tallies = {"dead": {60: RecordTally(1), 120: RecordTally(2)}, "filtered": {60: RecordTally(3)}}
    assert _cut(tallies, lambda window: window > 60) == {"dead": {120: RecordTally(2)}}
    assert _cut({60: RecordTally(1), 120: RecordTally(2)}, lambda window: window > 60) == {120: RecordTally(2)}


def test_what_is_told_by_kind_is_turned_to_be_told_by_window():
    assert _turned({"dead": {60: 1, 120: 2}, "filtered": {60: 3}}) == {60: {"dead": 1, "filtered": 3}, 120: {"dead": 2}}
    assert _turned({60: 1}) == {60: 1}
