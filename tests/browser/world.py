"""Rows of every feature, short names and long ones: what a console shows that is looked at without a cluster."""

WORLD = """
import json
from console.state.consumers.models import ConsumerGroup, GroupPartition
from console.ecosystem.connectors.models import Connector
from console.cluster.credentials.models import ScramUser
from console.automation.drill.models import Drill
from console.automation.healing.models import HealingRule, HealingState, Proposal
from console.state.history.models import Change
from console.state.clusters.models import Broker
from console.processes.models import ManagedProcess
from console.cluster.quotas.models import QuotaRow
from console.automation.rolling_restart.models import RollingRestart
from console.automation.staged_moves.models import StagedMove
from console.state.clusters.models import Partition, Topic
from console.ecosystem.completeness.models import AuditedTopic, DeliveryRow, DeliverySeries
from console.kit.common.clock import now_ms
from console.cluster.contents.batches import told_of
from console.cluster.contents.counting import Contents
from console.cluster.contents.store import keep
from console.kit.gateway.records.interface import BatchView, RecordView
from console.ecosystem.completeness.points import TIERS, DeliveryPoint, by_row, pack
from broker.audit.latency import Latency
from console.kit.tables.models import SavedView
from django.conf import settings
from console.cluster.topics.models import PlannedDeletion
from console.state.client_applications.models import ClientLook, ClientTraffic
from django.utils import timezone
for number in (1, 2):
    Broker.objects.create(broker_id=number, host="127.0.0.1", port=9091 + number)
for name in ("orders", "a-topic-with-a-name-that-is-quite-long-" * 5):
    topic = Topic.objects.create(name=name, partition_count=1, replication_factor=2, under_replicated_count=1)
    Partition.objects.create(topic=topic, partition=0, leader=1, replicas=[1, 2], isr=[1], next_offset=5)
    at = {"at": timezone.now(), "due_at": timezone.now()}
    PlannedDeletion.objects.create(topic=name, topic_id="x", **at, actor_name="root",
        record_count=5, size_bytes=500, ends=[5], places={}, state="kept" if name == "orders" else "waiting",
        outcome="5 records were written to it since. 1 consumer group has members that read it.")
    Change.objects.create(at_ms=1_780_000_000_000, kind="leader", object_name=name, sentence=f"{name}-0 has no leader")
    counted = {"appended": [900, 9], "consumed a-group": [901, 9]}
    windows = [[29_000_000 * 60_000 + at * 60_000, "complete" if at % 9 else "missing", counted] for at in range(90)]
    told = f"{name}, window 2026-01-01 00:00:00: 3 counted at appended missing at consumed a-group (partitions 0)"
    AuditedTopic.objects.create(name=name, windows=windows, finding_count=9, late_count=1, at_ms=1_780_000_000_000,
        findings=[[29_000_000 * 60_000, "consumed a-group", "missing", 0, 5, told]])
    for tier, reader in (("appended", "counter"), ("consumed", "a-group"), ("sunk", "a.sink.whose.name.is.long." * 5)):
        series = DeliverySeries.objects.create(topic=name, tier=tier, reader=reader, first_ms=1, at_ms=now_ms(),
            expected=4_400, received=4_000, again=7, aside=3, delivered=90.9, p50_ms=12.5, p95_ms=70_000, p99_ms=80_000,
            most_ms=90_000, early=3)
        points = {now_ms() // 60_000 * 60_000 - at * 60_000: DeliveryPoint(90 - at % 9, 9, at % 5, {"filtered": 1},
            Latency({150 + at % 7: 80}, 1, 90_000)) for at in range(60)}
        for row, steps in by_row(points, TIERS[0]).items():
            DeliveryRow.objects.create(series=series, tier=0, begins_ms=row, points=pack(steps, TIERS[0], row))
for name in ("readers", "a.group.with.a.name.that.is.quite.long." * 5):
    group = ConsumerGroup.objects.create(name=name, state="Stable", coordinator=1, verdict="ok", topics=["orders"])
    seen = {"committed": 2, "next_offset": 5, "lag": 3, "verdict": "ok"}
    GroupPartition.objects.create(group=group, topic="orders", partition=0, **seen)
ManagedProcess.objects.create(name="broker-1", kind="broker", host=settings.HOST_NAME)
ScramUser.objects.create(name="alice", pk=20_000, mechanisms={"SCRAM-SHA-256": 4_096, "SCRAM-SHA-512": 8_192})
ScramUser.objects.create(name="CN=a-user-with-a-name-that-is-quite-long," * 5, mechanisms={"SCRAM-SHA-256": 4_096})
used = {"user": "alice", "client_id": "", "ip": "", "who": "user alice", "broker_id": 1, "key": "producer_byte_rate"}
for words in ("user alice", "user CN=a-user-with-a-name-that-is-quite-long, client id " + "another-long-name-" * 5):
    seen = [{**used, "limit": 1_000_000, "rate": 1_200_000.5, "wait_ms": 170}]
    limits = {"producer_byte_rate": 1_000_000.0, "consumer_byte_rate": 2_000_000.0, "request_percentage": 12.5}
    QuotaRow.objects.create(
        digest=words[:60], path="users/alice", words=words, rank=3, values=limits, uses=seen,
        use_counts={"producer_byte_rate": 2},
    )
for name in ("lines", "a-connector-with-a-name-that-is-quite-long-" * 5):
    failed = "ConnectError: no good record at orders-0@1" + " and so on" * 30
    tasks = [[0, "FAILED", "a-host-with-a-long-name.of.a.domain:8083", failed], [1, "RUNNING", "10.0.0.1:8083", ""]]
    Connector.objects.create(
        name=name, kind="sink", state="RUNNING", class_name="org.example.FileSinkConnector", tasks=tasks, task_count=2,
        running_count=1, failed_count=1, topics=["orders"], dead_letters="orders", group="readers", worker="10.0.0.1",
        failed_since_ms=1_780_000_000_000, config={"file": "/a/path/that/is/quite/long" * 9, "a.password": "hidden"},
    )
begins = now_ms() - 90_000
seen = [{"at_ms": begins + at * 1_000, "seen_at_ms": 1, "under_replicated": at % 7, "led": 3} for at in range(90)]
Drill.objects.create(pk=70_000, fault="pause", name="broker-1", broker_id=1, seconds=20, began_ms=begins, state="done",
    phase="counting", phase_ms=1, fault_ms=now_ms() - 80_000, back_ms=now_ms() - 60_000, actor_name="a-long-name-" * 10,
    chosen_as="broker 1 leads " + "a-topic-with-a-long-name-" * 8, sentence="1 of 8 figures were worse than expected.",
    samples=seen, rows=[{"what": "Partitions short of replicas in sync, for", "expected": "115 s at most",
    "measured": "18 s", "verdict": each} for each in ("as expected", "worse", "not known")])
HealingRule.objects.create(kind="disk", mode="act", minutes=10, limit=80, rate=1, actor_name="a-long-name-" * 10)
HealingState.objects.create(pk=1, held=[["broker-gone", "Every broker of rack " + "a-rack-" * 20 + " is away."]],
    waiting=[["hot", "Broker 1 takes 3.0 times what brokers take on the average.", now_ms() + 60_000]])
for pk, state in ((60_000, "open"), (60_001, "done"), (60_002, "withdrawn")):
    Proposal.objects.create(pk=pk, kind="leaders", cause=f"leaders {pk}", state=state, made_at_ms=now_ms(),
        expires_at_ms=now_ms(), ended_at_ms=now_ms(), reason="3 partitions preferred on broker 2 led by others.",
        outlook="3 leaders would be elected; nothing is copied.", actor_name="a-long-name-" * 10)
RollingRestart.objects.create(actor_name="admin", sentence="Begins.")
StagedMove.objects.create(pk=60_000, actor_name="admin", action="move partitions", object_type="cluster", rate=250_000,
    object_name="2 topics", former={"orders": {"0": [1]}}, wanted={"orders": {"0": [2]}}, partition_count=40, left=22,
    batch_size=20, batches=1, sentence="Batch 1: 20 partitions being reassigned.")
somebody = User.objects.create_user("somebody", pk=10_000)
view = {"parameters": {"search": "orders-" * 30}, "hide": ["size", "lag"], "rows": 100, "is_shared": True}
named = "a-view-with-a-name-that-is-quite-long-" + "w" * 20
SavedView.objects.create(owner=somebody, pk=60_000, table="topics", name=named, **view)
somebody.name_rules.create(resource="topic", pattern="orders-*", level="operator")
contents, long = Contents("orders", 50), "a-name-without-a-space-" * 12
document = json.dumps({long[:90]: {"and": [long, 7, None]}, "id": 1}).encode()
contents.add([RecordView(0, n, n, (long + str(n)).encode(), document, ((long, b""),)) for n in range(50)])
found = {**contents.as_json(), "batches": told_of([BatchView(0, 0, 50, 900, "zstd")]), "silent": [1]}
keep(somebody, Topic.objects.get(name="orders"), (), "the newest 10,000 offsets", "end reached", found)
Topic.objects.filter(name="orders").update(day_growth_bytes=7_000_000, records_per_second=150.0)
slow = ConsumerGroup.objects.create(name="slow-export", state="Stable", coordinator=1, verdict="slow", severity=3,
    topics=["orders"], member_count=1, partition_count=1, lag=54_000, lag_per_second=125.0, arriving_per_second=150.0,
    behind_since_ms=now_ms() - 600_000)
GroupPartition.objects.create(group=slow, topic="orders", partition=0, committed=2, next_offset=54_002, lag=54_000,
    verdict="slow")
ClientLook.objects.create(at_ms=now_ms(), is_told=True)
ClientTraffic.objects.create(principal="User:shop", client_id="shop-web", host="10.0.0.7", topic="orders",
    software_name="apache-kafka-java", software_version="4.1.0", is_produce=True, records_per_second=150.0,
    bytes_per_second=30_000.0, used_at_ms=now_ms(), brokers=[1])
"""
