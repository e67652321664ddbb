"""Whatever was copied, and however little of it is remembered: who goes on where a run says misses no record."""

from hypothesis import given
from hypothesis import strategies as st

from broker.mirror.batches import CopiedRun
from broker.mirror.runs import Runs

#: Records one after the other, then offsets without a record in the source, and in the target.
PIECES = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=60)


def copied(pieces, source=10, target=3):
    """Runs, and where each record went."""
    runs, places = [], {}
    for size, gap, markers in pieces:
        runs.append(CopiedRun(source, target, size))
        places |= {source + number: target + number for number in range(size)}
        source, target = source + size + gap, target + size + markers
    return runs, places


@given(PIECES, st.integers(4, 100))
def test_no_record_is_missed_in_either_direction(pieces, runs_max):
    runs, places = copied(pieces)
    known = Runs(runs, runs_max)
    for offset in range(10, max(places) + 3):
        place = known.target_of(offset)
        assert all(place.offset <= target for source, target in places.items() if source >= offset)
        if place.is_exact:
            assert all(place.offset > target for source, target in places.items() if source < offset)
    for offset in range(3, max(places.values()) + 3):
        place = known.source_of(offset)
        assert all(place.offset <= source for source, target in places.items() if target >= offset)


@given(PIECES)
def test_all_that_fits_into_memory_is_exact_record_by_record(pieces):
    runs, places = copied(pieces)
    known = Runs(runs)
    for source, target in places.items():
        assert known.target_of(source) == (target, True)
        assert known.source_of(target) == (source, True)
    assert known.target_of(9) is None
    assert known.source_of(2) is None


@given(PIECES, st.data())
def test_records_that_were_copied_again_are_gone_on_with_at_the_later_place(pieces, data):
    """At least once: the mirror was killed before it remembered."""
    runs, places = copied(pieces)
    again_from = data.draw(st.sampled_from(sorted(places)))
    further = max(places.values()) + 1
    known = Runs(runs)
    again = {}
    for source in sorted(source for source in places if source >= again_from):
        again[source] = further
        known.add(CopiedRun(source, further, 1))
        further += 1
    for offset in range(10, max(places) + 2):
        place = known.target_of(offset)
        latest = {source: again.get(source, places[source]) for source in places if source >= offset}
        assert all(place.offset <= target for target in latest.values())


@given(PIECES, st.integers(2, 10), st.randoms())
def test_pieces_that_were_kept_of_a_history_say_nothing_wrong(pieces, count, at_random):
    runs, places = copied(pieces)
    whole = Runs(runs)
    kept = [*whole.spread(count), *at_random.sample(runs, min(len(runs), 3))]
    known = Runs(kept)
    for offset in range(10, max(places) + 3):
        place = known.target_of(offset)
        if place is not None:
            assert all(place.offset <= target for source, target in places.items() if source >= offset)
