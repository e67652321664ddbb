"""What can be read: the tables of the pages, by the names they have here. Pure."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Read:
    """`page`: the route of the page whose table it is; what stands in its path between < and > is part of ours, too.

    `chosen`: query the page needs to show this table of several.
    """

    path: str
    page: str
    summary: str
    chosen: tuple[tuple[str, str], ...] = ()
    scope: str = "read"

    @property
    def parameters(self) -> list[str]:
        """Of the path."""
        return re.findall(r"{(?:\w+:)?(\w+)}", self.path)


READS = (
    Read("clusters", "clusters", "Clusters of this console in which the token's person may look at anything"),
    Read("clusters/compare", "cluster-compare", "What differs between two clusters: `left`, `right`, `kind`, `all`"),
    Read("brokers", "brokers", "Brokers: whether they are registered, what they lead and hold"),
    Read("brokers/{int:broker_id}/partitions", "broker-partitions", "What a broker leads and follows"),
    Read("brokers/{int:broker_id}/requests", "broker", "How long requests to a broker take, by API"),
    Read("brokers/{int:broker_id}/settings", "broker-settings", "Settings of a broker, and where they come from"),
    Read("topics", "topics", "Topics; `search` chooses"),
    Read("topics/{name}/partitions", "topic", "Leaders, replicas and ISR of a topic's partitions"),
    Read("topics/{name}/settings", "topic-settings", "Settings of a topic, and where they come from"),
    Read("topics/{name}/consumers", "topic-consumers", "How far groups are in a topic, by partition"),
    Read("topics/{name}/producers", "topic-producers", "Who writes to a topic, and which transactions are open in it"),
    Read(
        "topics/{name}/segments/{int:partition}",
        "topic-segments",
        "Segments of a partition, and when retention deletes each",
    ),
    Read("topics/{name}/history", "topic-history", "What has happened to a topic"),
    Read(
        "topics/{name}/records",
        "topic-records",
        "Records of a topic, from a place as on its page: `place`, `partition`, `offset`, `at`, `limit_records`",
        scope="records",
    ),
    Read(
        "topics/{name}/contents",
        "topic-contents",
        "What was counted in a topic's records when somebody last had them read on its page",
        scope="records",
    ),
    Read("groups", "consumers", "Consumer groups: state, lag, verdict"),
    Read("groups/{path:group}/offsets", "group", "What a group has committed, and its lag, by partition"),
    Read("groups/{path:group}/members", "group", "Members of a group", (("table", "members"),)),
    Read("placement", "placement", "Where replicas are, of all partitions"),
    Read("what-if", "what-if", "What each broker would have if: `lost`, `rack`, `added`, `traffic`, `kept`"),
    Read("moves", "placement", "Moves of replicas that are under way", (("table", "moves"),)),
    Read("reassignments", "placement", "Moves that were made here", (("table", "reassignments"),)),
    Read("retention", "retention", "What retention keeps and deletes, by topic"),
    Read("zookeeper", "zookeeper", "Servers of the ensemble"),
    Read("processes", "processes", "Processes the console runs, and what is true of them"),
    Read("streams", "streams", "Stream jobs and their pace"),
    Read("connectors", "connectors", "Connectors and their tasks"),
    Read("mirrors", "mirrors", "What is copied between clusters, by partition"),
    Read("probe", "probe", "What the probe has measured"),
    Read("completeness", "completeness", "What was counted of each window of a topic, by tier"),
    Read("deliveries", "delivery", "What was delivered of topics to groups, mirrors and sinks; `search` chooses"),
    Read(
        "topics/{name}/delivery",
        "topic-delivery",
        "Expected and received of a topic by produce time: `span`, or `since` and `until`; `reader` chooses",
    ),
    Read("drills", "drills", "Drills, and how they ended"),
    Read("drills/{int:number}", "drill", "What was expected of a drill, and what was measured"),
    Read("healing", "healing", "What self-healing proposes, and what became of that"),
    Read("alerts", "alerts", "Alerts that fire, and those that did"),
    Read("charts", "charts", "What is charted of the cluster, over a span: `span`, or `since` and `until`"),
    Read("topics/{name}/charts", "topic-charts", "What is charted of a topic"),
    Read("brokers/{int:broker_id}/charts", "broker-charts", "What is charted of a broker"),
    Read("groups/{path:group}/charts", "group-charts", "What is charted of a consumer group"),
    Read("processes/{name}/charts", "process-charts", "What is charted of a process"),
    Read("streams/{name}/charts", "stream-charts", "What is charted of a stream job"),
    Read("connectors/{path:name}/charts", "connector-charts", "What is charted of a connector"),
    Read("mirrors/{int:number}/charts", "mirror-charts", "What is charted of a mirrored topic"),
    Read("topics/{name}/leaders", "past-bands", "Who led a topic's partitions, and who was in sync, over a span"),
    Read("history", "history", "What has happened in the cluster"),
    Read(
        "dependencies",
        "dependencies",
        "Who writes and who reads topics; with `kind` and `name` what is around one object",
    ),
    Read("past/topics", "past", "Topics as they were at the moment `at`"),
    Read("past/groups", "past", "Consumer groups as they were at the moment `at`", (("table", "groups"),)),
    Read("past/brokers", "past", "Brokers as they were at the moment `at`", (("table", "brokers"),)),
    Read(
        "past/topics/{name}/partitions",
        "past-topic",
        "Leaders, replicas and ISR of a topic at the moment `at`, and now",
    ),
    Read("changes", "changes", "Changes that wait for a second person or for their time, and those that did"),
    Read("audit", "audit", "What people did"),
    Read("users", "users", "People and their roles"),
    Read("kafka-users", "credentials", "Users of the cluster that log in by SCRAM"),
    Read("footprint", "footprint", "The console's own requests of the last minute, by broker and API"),
    Read("quotas", "quotas", "Quotas, and how much of them is used"),
    Read("access-rules", "acl-rules", "Rules of who may do what in the cluster"),
    Read("denials", "acl-denials", "What was denied of late"),
)
