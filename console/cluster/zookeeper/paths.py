"""Paths of znodes as they come from an address: checked as ZooKeeper checks them, and what is known of them. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

PATH_LENGTH_MAX = 2_000
#: Control characters, surrogates and the like, which ZooKeeper refuses too.
_REFUSED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")


class PathError(ValueError):
    """No path of a znode; the message is a sentence."""


def check_path(text: str) -> str:
    """Return `text` without a slash at its end. Raises PathError."""
    path = text.strip().rstrip("/") or "/"
    if not path.startswith("/"):
        raise PathError(f"A path begins with a slash, as in /brokers/ids, and not as in {path[:80]}.")
    if len(path) > PATH_LENGTH_MAX:
        raise PathError(f"A path of more than {PATH_LENGTH_MAX} characters is not looked at.")
    parts = path[1:].split("/") if path != "/" else []
    if any(part in ("", ".", "..") for part in parts) or _REFUSED.search(path):
        raise PathError("A path has no empty parts, no “.” or “..” and no control characters.")
    return path


@dataclass(frozen=True, slots=True)
class Crumb:
    name: str
    path: str


def crumbs(path: str) -> list[Crumb]:
    """Return the znodes above `path` and itself, the root first."""
    crumbs = [Crumb("/", "/")]
    for part in [part for part in path.split("/") if part]:
        crumbs.append(Crumb(part, f"{crumbs[-1].path.rstrip('/')}/{part}"))
    return crumbs


def explain(path: str) -> str:
    """Return in a sentence what Kafka or ZooKeeper stores at `path`; empty if unknown."""
    return next((sentence for pattern, sentence in _KNOWN if pattern.fullmatch(path)), "")


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that has a page of its own: `kind` is broker or topic."""

    kind: str
    name: str


def mentions(path: str, value: object) -> list[Mention]:
    """Return the objects that the znode mentions, in its path and its decoded JSON, without duplicates."""
    mentions = [Mention(kind, match["name"]) for kind, pattern in _NAMES for match in [pattern.match(path)] if match]
    if isinstance(value, Mapping):
        mentions += _of_value(path, value)
    return list(dict.fromkeys(mentions))


def _of_value(path: str, value: Mapping[str, object]) -> list[Mention]:
    ids: list[object] = [value.get("brokerid"), value.get("broker"), value.get("leader")]
    isr = value.get("isr")
    ids += isr if isinstance(isr, list) else []
    mentions = [Mention("broker", str(id_)) for id_ in ids if type(id_) is int and id_ >= 0]
    entity = value.get("entity_path")
    if isinstance(entity, str) and path.startswith("/config/changes/"):
        kind, _, name = entity.partition("/")
        if kind in ("topics", "brokers") and name and name != "<default>":
            mentions.append(Mention(kind.removesuffix("s"), name))
    partitions = value.get("partitions")
    if isinstance(partitions, list):
        topics = (partition.get("topic") for partition in partitions[:20] if isinstance(partition, Mapping))
        mentions += [Mention("topic", topic) for topic in topics if isinstance(topic, str)]
    return mentions


_NAMES = [
    ("broker", re.compile(r"/brokers/ids/(?P<name>\d+)$")),
    ("broker", re.compile(r"/config/brokers/(?P<name>\d+)$")),
    ("topic", re.compile(r"/brokers/topics/(?P<name>[^/]+)")),
    ("topic", re.compile(r"/config/topics/(?P<name>[^/]+)$")),
    ("topic", re.compile(r"/admin/delete_topics/(?P<name>[^/]+)$")),
]

_KNOWN = [
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (r"/", "The root of what this cluster keeps in ZooKeeper."),
        (r"/zookeeper", "ZooKeeper's own: the ensemble's configuration and quotas."),
        (r"/zookeeper/config", "The members of the ensemble as they have agreed; a reconfig writes it."),
        (r"/zookeeper/quota(/.*)?", "Limits on the number and size of znodes, where they are set."),
        (r"/cluster", "Facts about the whole cluster."),
        (r"/cluster/id", "The cluster's id, made by its first broker; a broker of another cluster refuses to start."),
        (
            r"/controller",
            "The present controller: it is removed with its broker's session, and the next one writes it.",
        ),
        (r"/controller_epoch", "How often a controller has been elected; brokers refuse requests of an older one."),
        (r"/brokers", "Everything brokers and topics are registered under."),
        (r"/brokers/ids", "The brokers that are alive: each znode goes with its broker's session."),
        (r"/brokers/ids/\d+", "A living broker: where it listens. Its czxid is the broker's epoch."),
        (r"/brokers/seqid", "Counts the broker ids that ZooKeeper has handed out."),
        (r"/brokers/topics", "Every topic, with the replicas of its partitions."),
        (
            r"/brokers/topics/[^/]+",
            "A topic: its id and the brokers of each partition, the preferred leader first.",
        ),
        (r"/brokers/topics/[^/]+/partitions", "The partitions that have been led at least once."),
        (r"/brokers/topics/[^/]+/partitions/\d+", "One partition of the topic."),
        (
            r"/brokers/topics/[^/]+/partitions/\d+/state",
            "The partition's leader, its epoch and the replicas in sync; each change is conditional on the version.",
        ),
        (r"/config", "Configuration that changes while brokers run."),
        (r"/config/topics", "The settings topics have of their own."),
        (r"/config/topics/[^/]+", "What this topic sets itself; everything else comes from the brokers."),
        (r"/config/brokers", "Settings of brokers that were changed while they run."),
        (r"/config/brokers/<default>", "Settings that hold for all brokers."),
        (r"/config/brokers/\d+", "Settings of this broker alone."),
        (r"/config/users(/.*)?", "Quotas and SCRAM credentials of users; what proves a password is not shown here."),
        (r"/config/clients(/.*)?", "Quotas by client id."),
        (r"/config/ips(/.*)?", "How many connections an address may open in a second."),
        (r"/config/changes", "Tells brokers which configuration to read again; each is removed after 15 minutes."),
        (r"/config/changes/.+", "This configuration was changed; every broker reads it again."),
        (r"/admin", "Wishes of operators and tools, which the controller carries out."),
        (r"/admin/delete_topics", "Topics that are being deleted; the controller removes each when it is gone."),
        (r"/admin/delete_topics/.+", "This topic is being deleted."),
        (r"/admin/reassign_partitions", "Partitions to move, as older tools ask for it; gone when it is done."),
        (r"/admin/preferred_replica_election", "Partitions to give back to their first replica, as older tools ask."),
        (r"/isr_change_notification", "Leaders tell the controller here which ISR they have changed."),
        (r"/isr_change_notification/.+", "Partitions whose ISR has changed; the controller tells the other brokers."),
        (r"/log_dir_event_notification", "Brokers tell the controller here that a log directory has failed."),
        (r"/log_dir_event_notification/.+", "A log directory of this broker has failed."),
        (r"/latest_producer_id_block", "The last block of producer ids that was handed to a broker."),
        (r"/consumers(/.*)?", "Consumer groups of clients from before Kafka 0.9, which kept their offsets here."),
        (r"/kafka-acl(/.*)?", "Access rules, by kind and name of what they protect."),
        (r"/kafka-acl-extended(/.*)?", "Access rules for names that begin with a prefix."),
        (r"/kafka-acl(-extended)?-changes(/.*)?", "Tells brokers which access rules to read again."),
        (r"/delegation_token(/.*)?", "Tokens that stand for a login; their secrets are not shown here."),
        (r"/feature", "Which features of the cluster are switched on."),
        (r"/migration", "How far a migration from ZooKeeper to KRaft is."),
    )
]
