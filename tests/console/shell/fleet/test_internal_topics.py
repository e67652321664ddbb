"""A mirror may copy a topic into another cluster under the same name (IdentityReplicationPolicy)."""

import pytest

from console.kit.access.internal_topics import is_internal
from console.kit.common.current_cluster import in_cluster
from console.processes.models import ManagedProcess
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])


def test_what_a_service_of_one_cluster_names_is_internal_in_all(staging):
    properties = {"config.storage.topic": "wk.cfg"}
    ManagedProcess.objects.create(name="worker", kind="connect", spec={"properties": properties, "directory": "/x"})
    with in_cluster(STAGING):
        assert [is_internal(name) for name in ("wk.cfg", "main.wk.cfg", "orders")] == [True, True, False]


def test_a_cluster_whose_database_is_missing_keeps_no_other_from_being_shown(staging, settings):
    settings.CLUSTERS |= {"nowhere": settings.CLUSTERS[STAGING]}
    assert is_internal("_schemas")
    assert not is_internal("orders")
