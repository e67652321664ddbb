"""`manage.py collect`: the collector as a process. One per cluster of a data directory: BARNABAS_CLUSTER names it."""

import fcntl

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from broker.common.stop_signals import stop_event
from console.kit.common.current_cluster import current_cluster, here, is_main
from console.kit.common.data_directories import make_data_directories
from console.kit.gateway.connect import cluster_gateway, zookeeper_gateway
from console.kit.gateway.connection.own_requests import begin
from console.kit.gateway.zookeeper.four_letter_words import EnsembleLook
from console.kit.gateway.zookeeper.leader_recovery import LeaderRecovery
from console.shell.collector.collector import Collector, run_collector


class Command(BaseCommand):
    help = "Watch the cluster, write what changed, push it to open pages. Runs until SIGTERM."
    # They import every page, which the collector never serves; who migrates has made them.
    requires_system_checks: list[str] = []

    def handle(self, *_args: object, **_options: object) -> None:
        make_data_directories()
        with open(settings.RUN_DIR / lock_name(), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CommandError(f"Another collector is running on this data directory{_for_which()}.") from None
            stop = stop_event()
            begin("collector")
            gateway, zookeeper = cluster_gateway(), zookeeper_gateway()
            look = EnsembleLook(zookeeper, here.ZOOKEEPER)
            run_collector(Collector(gateway, look, is_recovering=LeaderRecovery(zookeeper)), stop)
            zookeeper.close()
            gateway.close()


def lock_name() -> str:
    return "collector.lock" if is_main() else f"collector-{current_cluster()}.lock"


def _for_which() -> str:
    return "" if is_main() else f" for {current_cluster()}"
