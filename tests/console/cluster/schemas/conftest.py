"""The real registry on a real broker; the console's own cluster is in memory, as for its other pages."""

import uuid

import pytest

from console.cluster.schemas.client import RegistryClient
from console.cluster.schemas.codec import schemas_of
from console.cluster.schemas.configuration import RegistryAddress
from console.cluster.schemas.registry import NAMES, RegistryGateway
from tests.barnabas_cluster import running_cluster
from tests.registry_process import running_registries

ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"int"}]}'
ORDER_WITH_NOTE = ORDER.replace("}]}", '},{"name":"note","type":"string","default":""}]}')
ORDER_WITH_PRICE = ORDER.replace("}]}", '},{"name":"price","type":"int"}]}')


@pytest.fixture(scope="package")
def registry_process(tmp_path_factory):
    directory = tmp_path_factory.mktemp("schemas")
    with (
        running_cluster(directory) as brokers,
        running_registries(directory, brokers.bootstrap_servers, mode_mutability="true") as [running],
    ):
        yield running


@pytest.fixture
def address(registry_process) -> RegistryAddress:
    return RegistryAddress(registry_process.url)


@pytest.fixture
def registry(address, settings, cluster, registry_process, db) -> RegistryGateway:
    """It is of the cluster in memory, as far as its id tells."""
    clusters = registry_process.ask("GET", "/v1/metadata/id").body["scope"]["clusters"]
    cluster._cluster_id = clusters["kafka-cluster"]
    settings.SCHEMA_REGISTRY = address
    NAMES.forget()
    schemas_of.cache_clear()
    return RegistryGateway(RegistryClient(address))


@pytest.fixture
def topic() -> str:
    """A topic's name that nobody else uses."""
    return f"t-{uuid.uuid4().hex[:8]}"
