"""What stopping a process means, in one honest sentence, from what the collector last saw."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.clusters.queries import cluster_state
from console.live.clock import now_ms
from console.processes.kinds import kind_named
from console.processes.models import ManagedProcess
from console.processes.pages import name_duration
from console.topics.models import Partition

#: The collector looks at topics every few seconds.
FRESH_MS = 15_000


@dataclass(frozen=True)
class Hosted:
    """One partition as far as stopping a broker matters to it."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int | None


def stop_sentence(process: ManagedProcess) -> str:
    if process.kind == ManagedProcess.Kind.ZOOKEEPER and process.ports:
        state = cluster_state()
        return stop_zookeeper_sentence(process.ports[0], state.zookeeper) or kind_named(process.kind).STOP_MEANS
    if sentence := kind_named(process.kind).STOP_MEANS:
        return sentence
    broker_id = broker_id_of(process)
    rows = Partition.objects.values_list("replicas", "isr", "leader").iterator()
    sentence = stop_broker_sentence(broker_id, (Hosted(tuple(r), tuple(i), leader) for r, i, leader in rows))
    return f"{sentence} {age_sentence(now_ms(), cluster_state().topics_at_ms)}".strip()


def stop_zookeeper_sentence(port: int, servers: Iterable[Mapping]) -> str:
    """What one member is to the others, by what each said last; empty if nothing works without it."""
    voters = [each for each in servers if each["mode"] != "observer"]
    own = next((each for each in servers if each["address"].endswith(f":{port}")), None)
    serving = sum(not each["error"] and each is not own for each in voters)
    spare = serving - (len(voters) // 2 + 1)
    if own is None and voters:
        return "Stops a ZooKeeper server that is no member of the ensemble now."
    if own is None or spare < 0:
        return ""
    election = " They elect a leader first, usually within a second." if own["mode"] == "leader" else ""
    more = "none of them may fail then" if spare == 0 else f"{spare} more may fail then"
    return f"Stops one of {len(voters)} ZooKeeper members: the others go on, {more}.{election}"


def age_sentence(now: int, seen: int) -> str:
    """How old the knowledge is, both moments in ms; nothing is said of what is fresh."""
    if not seen:
        return "The collector has not seen the cluster yet, so this may be wrong."
    if now - seen <= FRESH_MS:
        return ""
    return f"This was seen {name_duration((now - seen) / 1000)} ago and may have changed."


def broker_id_of(process: ManagedProcess) -> int:
    return process.spec.get("broker_id", int(process.name.rpartition("-")[2]))


def stop_broker_sentence(broker_id: int, partitions: Iterable[Hosted]) -> str:
    """Which partitions go offline, which only lose a replica. A replica outside the ISR does not take over."""
    offline = moved = thinner = 0
    for partition in partitions:
        if broker_id not in partition.replicas:
            continue
        survivors = set(partition.isr) - {broker_id}
        if partition.leader == broker_id and not survivors:
            offline += 1
        elif partition.leader == broker_id:
            moved += 1
        else:
            thinner += 1
    parts = []
    if offline:
        have = "has no other replica in sync" if offline == 1 else "have no other replica in sync"
        parts.append(f"{_count(offline, 'partition')} it leads {have} and will be offline until it is back")
    if moved:
        parts.append(f"{_count(moved, 'partition')} will be led by another broker")
    if thinner:
        parts.append(f"{_count(thinner, 'partition')} will have one replica less")
    return f"Stops broker {broker_id}: " + ("; ".join(parts) if parts else "it holds no partition") + "."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
