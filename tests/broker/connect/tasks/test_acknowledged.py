"""However acknowledgements come: never an offset behind a record that is not acknowledged, and all in the end."""

from hypothesis import given
from hypothesis import strategies as st

from broker.connect.tasks.acknowledged import Acknowledged


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12), st.randoms())
def test_what_may_be_stored_is_the_acknowledged_prefix_of_each_partition(sizes, random):
    acknowledged = Acknowledged()
    runs = []
    for number, (partition, size) in enumerate(sizes):
        run = acknowledged.begin({"p": partition})
        run.left, run.offset = size, {"at": number}
        runs.append(run)
    pending = [run for run in runs for _ in range(run.left)]
    random.shuffle(pending)
    stored = {}
    for run in [None, *pending]:
        if run is not None:
            run.left -= 1
        stored |= {partition["p"]: offset["at"] for partition, offset in acknowledged.take()}
        for partition, at in stored.items():
            assert all(r.left == 0 for n, r in enumerate(runs) if n <= at and r.partition == {"p": partition})
    assert stored == {partition: number for number, (partition, _) in enumerate(sizes)}
    assert acknowledged.waiting == 0


def test_a_record_that_waits_holds_back_its_own_partition_only():
    acknowledged = Acknowledged()
    stuck, other = acknowledged.begin({"p": 1}), acknowledged.begin({"p": 2})
    stuck.left, other.offset = 1, {"at": 5}
    assert acknowledged.take() == [({"p": 2}, {"at": 5})]
