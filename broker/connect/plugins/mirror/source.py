"""MirrorSourceConnector: topics of one cluster, kept as copies in another one.

The connector watches both clusters and makes the target's topics fit; its tasks copy batches by themselves
(`broker.mirror.task`), so that converters and transforms have no part in it, and a worker's cluster needs not be the
target.
"""

import threading
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from broker.audit.sender import IncrementSender
from broker.common.errors import ApiError, BarnabasError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.connect.api import ConfigValue, ConnectError, SourceConnector, SourceRecord, SourceTask, SourceTaskContext
from broker.connect.api.plugin import ConnectorContext, Props
from broker.connect.plugins.mirror import settings
from broker.mirror.audit import MirrorAudit
from broker.mirror.lane import Flow
from broker.mirror.naming import copied_topics, is_internal
from broker.mirror.producer import Fenced
from broker.mirror.records import TOPIC
from broker.mirror.settings_keeper import SettingsKeeper
from broker.mirror.status import MirrorStatusWriter
from broker.mirror.task import MirrorTask, TaskSettings
from broker.mirror.topic_keeper import TopicKeeper
from broker.mirror.topic_status import TopicStatusWriter
from broker.mirror.topics import decide, rules_to_make

_log = logger("broker.connect")
#: What a task is to copy, as Kafka's mirror calls it.
ASSIGNED = "task.assigned.partitions"
_REMADE = "task.copies.made.anew"
_LATER = "task.partitions.made.later"
_FIRST_S = 5.0
_ONE_CLUSTER = "source and target are the same cluster: nothing in it is to be copied into itself"


class MirrorSourceTask(SourceTask):
    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._working = threading.Lock()
        self._task: MirrorTask | None = None
        self._sender: IncrementSender | None = None

    def start(self, props: Props, context: SourceTaskContext) -> None:
        values = settings.SOURCE.parse(props)
        source, target = settings.addresses(props)
        naming, name = settings.naming(values), settings.flow_name(values)
        # An error of the clusters passes as it is: the worker knows which of them waiting mends.
        flow = Flow(name, source.cluster_id(), target.cluster_id(), values["exactly.once.enabled"])
        if flow.source_id == flow.target_id:
            raise ConnectError(_ONE_CLUSTER)
        assigned = {partition: naming.copy_of(partition.topic) for partition in parse_partitions(props[ASSIGNED])}
        from_end = values["consumer.auto.offset.reset"].lower() == "latest"
        later = frozenset(parse_partitions(props.get(_LATER, "")))
        task = TaskSettings(flow, assigned, values["commit.interval.ms"] / 1000, from_end=from_end, later=later)
        self._teller = MirrorStatusWriter(name, Producer({**target.client(), "linger.ms": 50}))
        self._sender = IncrementSender(source.client()) if values["audit.enable"] else None
        audit = MirrorAudit(name, self._sender.send) if self._sender is not None else None
        self._task = MirrorTask(task, source.connect, target.connect, self._stopped.is_set, audit, self._report_state)

    def poll(self) -> list[SourceRecord]:
        try:
            with self._working:
                if self._task is not None and not self._stopped.is_set():
                    self._task.step()
                    self._report_state()
        except Fenced as error:
            raise ConnectError(f"another mirror copies the same partitions: {error}") from None
        finally:
            self._close_if_stopped()
        return []

    def _report_state(self) -> None:
        if (task := self._task) is not None:
            self._teller.tell(task.copies, task.ends(), task.trouble, task.slowness)

    def commit(self) -> None:
        with self._working:
            if self._task is not None and not self._stopped.is_set():
                self._task.save()

    def rest(self) -> None:
        with self._working:
            if self._task is not None and not self._stopped.is_set():
                self._teller.tell(self._task.copies, self._task.ends(), self._task.trouble, is_paused=True)

    def stop(self) -> None:
        self._stopped.set()
        self._close_if_stopped()

    def _close_if_stopped(self) -> None:
        """Close the mirror in whichever thread ends last: the one that polls, or the one that stops."""
        if self._stopped.is_set() and self._working.acquire(blocking=False):
            try:
                if self._task is not None:
                    self._task.close()
                    self._task = None
                    if self._sender is not None:
                        self._sender.close()
            finally:
                self._working.release()


