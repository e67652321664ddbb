import pytest

from broker.zookeeper.errors import NodeMissing, WrongVersion
from broker.zookeeper.session import Check, SetData, ZnodeCreation
from tests.simulation.ensemble import Ensemble
from tests.simulation.timeline import Timeline


def test_a_session_that_is_not_heard_of_takes_its_ephemeral_znodes_along_and_watches_fire_once():
    timeline, fired = Timeline(), []
    ensemble = Ensemble(timeline)
    silent, watching = ensemble.open(1_000), ensemble.open(9_000)
    watching.fire = fired.append
    ensemble.multi(silent, [ZnodeCreation("/mine", ephemeral=True)])
    assert ensemble.exists(watching, "/mine", 7).ephemeral_owner == silent.session_id
    timeline.run(lambda: silent.is_over, 100)
    assert ensemble.exists(watching, "/mine", None) is None
    ensemble.multi(watching, [ZnodeCreation("/mine")])
    assert fired == [7]


def test_a_transaction_is_done_whole_or_not_at_all():
    ensemble = Ensemble(Timeline())
    session = ensemble.open(1_000)
    ensemble.multi(session, [ZnodeCreation("/epoch", b"1")])
    with pytest.raises(WrongVersion) as refused:
        ensemble.multi(session, [SetData("/epoch", b"2", 0), ZnodeCreation("/made"), Check("/epoch", 0)])
    assert refused.value.path == "/epoch"
    znode = ensemble.get(session, "/epoch", None)
    assert (znode.data, znode.version) == (b"1", 0)
    with pytest.raises(NodeMissing):
        ensemble.get(session, "/made", None)
