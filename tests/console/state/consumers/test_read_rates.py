import pytest

from console.state.clusters.models import Topic


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 1, 1)
    cluster.append("orders", 0, 1_000)
    cluster.commit("readers", "orders", 0, 0)
    collect()


@pytest.fixture
def later(clock, collect):
    def look_again() -> float | None:
        clock.advance(2_000)
        collect()
        return Topic.objects.get(name="orders").read_per_second

    return look_again


def test_nothing_is_known_before_two_looks():
    assert Topic.objects.get(name="orders").read_per_second is None


def test_commits_that_move_are_what_is_read(cluster, later):
    later()
    cluster.commit("readers", "orders", 0, 100)
    cluster.commit("others", "orders", 0, 5)

    assert later() == 25.0


def test_a_commit_that_goes_back_counts_nothing(cluster, later):
    cluster.commit("readers", "orders", 0, 500)
    later()
    later()
    before = later()
    cluster.commit("readers", "orders", 0, 0)

    assert later() <= before


def test_reading_that_ends_comes_to_rest(cluster, later):
    cluster.commit("readers", "orders", 0, 100)
    for _ in range(8):
        last = later()

    assert last == 0


def test_the_list_shows_and_sorts_by_what_is_read(cluster, later, viewer, client_of):
    cluster.create_topic("quiet", 1, 1)
    later()
    cluster.commit("readers", "orders", 0, 80)
    later()
    text = client_of(viewer).get("/topics/?sort=-out").content.decode()

    assert 'data-cell="out">20</td>' in text
    assert text.index(">orders<") < text.index(">quiet<")