class MirrorSourceConnector(SourceConnector):
    """Copies topics of one cluster into another one, whole and in order, each record once if asked."""

    VERSION = "3.9"
    task_class = MirrorSourceTask
    CONFIG = settings.SOURCE

    def validate(self, props: Props) -> list[ConfigValue]:
        return settings.validated(self.CONFIG, props)

    def exactly_once_support(self, props: Props) -> bool | None:
        return self.CONFIG.parse(props)["exactly.once.enabled"] is True

    def alter_offsets(self, props: Props, offsets: Mapping[str, Any]) -> bool:
        """Refuse: offsets kept by the worker would be stored and answered, but have no effect."""
        raise ConnectError(
            f"A mirror's positions are not the worker's to change: they are in {TOPIC} of the target. Deleting "
            f"a copy there makes the mirror copy its topic again."
        )

    def start(self, props: Props, context: ConnectorContext) -> None:
        values = self._values = self.CONFIG.parse(props)
        self._props, self._context = dict(props), context
        self._naming, self._chosen = settings.naming(values), settings.chosen(values, "topics")
        self._excluded = settings.excluded(values, "config.properties")
        source, target = self._addresses = settings.addresses(props)
        self._settings_keeper: SettingsKeeper | None = None
        self._keeper = TopicKeeper(source.admin(), target.admin(), values["replication.factor"])
        self._teller = TopicStatusWriter(settings.flow_name(values), target.client(), target.connect)
        self._assigned: list[TopicPartition] = []
        #: What the source had at the first look: topic → partitions.
        self._began_with: dict[str, int] | None = None
        self._troubles: dict[str, str] = {}
        #: How often copies were made of what was copied before: tasks have to look for themselves then.
        self._remade = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="mirror-topics", daemon=True)
        self._thread.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        partitions = self._assigned
        count = min(max_tasks, len(partitions))
        began_with = self._began_with if self._is_from_end() and self._began_with is not None else None
        later = [] if began_with is None else [at for at in partitions if at.partition >= began_with.get(at.topic, 0)]
        props = {**self._props, _REMADE: str(self._remade), _LATER: ",".join(map(str, later))}
        return [{**props, ASSIGNED: ",".join(map(str, partitions[number::count]))} for number in range(count)]

    def _is_from_end(self) -> bool:
        return bool(self._values["consumer.auto.offset.reset"].lower() == "latest")

    def stop(self) -> None:
        self._stopping.set()

    def _watch(self) -> None:
        """Watch the threads; after an unforeseen error the connector is FAILED, because nothing new would be copied."""
        try:
            self._look_again_and_again()
        except Exception as error:
            self._context.raise_error(error)
        finally:
            self._close_settings()

    def _look_again_and_again(self) -> None:
        pause_s = float(self._values["refresh.topics.interval.seconds"])
        while not self._stopping.is_set():
            try:
                self._look()
            except (KafkaException, BarnabasError, BufferError, OSError) as error:
                _log.warning("topics not looked at", flow=settings.flow_name(self._values), reason=str(error))
                self._stopping.wait(min(pause_s, _FIRST_S))
                continue
            self._stopping.wait(pause_s)

    def _look(self) -> None:
        keeper = self._keeper
        if self._began_with is None and keeper.is_one_cluster():
            raise ConnectError(_ONE_CLUSTER)
        keeper.ensure_own()
        source, target = keeper.topics(of_source=True), keeper.topics(of_source=False)
        self._began_with = source if self._began_with is None else self._began_with
        if not self._values["refresh.topics.enabled"]:
            began = self._began_with
            source = {topic: min(count, began[topic]) for topic, count in source.items() if topic in began}
        names = copied_topics(source, self._chosen, self._naming)
        not_said = {topic: why for topic, why in self._chosen.not_said(source).items() if not is_internal(topic)}
        changes = decide(names, source, target)
        followed = {topic: copy for topic, copy in names.items() if topic not in changes.refused}
        own = self._settings(followed)
        failed = keeper.apply(changes, {followed[topic]: item for topic, item in own.items()})
        present = {topic: copy for topic, copy in followed.items() if copy in target or copy not in failed}
        assigned = [
            TopicPartition(topic, number)
            for topic, copy in sorted(present.items())
            for number in range(target.get(copy, source[topic]) if copy in failed else source[topic])
            if number < source[topic]
        ]
        notices = self._follow({topic: copy for topic, copy in present.items() if copy in target}, present, own)
        failures = {topic: failed[copy] for topic, copy in followed.items() if copy in failed}
        before = {followed.get(partition.topic) for partition in self._assigned}
        is_remade = any(copy in before and copy not in failed for copy in changes.create)
        if assigned != self._assigned or is_remade:
            self._assigned, self._remade = assigned, self._remade + is_remade
            self._context.request_task_reconfiguration()
        copies = names | {topic: self._naming.copy_of(topic) for topic in not_said}
        self._report_state(copies, assigned, changes.refused | failures | not_said, notices)

    def _follow(self, there: dict[str, str], present: dict[str, str], own: dict[str, dict[str, str]]) -> dict[str, str]:
        """Copy settings and ACLs; return failures by topic. Records are copied all the same."""
        notices: dict[str, str] = {}
        try:
            if self._values["sync.topic.configs.enabled"]:
                refused = self._follow_settings(there, own)
                notices = {
                    topic: f"settings do not follow: {refused[copy]}"
                    for topic, copy in there.items()
                    if copy in refused
                }
        except (KafkaException, ApiError) as error:
            why = error.args[0].str() if isinstance(error, KafkaException) else str(error)
            notices = dict.fromkeys(present, f"settings do not follow: {why}")
        try:
            if self._values["sync.topic.acls.enabled"]:
                self._follow_rules(present)
        except KafkaException as error:
            why = f"ACLs for reading are not copied: {error.args[0].str()}"
            notices = {topic: f"{notices[topic]}; {why}" if topic in notices else why for topic in present}
        return notices

    def _follow_rules(self, present: dict[str, str]) -> None:
        source, target = self._keeper.rules(of_source=True), self._keeper.rules(of_source=False)
        if source is not None and target is not None:
            self._keeper.make_rules(rules_to_make(source, target, present))

    def _report_state(
        self,
        names: dict[str, str],
        assigned: list[TopicPartition],
        errors: dict[str, str],
        notices: dict[str, str],
    ) -> None:
        troubles = notices | errors
        for topic, why in troubles.items():
            if self._troubles.get(topic) != why:
                _log.warning("topic not copied" if topic in errors else "copy differs", topic=topic, reason=why)
        self._troubles = troubles
        self._teller.tell(names, assigned, errors, notices)

    def _settings(self, names: dict[str, str]) -> dict[str, dict[str, str]]:
        if not self._values["sync.topic.configs.enabled"]:
            return {topic: {} for topic in names}
        return {
            topic: {name: value for name, value in own.items() if not self._is_excluded(name)}
            for topic, own in self._keeper.settings(names, of_source=True).items()
        }

    def _follow_settings(self, names: dict[str, str], own: dict[str, dict[str, str]]) -> dict[str, str]:
        """Copy → why its settings do not follow."""
        if self._settings_keeper is None:
            source, target = self._addresses
            self._settings_keeper = SettingsKeeper(
                source.connect, target.connect, Producer(target.client()), self._keeper, self._naming, self._is_excluded
            )
        try:
            return self._settings_keeper.look(names, own)
        except BaseException:
            self._close_settings()
            raise

    def _close_settings(self) -> None:
        if self._settings_keeper is not None:
            self._settings_keeper.close()
            self._settings_keeper = None

    def _is_excluded(self, setting: str) -> bool:
        return any(pattern.fullmatch(setting) for pattern in self._excluded)


def parse_partitions(text: str) -> list[TopicPartition]:
    """Parse `topic-0,topic-1`. Raises ConnectError."""
    partitions = []
    for part in filter(None, text.split(",")):
        topic, _, number = part.rpartition("-")
        if not topic or not number.isdecimal():
            raise ConnectError(f"{part!r} is no partition")
        partitions.append(TopicPartition(topic, int(number)))
    return partitions
