"""The tiles of the page of all clusters."""

from console.state.clusters.models import Broker


def test_figures_of_a_cluster_that_is_not_read_are_no_alarm(db, viewer, client_of):
    Broker.objects.create(broker_id=1, is_registered=False)
    text = client_of(viewer).get("/clusters/").content.decode()
    assert '<span class="badge unknown">unknown</span>' in text
    assert '<dl class="fleet-figures is-unknown">' in text


def test_figures_of_a_cluster_that_is_read_keep_their_tone(cluster, collect, viewer, client_of):
    collect()
    cluster.stop_broker(3)
    collect()
    text = client_of(viewer).get("/clusters/").content.decode()
    assert '<dl class="fleet-figures">' in text
    assert '<dd class="critical">2<small> of 3</small>' in text
