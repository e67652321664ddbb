"""How much happened in a run, in numbers that can be added up: a campaign whose brokers were never asked, or never
struck, finds nothing and looks well.
"""

from collections import Counter

from tests.simulation.world import World


def tally(world: World) -> Counter[str]:
    """Faults by their kind as `fault: …`."""
    count = Counter(entry.what for entry in world.history.entries)
    joins = {(entry.facts["group"], entry.facts["generation"]) for entry in world.history.of("joins")}
    found = Counter(f"fault: {fault.kind}" for fault in world.faults)
    found.update(f"transactions {event.outcome}" for event in world.load.transactions.all)
    found["simulated seconds"] = world.timeline.elapsed_us // 1_000_000
    found["records acknowledged"] = sum(len(item.facts["values"]) for item in world.history.of("acknowledged"))
    found["records seen committed"] = sum(map(len, world.committed.partitions.values()))
    found["offset commits"] = world.load.offsets.count
    found["rebalances"] = len(joins)
    found["leaders elected"] = world.epochs.elections
    found["moves asked for"] = count["moves"]
    found["topics deleted"] = sum(entry.facts["outcome"] == "NONE" for entry in world.history.of("deletes"))
    found["broker restarts"] = count["process started"] - len(world.brokers)
    found["power cuts"] = count["power is cut"]
    found["full disks handed over"] = len(world.hand_overs.seen)
    return found
