"""A mirror out of a Kafka by other hands into ours: what was written there is here once, in order."""

from types import SimpleNamespace

import pytest

from tests.another_kafka import tansu
from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import Side, mirroring

pytestmark = pytest.mark.timeout(120)


def test_what_is_there_and_what_comes_later_is_copied_in_order(south):
    with tansu() as servers:
        source = Side("west", SimpleNamespace(bootstrap_servers=servers))
        for side in (source, south):
            side.create("foreign")
        early, late = ([b"%s-%d" % (when, number) for number in range(200)] for when in (b"early", b"late"))
        source.write("foreign", early)
        with mirroring(source, south, {"foreign": 1}):
            await_true(lambda: south.values("foreign") == early, "what was there is copied")
            source.write("foreign", late)
            await_true(lambda: south.values("foreign") == early + late, "what came later is copied")
