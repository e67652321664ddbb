"""How much happened in a run, in numbers that can be added up: a campaign whose brokers were never asked, or never
struck, finds nothing and looks well.
"""

from collections import Counter

from tests.simulation.world import World


def tally(world: World) -> Counter[str]:
    """Faults by their kind as `fault: …`."""
    count = Counter(entry.what for entry in world.history.entries)
    joins = {(entry.facts["group"], entry.facts["generation"]) for entry in world.history.of("joins")}
    counts = Counter(f"fault: {fault.kind}" for fault in world.faults)
    counts.update(f"transactions {event.outcome}" for event in world.load.transactions.all)
    counts["simulated seconds"] = world.timeline.elapsed_us // 1_000_000
    counts["records acknowledged"] = sum(len(item.facts["values"]) for item in world.history.of("acknowledged"))
    counts["records seen committed"] = sum(map(len, world.committed.partitions.values()))
    counts["offset commits"] = world.load.offsets.count
    counts["rebalances"] = len(joins)
    counts["leaders elected"] = world.epochs.elections
    counts["moves asked for"] = count["moves"]
    counts["topics deleted"] = sum(entry.facts["outcome"] == "NONE" for entry in world.history.of("deletes"))
    counts["broker restarts"] = count["process started"] - len(world.brokers)
    counts["power cuts"] = count["power is cut"]
    counts["full disks handed over"] = len(world.hand_overs.seen)
    return counts
