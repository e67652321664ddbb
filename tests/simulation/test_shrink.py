from tests.simulation.shrink import shrink


def test_only_the_faults_it_takes_are_left():
    assert shrink(range(12), lambda faults: {3, 10} <= set(faults)) == [3, 10]


def test_a_run_that_fails_without_faults_needs_none():
    assert shrink(range(5), lambda faults: True) == []
