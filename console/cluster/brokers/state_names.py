"""The one word for the state of a broker, the same on every page: that of its process, or what the cluster tells."""

from collections.abc import Iterable

from django.db.models import QuerySet

from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.kept_statements import kept_rows
from console.processes.models import ManagedProcess
from console.processes.presenters import TONES
from console.processes.truths import ProcessState
from console.state.clusters.models import Broker
from console.state.clusters.queries import cluster_state

#: Of a broker that is not registered and that this console does not run.
MISSING = "missing"
#: Of a broker of a cluster that cannot be read, and of whose process nothing is known either.
UNKNOWN = "unknown"
#: States of a process that say the cluster counts on it: of a broker that has just gone they are out of date.
_PRESENT = (ProcessState.HEALTHY, ProcessState.REGISTERED, ProcessState.CATCHING_UP, ProcessState.RUNNING)


def with_state_names(brokers: Iterable[Broker], reach: Reach = EVERYTHING) -> list[Broker]:
    """Return the brokers, each with `word` and the `tone` beside it; of processes out of reach nothing is told."""
    states = {row.name: row.state for row in kept_rows(_processes_of_brokers, reach)}
    listed, is_unknown = list(brokers), bool(cluster_state().brokers_outage)
    for broker in listed:
        process_state = states.get(f"broker-{broker.broker_id}", "")
        broker.word, broker.tone = _unread(process_state) if is_unknown else _word_and_tone(broker, process_state)
    return listed


def _processes_of_brokers(reach: Reach) -> QuerySet[ManagedProcess]:
    seen = ManagedProcess.objects.filter(within(reach, Resource.PROCESS, "name"), kind=ManagedProcess.Kind.BROKER)
    return seen.only("name", "state")


def _unread(process_state: str) -> tuple[str, str]:
    """Return word and tone while the cluster cannot be read: the console then knows only whether a process runs."""
    if not process_state or process_state in (ProcessState.HEALTHY, ProcessState.REGISTERED, ProcessState.CATCHING_UP):
        return UNKNOWN, "plain"
    return process_state, TONES[ProcessState(process_state)]


def _word_and_tone(broker: Broker, process_state: str) -> tuple[str, str]:
    if not broker.is_registered:
        word = process_state if process_state and process_state not in _PRESENT else MISSING
        return word, "busy" if word in (ProcessState.STARTING, ProcessState.STOPPING) else "critical"
    word = process_state or _as_truths_would(broker)
    return word, TONES[ProcessState(word)]


def _as_truths_would(broker: Broker) -> ProcessState:
    """Return the state of an unmanaged broker, by the rules of `truths.honest_state`."""
    if not broker.replica_count:
        return ProcessState.REGISTERED
    return ProcessState.CATCHING_UP if broker.out_of_sync_count + broker.copying_count else ProcessState.HEALTHY
