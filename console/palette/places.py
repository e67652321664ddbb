"""Pages and actions by their names, as the palette offers them. Pure."""

from console.access.places import Place
from console.access.reach import Resource
from console.access.roles import Right

_TOPIC, _GROUP, _PROCESS = Resource.TOPIC, Resource.GROUP, Resource.PROCESS

PAGES = (
    Place("Overview", "overview", "home start"),
    Place("Brokers", "brokers"),
    Place("Topics", "topics", resource=_TOPIC),
    Place("Consumers", "consumers", "groups lag", _GROUP),
    Place("Schemas", "schemas", "registry avro protobuf subjects", _TOPIC),
    Place("Placement", "placement", "replicas leaders racks"),
    Place("What if", "what-if", "simulate lost broker rack added traffic capacity", names_all=True),
    Place("Retention", "retention", "deleted disk", _TOPIC),
    Place("Dependencies", "dependencies", "graph lineage what hangs on what reads writes", _TOPIC),
    Place("Processes", "processes", "start stop restart", _PROCESS),
    Place("ZooKeeper", "zookeeper", "ensemble"),
    Place("Znodes", "zookeeper-znodes", "zookeeper tree", names_all=True),
    Place("Connectors", "connectors", "connect", _PROCESS),
    Place("Streams", "streams", "spark jobs", _PROCESS),
    Place("Mirrors", "mirrors", "copies clusters", _TOPIC),
    Place("Completeness", "completeness", "audit loss duplicates windows", _TOPIC),
    Place("Delivery", "delivery", "expected received latency control center audit", _TOPIC),
    Place("Changes", "changes", "approve second person waiting windows freeze rules", right=Right.OPERATE),
    Place("Declaration", "declaration", "files yaml gitops apply diff drift export"),
    Place("Alerts", "alerts", "rules silence", names_all=True),
    Place("Self-healing", "healing", "proposals anomalies repair automatic", names_all=True),
    Place("Charts", "charts", "rates requests latency", names_all=True),
    Place("History", "history", "changes events"),
    Place("As it was", "past", "time travel history placement then"),
    Place("Access lists", "acls", "acl rules matrix", names_all=True),
    Place("Denials", "acl-denials", "acl refused", names_all=True),
    Place("Who may what", "acl-try-out", "acl try out", names_all=True),
    Place("Kafka users", "credentials", "scram passwords", names_all=True),
    Place("Quotas", "quotas", "limits throttle", names_all=True),
    Place("Footprint", "footprint", "own requests console load budget reading in flight"),
    Place("Audit", "audit", "who did", right=Right.ADMINISTER),
    Place("Users", "users", "people roles rules", right=Right.ADMINISTER),
    Place("Read-only mode", "read-only", "freeze", right=Right.ADMINISTER),
    Place("Tokens", "tokens", "api programs"),
    Place("Views", "views", "saved columns filters lists"),
)
ACTIONS = (
    Place("Create a topic", "topic-create", "new add", _TOPIC, Right.OPERATE),
    Place("Change many topics", "topics-many", "bulk delete settings", _TOPIC, Right.OPERATE),
    Place("Size a topic", "topic-size", "partitions throughput", _TOPIC),
    Place("Prepare a consumer group", "group-prepare", "offsets new", _GROUP, Right.OPERATE),
    Place("Move partitions", "move-partitions", "reassign replicas", right=Right.OPERATE),
    Place("Elect preferred leaders", "elect-leaders", "balance", right=Right.OPERATE),
    Place("Add a broker", "process-add-broker", "new", right=Right.OPERATE),
    Place("Drills", "drills", "chaos fault pause slow kill test report", _PROCESS, names_all=True),
    Place("Restart all brokers", "rolling-restart", "rolling", _PROCESS),
    Place("Change the ensemble", "ensemble-change", "zookeeper grow shrink replace", right=Right.OPERATE),
    Place("Create a connector", "connector-choose", "new", right=Right.ADMINISTER),
    Place("Add a stream job", "stream-choose", "new spark", right=Right.ADMINISTER),
    Place("Register a schema", "schema-register", "new avro", _TOPIC, Right.OPERATE),
    Place("Set a quota", "quota-change", "limit", right=Right.OPERATE, names_all=True),
    Place("Allow or deny", "acl-create", "acl rule new", right=Right.GRANT, names_all=True),
    Place("Rules for a producer or consumer", "acl-use", "acl template client", right=Right.GRANT, names_all=True),
    Place("Access rules from a file", "acl-file", "acl csv import", right=Right.GRANT, names_all=True),
    Place("Create a Kafka user", "credential-create", "scram new", right=Right.ADMINISTER, names_all=True),
    Place("Create a user", "user-create", "person new", right=Right.ADMINISTER),
)
#: (title, route, right) of the tabs of a topic.
TABS = (
    ("records", "topic-records", Right.RECORDS),
    ("consumers", "topic-consumers", Right.VIEW),
    ("producers", "topic-producers", Right.VIEW),
    ("settings", "topic-settings", Right.VIEW),
    ("retention", "topic-retention", Right.VIEW),
    ("purge", "topic-purge", Right.OPERATE),
    ("about", "topic-about", Right.OPERATE),
    ("charts", "topic-charts", Right.VIEW),
    ("history", "topic-history", Right.VIEW),
    ("delete", "topic-delete", Right.OPERATE),
)
