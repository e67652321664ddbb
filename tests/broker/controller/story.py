"""Tells the controller's stories: a transcript of commands and of the effects that follow.

A simulated ZooKeeper answers writes at once, as the effects' contract says: the outcome of a write, indented, comes
before the next effect. What a WatchTopics reads is told after the command's own effects.

    up 1 10                     broker 1 registers with epoch 10
    down 1                      its znode goes
    cluster 1:10 2:11           exactly these brokers are registered
    listens 1 A,B               broker 1 has these listeners now, under the same epoch
    elect 1                     this broker becomes controller under epoch 1
    resign
    topic t 0=1,2 1=2,1         a topic's znode is written (again: partitions are added)
    without-id t 0=1,2          a tool older than topic ids makes a topic, or writes its znode anew
    by-cmak t 0=1,2             CMAK writes a topic's znode whole: without its id and without what moves
    copied t u                  t's znode has the id that is in u's
    restored t                  a broker that starts writes the id back that its log notes
    forget-ids                  the broker elected next has been told of no topic: all were restarted
    vanish t                    a topic's znodes are removed by hand
    delete t                    its deletion is asked for
    deleted 1:10 t-0 t-1        broker 1 (epoch 10) answers StopReplica: these are gone
    undeletable 1:10 t-0        ... : these could not be deleted
    failed 1:10 t-0             broker 1 answers LeaderAndIsr: log directory offline
    deferred 1:10 t-0           ... : not now
    without-log 1:10 t-0        ... : not now, for its log is missing
    knows 1:10 t-0 epoch=5 leader=2 isr=2,3
                                ... : older than the role that it knows
    taken 1:10 t-0              ... : done
    full 1:10 t-0               ... : done, and its log directory is full
    reaches 1:10 t-0 4:100      ... : done, without a leader; the log ends at 100, in epoch 4
    lost 1 t-0                  broker 1, about to register, notes that it has no log; the controller is not told
    lost-tail 1 t-0 4:100       ... that its log may have lost its end, now at 100 in epoch 4
    remove-state t-0            its state is removed by hand; the controller is not told
    foreign t-0 leader=1 isr=1  somebody else writes a state; the controller is not told
    isr t-0 1,2                 the leader writes another ISR and announces it
    announced t-0               an ISR change of this partition is announced (once more)
    unclean t yes               t may be led by a replica that was not in sync (no: not); the controller is told
    unclean * yes               all topics may that say nothing themselves
    keep-eligible yes           the cluster finalizes that it keeps eligible leader replicas (no: not)
    min-isr t 2                 min.insync.replicas of t; of all topics that say nothing themselves: *
    move t-0 3,4                a client asks to reassign a partition
    call-off t-0                ... or to cancel that
    request-moves t-0=3,4       /admin/reassign_partitions appears (without any: what it says cannot be read)
    elect-preferred t-0 t-1     a client asks for the preferred leaders (without any: of all partitions)
    elect-unclean t-0           a client asks for any leader
    request-election t-0        /admin/preferred_replica_election appears
    tick 5000                   so many milliseconds pass
    lose-log-dir 1              broker 1 announces that a log directory has failed, is full, or has room again
    stop 1:10                   broker 1 (epoch 10) asks to be relieved before it stops
    quietly down 1              any of these, but the controller is not told
    topics-to-delete a b        what a look at /admin/delete_topics shows, right or wrong
    show                        states of all machines
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from broker.common.cluster import (
    EPOCH_DURING_DELETE,
    NO_LOG,
    BrokerEndpoint,
    BrokerRegistration,
    LastRole,
    LeaderAndIsr,
    LiveBroker,
    LogLoss,
    TopicAssignment,
)
from broker.common.eligible_leaders import MinIsrSettings, eligible_leaders
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import NO_LEADER_EPOCH, NO_TOPIC_ID, TopicPartition
from broker.controller import effects as do
from broker.controller import events as told
from broker.controller.controller import Controller
from broker.controller.election import state_after_loss
from broker.controller.topic_ids import objections_to_new_id
from broker.controller.verdict import DONE, PartitionVerdict


class Story:
    """A controller and a simulated ZooKeeper. `run(command)` returns the lines of what happened."""

    def __init__(self) -> None:
        self.controller = Controller()
        self.brokers: dict[int, LiveBroker] = {}
        self.topics: dict[str, TopicAssignment] = {}
        self.states: dict[TopicPartition, LeaderAndIsr] = {}
        #: Partitions whose states have ever been written: the parents of these znodes stay.
        self.had_states: set[TopicPartition] = set()
        self.to_delete: set[str] = set()
        self.topics_made = 0
        #: The id each topic was made with, and those that the last controller has told.
        self.ids: dict[str, UUID] = {}
        self.last_ids: dict[str, UUID] = {}
        self._to_read: list[str] = []
        #: The newest broker epoch when a topic's znode lost its id.
        self._lost_at: dict[str, int] = {}
        #: What topics say of unclean elections; "*" is the default.
        self.unclean: dict[str, bool] = {"*": False}
        self.keeps_eligible = False
        self.min_isr: dict[str, int] = {"*": 1}
        #: Number of each notification of an ISR change, and what it names.
        self.isr_changes: dict[str, TopicPartition] = {}
        self._announcements = 0
        #: Number of each notification of a failed log directory, and whose it is.
        self.log_dir_events: dict[str, int] = {}
        #: What /admin/reassign_partitions asks for; None when it is not there.
        self.requested_moves: dict[TopicPartition, tuple[int, ...]] | None = None
        #: Leader epoch of the last StopReplica for each partition.
        self._epochs_asked: dict[TopicPartition, int] = {}
        self.now_ms = 0
        self._requests = 0

    def run(self, command: str) -> list[str]:
        name, *arguments = command.split()
        event = getattr(self, "_" + name.replace("-", "_"))(*arguments)
        if name == "show":
            return event
        lines = self._step(event, "") if event else []
        while self._to_read:
            topic = self._to_read.pop(0)
            if topic in self.topics:
                lines += [f"{topic} is read", *self._step(told.TopicRead(self.topics[topic]), "  ")]
        return lines or ["nothing"]

    # -- commands

    def _up(self, broker_id: str, epoch: str) -> told.ControllerEvent:
        return self._cluster(*(f"{b.broker_id}:{b.epoch}" for b in self.brokers.values()), f"{broker_id}:{epoch}")

    def _down(self, broker_id: str) -> told.ControllerEvent:
        del self.brokers[int(broker_id)]
        return told.BrokersChanged(dict(self.brokers))

    def _cluster(self, *brokers: str) -> told.ControllerEvent:
        self.brokers = dict(_live_broker(text) for text in brokers)
        return told.BrokersChanged(dict(self.brokers))

    def _listens(self, broker_id: str, names: str) -> told.ControllerEvent:
        known = self.brokers[int(broker_id)]
        endpoints = tuple(BrokerEndpoint(name, f"host-{broker_id}", 9092) for name in names.split(","))
        self.brokers[int(broker_id)] = replace(known, registration=replace(known.registration, endpoints=endpoints))
        return told.BrokerUpdated(self.brokers[int(broker_id)])

    def _elect(self, epoch: str) -> told.ControllerEvent:
        return told.Elected(
            int(epoch),
            dict(self.brokers),
            dict(self.topics),
            dict(self.states),
            frozenset(self.to_delete),
            frozenset(self.isr_changes),
            dict(self.last_ids),
            frozenset(self.had_states - self.states.keys()),
            self._min_isr_of(self.topics) if self.keeps_eligible else None,
        )

    def _resign(self) -> told.ControllerEvent:
        context = self.controller.context
        if context is not None:
            self.last_ids = {name: topic.topic_id for name, topic in context.topics.items()}
        return told.Resigned()

    def _forget_ids(self) -> None:
        self.last_ids.clear()

    def _without_id(self, topic: str, *partitions: str) -> told.ControllerEvent:
        """As the tools of Kafka 2.4 to 2.7 do, which keep what they know of reassignments."""
        known = self.topics.get(topic)
        self._lost_at[topic] = max((broker.epoch for broker in self.brokers.values()), default=-1)
        before = known or TopicAssignment(topic, NO_TOPIC_ID, {})
        replicas = dict(_replicas(text) for text in partitions)
        self.topics[topic] = replace(before, topic_id=NO_TOPIC_ID, partitions=replicas)
        return told.TopicRead(self.topics[topic]) if known else told.TopicsListed(frozenset(self.topics))

    def _by_cmak(self, topic: str, *partitions: str) -> told.ControllerEvent:
        self.topics[topic] = replace(self.topics[topic], adding={}, removing={})
        return self._without_id(topic, *partitions)

    def _copied(self, topic: str, other: str) -> told.ControllerEvent:
        self.topics[topic] = replace(self.topics[topic], topic_id=self.topics[other].topic_id)
        return told.TopicRead(self.topics[topic])

    def _restored(self, topic: str) -> told.ControllerEvent:
        self.topics[topic] = replace(self.topics[topic], topic_id=self.ids[topic])
        return told.TopicRead(self.topics[topic])

    def _topic(self, topic: str, *partitions: str) -> told.ControllerEvent:
        known = self.topics.get(topic)
        before = known or TopicAssignment(topic, self._new_id(topic), {})
        self.topics[topic] = replace(before, partitions=dict(_replicas(text) for text in partitions))
        if known:
            return told.TopicRead(self.topics[topic])
        return told.TopicsListed(frozenset(self.topics))

    def _new_id(self, topic: str) -> UUID:
        self.topics_made += 1
        self.ids[topic] = UUID(int=self.topics_made)
        return self.ids[topic]

    def _identify(
        self, known_ids: dict[str, UUID | None], restored_at: dict[int, int], names: dict[UUID, str]
    ) -> told.ControllerEvent:
        assignments, states, unknown = {}, {}, set()
        for topic in sorted(known_ids.keys() & self.topics.keys()):
            assignment = self.topics[topic]
            results = {key: state for key, state in self.states.items() if key.topic == topic}
            if names.get(assignment.topic_id, topic) != topic or not assignment.has_id:
                known_id = known_ids[topic]
                since = {broker_id for broker_id, at in restored_at.items() if at > self._lost_at.get(topic, -1)}
                if known_id is None and not objections_to_new_id(assignment, results, since):
                    known_id = self._new_id(topic)
                assignment = self.topics[topic] = replace(assignment, topic_id=known_id or NO_TOPIC_ID)
            if assignment.has_id:
                assignments[topic] = assignment
                states |= results
            else:
                unknown.add(topic)
        return told.TopicsIdentified(assignments, states, frozenset(unknown))

    def _vanish(self, topic: str) -> told.ControllerEvent:
        self._remove(topic)
        return told.TopicsListed(frozenset(self.topics))

    def _delete(self, topic: str) -> told.ControllerEvent:
        self.to_delete.add(topic)
        return told.TopicsToDelete(frozenset(self.to_delete))

    def _quietly(self, name: str, *arguments: str) -> None:
        getattr(self, "_" + name.replace("-", "_"))(*arguments)

    def _topics_to_delete(self, *topics: str) -> told.ControllerEvent:
        return told.TopicsToDelete(frozenset(topics))

    def _deleted(self, broker: str, *partitions: str) -> told.ControllerEvent:
        return told.ReplicasDeleted(*_incarnation(broker), _partitions(partitions), frozenset(), self._epochs_asked)

    def _undeletable(self, broker: str, *partitions: str) -> told.ControllerEvent:
        return told.ReplicasDeleted(*_incarnation(broker), frozenset(), _partitions(partitions), self._epochs_asked)

    def _failed(self, broker: str, *partitions: str) -> told.ControllerEvent:
        return told.LeaderAndIsrAnswered(*_incarnation(broker), frozenset(), _partitions(partitions), frozenset())

    def _deferred(self, broker: str, *partitions: str) -> told.ControllerEvent:
        return told.LeaderAndIsrAnswered(*_incarnation(broker), frozenset(), frozenset(), _partitions(partitions))

    def _without_log(self, broker: str, *partitions: str) -> told.ControllerEvent:
        deferred = _partitions(partitions)
        extents = dict.fromkeys(deferred, (NO_LEADER_EPOCH, 0))
        return told.LeaderAndIsrAnswered(*_incarnation(broker), frozenset(), frozenset(), deferred, extents=extents)

    def _taken(self, broker: str, *partitions: str) -> told.ControllerEvent:
        return told.LeaderAndIsrAnswered(*_incarnation(broker), _partitions(partitions), frozenset(), frozenset())

    def _full(self, broker: str, *partitions: str) -> told.ControllerEvent:
        taken = _partitions(partitions)
        return told.LeaderAndIsrAnswered(*_incarnation(broker), taken, frozenset(), frozenset(), taken)

    def _reaches(self, broker: str, partition: str, extent: str) -> told.ControllerEvent:
        last_epoch, end_offset = map(int, extent.split(":"))
        taken, extents = _partitions([partition]), {_partition(partition): (last_epoch, end_offset)}
        return told.LeaderAndIsrAnswered(*_incarnation(broker), taken, frozenset(), frozenset(), extents=extents)

    def _knows(self, broker: str, partition: str, epoch: str, leader: str, isr: str = "") -> told.ControllerEvent:
        members = tuple(int(one) for one in isr.removeprefix("isr=").split(",") if one)
        role = LastRole(int(epoch.removeprefix("epoch=")), int(leader.removeprefix("leader=")), members)
        later = {_partition(partition): role}
        return told.LeaderAndIsrAnswered(*_incarnation(broker), frozenset(), frozenset(), frozenset(), later=later)

    def _lost(self, broker_id: str, *partitions: str) -> None:
        for key in _partitions(partitions):
            self._lose(key, LogLoss(int(broker_id), NO_LEADER_EPOCH, NO_LOG))

    def _lost_tail(self, broker_id: str, partition: str, extent: str) -> None:
        last_epoch, end_offset = map(int, extent.split(":"))
        self._lose(_partition(partition), LogLoss(int(broker_id), last_epoch, end_offset))

    def _lose(self, key: TopicPartition, loss: LogLoss) -> None:
        before = self.states[key]
        after = state_after_loss(before, loss, is_noted=True, keeps_eligible=self.keeps_eligible)
        self.states[key] = after.at_version(before.zk_version + 1)

    def _remove_state(self, partition: str) -> None:
        del self.states[_partition(partition)]

    def _foreign(self, partition: str, leader: str, isr: str) -> None:
        key = _partition(partition)
        before = self.states.get(key, LeaderAndIsr(-1, -1, (), 0))
        members = tuple(int(one) for one in isr.removeprefix("isr=").split(","))
        self.states[key] = LeaderAndIsr(
            int(leader.removeprefix("leader=")), before.leader_epoch + 1, members, 0, before.zk_version + 1
        )

    def _stop(self, broker: str) -> told.ControllerEvent:
        return told.ShutdownAsked(self._next_request(), *_incarnation(broker))

    def _lose_log_dir(self, broker_id: str) -> told.ControllerEvent:
        self.log_dir_events[str(len(self.log_dir_events) + 1)] = int(broker_id)
        return told.LogDirEventsListed(frozenset(self.log_dir_events))

    def _unclean(self, topic: str, allowed: str) -> told.ControllerEvent:
        self.unclean[topic] = allowed == "yes"
        return told.ConfigChanged(None if topic == "*" else topic)

    def _keep_eligible(self, is_kept: str) -> told.ControllerEvent:
        self.keeps_eligible = is_kept == "yes"
        return told.EligibleLeadersChanged(self.keeps_eligible)

    def _min_isr(self, topic: str, count: str) -> told.ControllerEvent:
        self.min_isr[topic] = int(count)
        return told.ConfigChanged(None if topic == "*" else topic)

    def _min_isr_of(self, topics: Iterable[str]) -> MinIsrSettings:
        return MinIsrSettings(self.min_isr["*"], {name: self.min_isr[name] for name in topics if name in self.min_isr})

    def _isr(self, partition: str, isr: str) -> told.ControllerEvent:
        """As a leader writes it, with the ELR if these are kept."""
        key = _partition(partition)
        state, members = self.states[key], _ids_of(isr)
        elr: tuple[int, ...] = ()
        if self.keeps_eligible:
            replicas, min_isr = self.topics[key.topic].partitions[key.partition], self._min_isr_of([key.topic])
            elr = eligible_leaders(state.isr, state.elr, members, replicas, min_isr.of(key.topic))
        self.states[key] = state.with_isr(members, elr).at_version(state.zk_version + 1)
        return self._announced(partition)

    def _announced(self, partition: str) -> told.ControllerEvent:
        self._announcements += 1
        self.isr_changes[str(self._announcements)] = _partition(partition)
        return told.IsrChangesListed(frozenset(self.isr_changes))

    def _move(self, partition: str, target: str) -> told.ControllerEvent:
        return told.ReassignmentsAsked(self._next_request(), {_partition(partition): _ids_of(target)})

    def _move_keeping_count(self, partition: str, target: str) -> told.ControllerEvent:
        targets = {_partition(partition): _ids_of(target)}
        return told.ReassignmentsAsked(self._next_request(), targets, may_change_count=False)

    def _call_off(self, partition: str) -> told.ControllerEvent:
        return told.ReassignmentsAsked(self._next_request(), {_partition(partition): None})

    def _request_moves(self, *moves: str) -> told.ControllerEvent:
        moves_and_targets = (move.split("=") for move in moves)
        self.requested_moves = {_partition(partition): _ids_of(target) for partition, target in moves_and_targets}
        return told.ReassignmentsByZnode(self.requested_moves)

    def _elect_preferred(self, *partitions: str) -> told.ControllerEvent:
        requested = _partitions(partitions) or None
        return told.ElectionAsked(self._next_request(), told.Election.PREFERRED, requested)

    def _elect_unclean(self, *partitions: str) -> told.ControllerEvent:
        return told.ElectionAsked(self._next_request(), told.Election.UNCLEAN, _partitions(partitions))

    def _request_election(self, *partitions: str) -> told.ControllerEvent:
        return told.ElectionAsked(told.BY_ZNODE, told.Election.PREFERRED, _partitions(partitions))

    def _tick(self, milliseconds: str) -> told.ControllerEvent:
        self.now_ms += int(milliseconds)
        return told.Tick()

    def _next_request(self) -> int:
        self._requests += 1
        return self._requests

    def _show(self) -> list[str]:
        context = self.controller.context
        if context is None:
            return ["not controller"]
        lines = []
        for topic in sorted(context.topics):
            for partition in context.partitions(topic):
                replicas = " ".join(
                    f"{one.broker_id}={context.replica_status[one].name}" for one in context.replicas(partition)
                )
                lines.append(f"{partition} {context.partition_status[partition].name}; replicas {replicas}")
        return lines or ["no partitions"]

    # -- effects

    def _step(self, event: told.ControllerEvent, indent: str) -> list[str]:
        lines = []
        for effect in self.controller.step(event, self.now_ms):
            lines += [indent + line for line in _lines_of(effect)]
            outcome = self._carry_out(effect)
            if isinstance(outcome, told.TopicsIdentified):
                lines += [f"{indent}{name} has id {one.topic_id.int}" for name, one in outcome.assignments.items()]
                lines += [f"{indent}{name} has no id still" for name in sorted(outcome.unknown)]
            if isinstance(outcome, told.StatesWritten):
                lines += [f"{indent}refused: {key} is {_state(state)}" for key, state in outcome.stored.items()]
            if outcome is not None:
                lines += self._step(outcome, indent + "  ")
        return lines

    def _carry_out(self, effect: do.ControllerEffect) -> told.ControllerEvent | None:
        match effect:
            case do.WriteStates(states):
                return self._write(states)
            case do.IdentifyTopics(known_ids, restored_at, names):
                return self._identify(known_ids, restored_at, names)
            case do.RemoveTopic(topic):
                self._remove(topic)
                return told.TopicRemoved(topic)
            case do.RemoveDeletionRequest(topic) if topic not in self.topics:
                self.to_delete.discard(topic)
            case do.ReadTopicsToDelete():
                return told.TopicsToDelete(frozenset(self.to_delete))
            case do.WatchTopics(names):
                known = self.controller.context.topics
                self._to_read += sorted(names - known.keys())
            case do.ReadLogDirEvents(names):
                return told.LogDirsFailed(frozenset(self.log_dir_events[name] for name in names))
            case do.RemoveLogDirEvents(names):
                for name in names:
                    del self.log_dir_events[name]
            case do.ReadUncleanElection(topics):
                allowed = (topic for topic in topics if self.unclean.get(topic, self.unclean["*"]))
                return told.UncleanElectionRead(frozenset(allowed))
            case do.ReadMinIsr(topics):
                return told.MinIsrRead(topics, self._min_isr_of(topics))
            case do.ReadIsrChanges(names):
                named = sorted({self.isr_changes[name] for name in names})
                return told.IsrChangesRead({key: self.states[key] for key in named if key in self.states})
            case do.RemoveIsrChanges(names):
                for name in names:
                    del self.isr_changes[name]
            case do.SendStopReplica(_, _, stops):
                self._epochs_asked |= {stop.partition: stop.leader_epoch for stop in stops if stop.delete}
            case do.WriteAssignments(assignments):
                return self._write_assignments(assignments)
            case do.RewriteReassignmentRequest(targets):
                self.requested_moves = targets or None
            case do.StepAgain(event):
                return event
        return None

    def _write_assignments(self, assignments: dict[TopicPartition, ReplicaAssignment]) -> told.ControllerEvent:
        written = {partition: one for partition, one in assignments.items() if partition.topic in self.topics}
        for (topic, index), one in written.items():
            self.topics[topic] = self.topics[topic].having({index: one})
        return told.AssignmentsWritten(written)

    def _write(self, states: dict[TopicPartition, LeaderAndIsr]) -> told.ControllerEvent:
        written, standings = {}, {}
        for partition, state in states.items():
            standing = self.states.get(partition)
            if (standing.zk_version if standing else -1) == state.zk_version:
                written[partition] = self.states[partition] = state.at_version(state.zk_version + 1)
                self.had_states.add(partition)
            else:
                standings[partition] = standing
        return told.StatesWritten(written, standings)

    def _remove(self, topic: str) -> None:
        self.topics.pop(topic, None)
        self.ids.pop(topic, None)
        self.to_delete.discard(topic)
        self.states = {partition: state for partition, state in self.states.items() if partition.topic != topic}
        self.had_states = {partition for partition in self.had_states if partition.topic != topic}


def _lines_of(effect: do.ControllerEffect) -> Iterator[str]:
    match effect:
        case do.OpenChannel(broker):
            yield f"open channel to {broker.broker_id} epoch {broker.epoch}"
        case do.CloseChannel(broker_id):
            yield f"close channel to {broker_id}"
        case do.WriteStates(states):
            yield from (
                f"write {partition} {_state(state)} over {state.zk_version}" for partition, state in states.items()
            )
        case do.WatchTopics(names):
            yield f"watch {' '.join(sorted(names))}"
        case do.UnwatchTopics(names):
            yield f"unwatch {' '.join(sorted(names))}"
        case do.RemoveTopic(topic):
            yield f"remove topic {topic}"
        case do.RemoveDeletionRequest(topic):
            yield f"remove deletion request {topic}"
        case do.ReadTopicsToDelete():
            yield "read topics to delete"
        case do.SendLeaderAndIsr(broker_id, epoch, partitions, leaders):
            names = ",".join(str(one.broker_id) for one in leaders)
            yield f"LeaderAndIsr to {broker_id}: controller epoch {epoch}, live leaders {names or 'none'}"
            yield from (f"  {_partition_told(one)}" for one in partitions)
        case do.SendUpdateMetadata(broker_ids, epoch, partitions, brokers):
            to, live = ",".join(map(str, broker_ids)), ",".join(str(one.broker_id) for one in brokers)
            yield f"UpdateMetadata to {to}: controller epoch {epoch}, brokers {live}"
            yield from (f"  {_partition_told(one)}" for one in partitions)
        case do.SendStopReplica(broker_id, epoch, stops):
            yield f"StopReplica to {broker_id}: controller epoch {epoch}, {' '.join(map(_stop, stops))}"
        case do.ReadLogDirEvents(names):
            yield f"read log directory events {' '.join(sorted(names))}"
        case do.RemoveLogDirEvents(names):
            yield f"remove log directory events {' '.join(sorted(names))}"
        case do.AnswerShutdown(request_id, (code, remaining)):
            left = " ".join(map(str, sorted(remaining))) or "nothing"
            yield f"answer request {request_id}: {code.name if code else f'{left} remains'}"
        case do.ReadUncleanElection(topics):
            yield f"may {' '.join(sorted(topics))} be led unclean?"
        case do.ReadMinIsr(topics):
            yield f"what is min.insync.replicas of {' '.join(sorted(topics)) or 'all topics'}?"
        case do.TellEligibleElections(partitions):
            yield f"tell of leaders from the ELR: {' '.join(map(str, partitions))}"
        case do.ReadIsrChanges(names):
            yield f"read ISR changes {' '.join(sorted(names))}"
        case do.RemoveIsrChanges(names):
            yield f"remove ISR changes {' '.join(sorted(names))}"
        case do.TellUncleanElections(elections):
            yield from (
                f"tell of the unclean election of {one.leader} for {one.partition},"
                f" after {one.leader_before} of {_ids(one.in_sync_before)}"
                for one in elections
            )
        case do.TellRestorations(waiting, led):
            yield from (f"tell that {partition} waits for the logs of its replicas" for partition in waiting)
            yield from (f"tell that {leader} leads {partition} again" for partition, leader in led.items())
        case do.WriteAssignments(assignments):
            yield from (f"write {partition} {_replicas_told(one)}" for partition, one in assignments.items())
        case do.RewriteReassignmentRequest(targets, refused):
            kept = " ".join(f"{partition}={_ids(target)}" for partition, target in targets.items())
            yield f"rewrite the request for moves: {kept}" if kept else "remove the request for moves"
            yield from (f"  {partition} {_verdict(verdict)}" for partition, verdict in refused.items())
        case do.RemoveElectionRequest(verdicts):
            yield "remove the request for an election"
            yield from (f"  {partition} {_verdict(verdict)}" for partition, verdict in verdicts.items())
        case do.RespondToRequest(request_id, verdicts):
            yield f"answer request {request_id}"
            yield from (f"  {partition} {_verdict(verdict)}" for partition, verdict in verdicts.items())
        case do.IdentifyTopics(known_ids):
            for topic, known_id in known_ids.items():
                yield f"identify {topic}" + (f": it had id {known_id.int}" if known_id else ", whose id is unknown")
        case do.StepAgain():
            yield "again"


def _partition_told(one: do.PartitionTold) -> str:
    offline = f" offline={_ids(one.offline_replicas)}" if one.offline_replicas else ""
    new = " new" if one.is_new else " vanished" if one.has_vanished else ""
    replicas = _replicas_told(ReplicaAssignment(one.replicas, one.adding, one.removing))
    return f"{one.partition} {_state(one.state)} {replicas}{offline}{new}"


def _replicas_told(assignment: ReplicaAssignment) -> str:
    adding = f" adding={_ids(assignment.adding)}" if assignment.adding else ""
    removing = f" removing={_ids(assignment.removing)}" if assignment.removing else ""
    return f"replicas={_ids(assignment.replicas)}{adding}{removing}"


def _verdict(verdict: PartitionVerdict) -> str:
    return "done" if verdict == DONE else f"{verdict.code.name}: {verdict.message}"


def _stop(stop: do.ReplicaStop) -> str:
    epoch = "" if stop.leader_epoch == EPOCH_DURING_DELETE else f" epoch={stop.leader_epoch}"
    return f"{'delete' if stop.delete else 'stop'} {stop.partition}{epoch}"


def _state(state: LeaderAndIsr) -> str:
    recovering = " recovering" if state.leader_recovery_state else ""
    elr = f" elr={_ids(state.elr)}" if state.elr else ""
    last_known = f" last-known={_ids(state.last_known_elr)}" if state.last_known_elr else ""
    return f"leader={state.leader} epoch={state.leader_epoch} isr={_ids(state.isr)}{elr}{last_known}{recovering}"


def _ids(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, ids))


def _live_broker(text: str) -> tuple[int, LiveBroker]:
    broker_id, epoch = _incarnation(text)
    endpoint = BrokerEndpoint("PLAINTEXT", "127.0.0.1", 9000 + broker_id)
    return broker_id, LiveBroker(BrokerRegistration(broker_id, (endpoint,), ids_restored_at=epoch), epoch)


def _incarnation(text: str) -> tuple[int, int]:
    broker_id, epoch = text.split(":")
    return int(broker_id), int(epoch)


def _replicas(text: str) -> tuple[int, tuple[int, ...]]:
    index, replicas = text.split("=")
    return int(index), _ids_of(replicas)


def _ids_of(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))


def _partition(text: str) -> TopicPartition:
    topic, _, index = text.rpartition("-")
    return TopicPartition(topic, int(index))


def _partitions(texts: tuple[str, ...]) -> frozenset[TopicPartition]:
    return frozenset(_partition(text) for text in texts)
