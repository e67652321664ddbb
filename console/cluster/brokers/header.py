"""What the header of a broker's pages tells of it."""

from django.urls import reverse

from console.cluster.brokers.state_names import with_state_names
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.figures import byte_size, grouped, size
from console.kit.features.headers import HeaderFacts, HeaderLink, KeyFigure
from console.processes.models import ManagedProcess
from console.state.clusters.models import Broker
from console.state.clusters.queries import cluster_state

_RESTART, _MOVE_AWAY = "Restart…", "Move all replicas away…"


def facts(broker: Broker, reach: Reach) -> HeaderFacts:
    """Return the facts of `broker`. Its main action is a restart where the console runs it and the person may do it."""
    with_state_names([broker], reach)
    process, address = f"broker-{broker.broker_id}", reverse("broker-partitions", args=[broker.broker_id])
    is_run_here = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.BROKER, name=process).exists()
    may_restart = is_run_here and Right.OPERATE in reach.rights_on(Resource.PROCESS, process)
    cluster = cluster_state()
    is_controller = broker.is_registered and broker.broker_id == cluster.controller_id and not cluster.brokers_outage
    out_of_sync = None if cluster.outage else broker.out_of_sync_count
    return HeaderFacts(
        name=f"Broker {broker.broker_id}",
        key=str(broker.broker_id),
        note="controller" if is_controller else "",
        word=broker.word,
        tone=broker.tone,
        figures=(
            KeyFigure("Bytes in / s", byte_size(broker.bytes_per_second), "byte-rate", "Of the partitions it leads"),
            KeyFigure(
                "Out of sync",
                grouped(out_of_sync),
                "out",
                "Partitions of which its replica is not in sync",
                "warning" if out_of_sync else "",
                f"{address}?role=out" if out_of_sync else "",
            ),
            KeyFigure("Size", size(broker.size_bytes), "size", "On disk, all its replicas together"),
        ),
        main=HeaderLink(_RESTART, reverse("process-restart", args=[process])) if may_restart else _MOVE_AWAY,
    )
