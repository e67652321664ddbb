"""Troubles of disks and processes as sentences. Pure."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from console.kit.common.figures import grouped, size
from console.signals.overview.health import (
    CrowdedBroker,
    EndingCertificate,
    HealthLevel,
    HealthReason,
    SetAsideLogs,
    TightDirectory,
    TroubledProcess,
)
from console.signals.overview.next_action import NextAction

_EVIDENCE_LENGTH_MAX = 160
_PATH_LENGTH_MAX = 400
_NAMED_MAX = 5


def directory_reasons(directories: Iterable[TightDirectory]) -> Iterable[HealthReason]:
    for directory in directories:
        yield (
            _offline(directory)
            if directory.error
            else _full(directory)
            if directory.is_full
            else _nearly_full(directory)
        )


def stray_reasons(strays: Iterable[SetAsideLogs]) -> Iterable[HealthReason]:
    for stray in strays:
        logs, they = ("1 log was", "it fits") if stray.count == 1 else (f"{grouped(stray.count)} logs were", "they fit")
        text = (
            f"{logs} set aside on broker {stray.broker_id}: {they} none of its partitions, and keep"
            f"{'s' if stray.count == 1 else ''} {'its' if stray.count == 1 else 'their'} space until removed."
        )
        paths = ", ".join(path[:_PATH_LENGTH_MAX] for path in stray.paths[:_NAMED_MAX])
        action = NextAction(
            "Compare them with their topics, then delete their directories by hand; the broker's log has the reasons",
            "broker",
            str(stray.broker_id),
        )
        yield HealthReason(
            HealthLevel.WARNING, f"Broker {stray.broker_id}", text, action,
            f"{size(stray.bytes)} in directories below {paths} whose names end in -stray",
            key=f"strays:{stray.broker_id}", weight=stray.count,
        )  # fmt: skip


def foreign_reasons(broker_ids: Sequence[int]) -> Iterable[HealthReason]:
    if not broker_ids:
        return
    one = len(broker_ids) == 1
    named = ", ".join(map(str, broker_ids[:_NAMED_MAX])) + (" …" if len(broker_ids) > _NAMED_MAX else "")
    text = (
        f"Broker{'' if one else 's'} {named} of another Kafka {'is' if one else 'are'} registered in this cluster's "
        "ZooKeeper chroot: this cluster ignores them, and stands still if one becomes controller."
    )
    action = NextAction("Stop them, and give their cluster a chroot of its own", "zookeeper")
    yield HealthReason(
        HealthLevel.WARNING, "Foreign brokers", text, action, "Their registrations are not of this cluster's brokers",
        key="foreign brokers", parts=tuple(map(str, broker_ids)),
    )  # fmt: skip


def crowded_reasons(crowded: Iterable[CrowdedBroker]) -> Iterable[HealthReason]:
    for broker in crowded:
        text = f"Broker {broker.broker_id} is near its limit of open files: no further segment or connection opens."
        action = NextAction("Raise the limit (ulimit -Hn, LimitNOFILE= of systemd), then restart it", "processes")
        evidence = f"{broker.open_files:,} of {broker.limit:,} are open"
        yield HealthReason(
            HealthLevel.WARNING,
            f"Broker {broker.broker_id}",
            text,
            action,
            evidence,
            key=f"open files:{broker.broker_id}",
        )


def certificate_reasons(certificates: Iterable[EndingCertificate]) -> Iterable[HealthReason]:
    """Yield one reason for a listener: brokers of a host show one certificate, and are renewed together."""
    together: dict[tuple[str, bool], list[EndingCertificate]] = {}
    for certificate in certificates:
        together.setdefault((certificate.listener, certificate.left_ms <= 0), []).append(certificate)
    for (listener, has_ended), ending in together.items():
        yield _certificates(listener, has_ended, sorted(ending, key=lambda certificate: certificate.ends_at_ms))


def _certificates(listener: str, has_ended: bool, ending: Sequence[EndingCertificate]) -> HealthReason:
    """`ending`: of one or several brokers, the one that ends first in front."""
    first, brokers = ending[0], sorted(certificate.broker_id for certificate in ending)
    days = {_days(certificate.left_ms) for certificate in ending}
    if has_ended:
        tense = f"{'has' if len(brokers) == 1 else 'have'} ended: nobody connects there any more"
    else:
        tense = f"end{'s' if len(brokers) == 1 else ''}{'' if len(days) == 1 else ', the first'} {_days(first.left_ms)}"
    if len(brokers) == 1:
        whose, subject = f"certificate of broker {brokers[0]}", f"Broker {brokers[0]}"
        key = f"certificate:{brokers[0]}:{listener}"
    else:
        whose = f"certificates of brokers {', '.join(map(str, brokers[:-1]))} and {brokers[-1]}"
        subject, key = "Certificates", f"certificates:{'ended' if has_ended else 'ending'}:{listener}"
    return HealthReason(
        HealthLevel.CRITICAL if has_ended else HealthLevel.WARNING,
        subject,
        f"The {whose} for {listener} {tense}.",
        NextAction("Renew it: a keystore that changes on disk counts for the next connection", "processes"),
        f"it ends at {datetime.fromtimestamp(first.ends_at_ms / 1_000, UTC):%Y-%m-%d %H:%M} UTC",
        key=key,
        parts=tuple(map(str, brokers)),
    )


def _days(left_ms: int) -> str:
    days = left_ms // 86_400_000
    return "within a day" if days < 1 else f"in {days} day{'s' if days > 1 else ''}"


def _offline(directory: TightDirectory) -> HealthReason:
    text = (
        f"A log directory of broker {directory.broker_id} is offline: its replicas are served by other "
        f"brokers, or not at all."
    )
    action = NextAction("Mend the disk, then restart the broker", "broker", str(directory.broker_id))
    evidence, key = f"{directory.path}: {directory.error}", _key("offline", directory)
    return HealthReason(HealthLevel.CRITICAL, f"Broker {directory.broker_id}", text, action, evidence, key=key)


def _key(trouble: str, directory: TightDirectory) -> str:
    return f"directory:{trouble}:{directory.broker_id}:{directory.path[:_PATH_LENGTH_MAX]}"


def _full(directory: TightDirectory) -> HealthReason:
    text = (
        f"A log directory of broker {directory.broker_id} is full: in-sync replicas with room lead its partitions, and "
        "partitions without one take no writes."
    )
    action = NextAction(
        "Free some of the disk, or shorten retention: leaders come back", "broker", str(directory.broker_id)
    )
    subject, key = f"Broker {directory.broker_id}", _key("no room", directory)
    return HealthReason(HealthLevel.CRITICAL, subject, text, action, _left(directory), key=key)


def _left(directory: TightDirectory) -> str:
    if directory.usable_bytes is None:
        return directory.path
    return f"{directory.path}: {size(directory.usable_bytes)} left, {100 * directory.left_share:.0f} % of the volume"


def _nearly_full(directory: TightDirectory) -> HealthReason:
    level = HealthLevel.CRITICAL if directory.is_critical else HealthLevel.WARNING
    text = (
        f"The volume of broker {directory.broker_id} is nearly full: without room the broker hands over what it leads, "
        "and cannot follow."
    )
    evidence = _left(directory)
    action = NextAction("See what fills it; shorten the retention of the largest", "broker", str(directory.broker_id))
    return HealthReason(level, f"Broker {directory.broker_id}", text, action, evidence, key=_key("full", directory))


def _short(sentence: str) -> str:
    """Return the first part of a long last log line; the process's page has all of it."""
    return sentence if len(sentence) <= _EVIDENCE_LENGTH_MAX else f"{sentence[:_EVIDENCE_LENGTH_MAX]}…"


_STATE_WORDS = {
    "exited": "has exited",
    "failed": "has failed",
    "flapping": "dies again and again",
    "unresponsive": "does not respond",
    "registered but dead": "is dead, and still registered",
}


def process_reasons(processes: Iterable[TroubledProcess]) -> Iterable[HealthReason]:
    for process in processes:
        level = HealthLevel.CRITICAL if process.is_lost else HealthLevel.WARNING
        action = NextAction("Read the end of its log, cure the cause, start it", "process", process.name)
        text = f"{process.name} should be running and {_STATE_WORDS.get(process.state, f'is {process.state}')}."
        key = f"process:{process.state}:{process.name}"
        yield HealthReason(
            level, process.name, text, action, _short(process.sentence), key=key, about="process", name=process.name
        )
