"""What clients see, as the probe measures it, as reasons: silent brokers, partitions that fail, records that are gone.

A broker that is not registered, and a process that should run, have reasons of their own already. Pure.
"""

from collections.abc import Iterable, Mapping

from console.signals.overview.health import HealthLevel, HealthReason, ProbeWord
from console.signals.overview.next_action import NextAction

_ERROR_LENGTH_MAX = 300


def probe_reasons(word: ProbeWord | None, missing: Iterable[int], managed: Iterable[int]) -> Iterable[HealthReason]:
    """Return reasons. `missing`: brokers that are not registered; `managed`: those that this console runs."""
    if word is None:
        return
    explained = set(missing)
    silent = {broker: reason for broker, reason in word.silent.items() if broker not in explained}
    yield from _silent(silent, set(managed))
    yield from _failing(word, explained | silent.keys())
    if word.lost:
        yield _lost(word.lost)
    if word.error:
        action = NextAction("Read the end of its log", "process", word.process)
        text = "The probe does not answer: what clients see of the cluster is not known."
        evidence = word.error[:_ERROR_LENGTH_MAX]
        yield HealthReason(
            HealthLevel.WARNING, "Probe", text, action, evidence, word.error_since_ms, "probe silent",
            about="process", name=word.process,
        )  # fmt: skip


def _silent(silent: Mapping[int, tuple[int, str]], managed: set[int]) -> Iterable[HealthReason]:
    for broker, (since_ms, why) in sorted(silent.items()):
        text = f"Broker {broker} is registered and does not answer clients: what it leads cannot be written or read."
        if broker in managed:
            action = NextAction("See what it does; if it hangs, restart it", "process", f"broker-{broker}")
        else:
            action = NextAction("See what it does on its own host; if it hangs, restart it there")
        yield HealthReason(
            HealthLevel.CRITICAL, f"Broker {broker}", text, action, _evidence(why), since_ms, f"silent:{broker}"
        )


def _evidence(why: str) -> str:
    return f"The probe's last try: {why}" if why else "The probe was not answered"


def _failing(word: ProbeWord, explained: set[int]) -> Iterable[HealthReason]:
    """Return failing partitions, without those of a silent broker, which has a reason of its own."""
    failing = [partition for partition in word.failing if not explained.intersection(partition.replicas)]
    if not failing:
        return
    count = f"{len(failing)} partition{'' if len(failing) == 1 else 's'}"
    text = f"The probe cannot write to or read from {count} of its topic, though their brokers answer."
    evidence = " · ".join(f"{partition.partition}: {partition.error}" for partition in failing[:3])
    action = NextAction("Let replicas catch up; see which partitions fail", "probe")
    since_ms = min(partition.since_ms for partition in failing)
    parts = tuple(str(partition.partition) for partition in failing)
    yield HealthReason(HealthLevel.WARNING, "Probe", text, action, evidence, since_ms, "probe failing", parts=parts)


def _lost(count: int) -> HealthReason:
    records = f"{count} acknowledged record{' is' if count == 1 else 's are'}"
    text = f"{records} of the probe not there any more: what happened to them may have happened to others."
    action = NextAction("See when and where, before anything is restarted or deleted", "probe")
    return HealthReason(
        HealthLevel.CRITICAL, "Probe", text, action, "Within the last 24 hours", key="probe lost", weight=count
    )
