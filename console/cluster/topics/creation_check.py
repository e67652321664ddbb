"""The cluster's judgement of the settings of a topic that is not there yet."""

from collections.abc import Mapping

from console.cluster.topics.creation import Wish
from console.cluster.topics.own_settings import refused_settings
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError


def refusals_of(wish: Wish) -> list[str]:
    """Return a sentence for each setting that the cluster refuses; none of a cluster that cannot be asked now."""

    def check(configs: Mapping[str, str]) -> None:
        cluster_gateway().check_new_topic(wish.name, wish.partition_count, wish.replication_factor, configs)

    try:
        return refused_settings(wish.configs, check) if wish.configs else []
    except GatewayError:
        return []
