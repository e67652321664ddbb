"""The environment variables that a person may set, with defaults and meanings.

docs/reference/settings.md is made of this table, and `up` names a variable that is not in it.
`tests/tidy/test_reference.py` misses a variable that the code reads and this table lacks.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple


class Variable(NamedTuple):
    """`default` and `meaning` are Markdown. A default is code in backticks, or words where it is no value."""

    name: str
    default: str
    meaning: str


class VariableGroup(NamedTuple):
    title: str
    variables: tuple[Variable, ...]


_MACHINE = VariableGroup(
    "This machine",
    (
        Variable(
            "BARNABAS_DATA", "`data` of the checkout; installed: `~/.local/share/barnabas`", "directory of all data"
        ),
        Variable(
            "BARNABAS_BROKERS",
            "`3`",
            "brokers on this machine. `0` with a cluster of your own: then no ZooKeeper, demo or probe starts "
            "unless it is named",
        ),
        Variable(
            "BARNABAS_BROKER_PORT",
            "`9092`",
            "port of the first broker; the others follow, and metrics are 100 above",
        ),
        Variable("BARNABAS_ZOOKEEPER_PORT", "`2181`", "port of the embedded ZooKeeper"),
        Variable(
            "BARNABAS_CONNECT_PORT",
            "`8083`",
            "REST port of the Connect worker on this machine. `0`: none is started, and the demo has no sources",
        ),
        Variable(
            "BARNABAS_REGISTRY_PORT", "`8081`", "port of the schema registry on this machine. `0`: none is started"
        ),
        Variable(
            "BARNABAS_SECURE",
            "`0`",
            "`1`: TLS, logins and access lists for the brokers of this machine; `up --secure`, `make up SECURE=1`",
        ),
        Variable(
            "BARNABAS_DEMO",
            "`1`; without brokers `0`",
            "`0`: no demo traffic and no stream job; `up --no-demo`, `make up DEMO=0`",
        ),
        Variable(
            "BARNABAS_DOCUMENTS",
            "none",
            "text files, each line of which becomes a record of `documents.lines`; `up --documents`, "
            "`make up DOCUMENTS=`",
        ),
        Variable(
            "BARNABAS_PROBE",
            "as `BARNABAS_DEMO`",
            "`0`: no probe, `1`: one also without the demo. Its HTTP listens 99 above `BARNABAS_BROKER_PORT`",
        ),
        Variable(
            "BARNABAS_MIRROR",
            "`0`",
            "`1`: a second small cluster, 200 above `BARNABAS_BROKER_PORT`, and a mirror there and back; "
            "`up --mirror`, `make up MIRROR=1`",
        ),
        Variable(
            "BARNABAS_AUDIT",
            "`0`",
            "`1`: the message audit counts what is appended and committed; `up --audit`, `make up AUDIT=1`",
        ),
        Variable(
            "BARNABAS_DRILLS",
            "as `BARNABAS_DEMO`",
            "`1`: drills are allowed, which kill, pause or slow one of the cluster's processes on purpose",
        ),
        Variable(
            "BARNABAS_CONNECT_FILES",
            "none",
            "directories, comma separated, that connectors of the worker may read and write besides `data/files`",
        ),
        Variable(
            "BARNABAS_LOG_ROOTS",
            "none",
            "directories, comma separated, below which brokers may keep logs besides `data/`",
        ),
        Variable(
            "BARNABAS_JOBS",
            "`data/jobs`",
            "directory of your own stream jobs, `NAME.py` each; they run as they are",
        ),
        Variable("BARNABAS_STREAM_JOBS", "`6`", "highest number of stream jobs"),
        Variable("BARNABAS_SPARK_MASTER", "`local[2]`", "`spark://host:port` runs the stream jobs there"),
        Variable("BARNABAS_HOST_NAME", "this host's name", "the host whose processes this machine's worker runs"),
    ),
)
_CLUSTER = VariableGroup(
    "The cluster",
    (
        Variable(
            "BARNABAS_BOOTSTRAP_SERVERS", "the embedded brokers", "the cluster that the console shows; any Apache Kafka"
        ),
        Variable(
            "BARNABAS_CLIENT_CONFIG",
            "`data/secrets/client.properties`, if it exists",
            "Kafka's client properties (mode 600) by which console, sources and stream jobs reach the cluster",
        ),
        Variable(
            "BARNABAS_ZOOKEEPER",
            "embedded; none without brokers",
            "`host:port,…[/chroot]` of your own ensemble",
        ),
        Variable(
            "BARNABAS_ZOOKEEPER_TLS_FILE",
            "none: plain text",
            "properties with Kafka's `zookeeper.ssl.…` keys, to reach your own ZooKeeper within TLS",
        ),
        Variable(
            "BARNABAS_ZOOKEEPER_DIGEST_FILE",
            "embedded: made, in `data/secrets/`",
            "`user:password` of brokers and console in ZooKeeper, a file of mode 600",
        ),
        Variable(
            "BARNABAS_CLUSTERS_FILE",
            "`clusters.toml` in the data directory, if it exists",
            "further clusters of this console: [Several clusters](../console/clusters.md)",
        ),
        Variable(
            "BARNABAS_MIRROR_CLUSTERS",
            "the second cluster of `BARNABAS_MIRROR`",
            "`ALIAS=host:port,… ALIAS=…`: clusters that mirrors copy into from here or from there. "
            "The client properties of one are `data/secrets/mirror-ALIAS.properties`",
        ),
        Variable(
            "BARNABAS_INTERNAL_TOPICS",
            "none",
            "patterns (`*`, `?`; commas between) of further internal topics; behind a `!` topics that are none, "
            "as `!_mine*`",
        ),
    ),
)
_AROUND = VariableGroup(
    "Connect and schema registry of your own",
    (
        Variable(
            "BARNABAS_CONNECT",
            "the worker on this machine",
            "workers of another Kafka Connect, `http://host:8083,…`; then none is started here",
        ),
        Variable(
            "BARNABAS_CONNECT_AUTHENTICATION_FILE",
            "none",
            "`user:password` of their REST (mode 600); https only, or on this machine",
        ),
        Variable("BARNABAS_CONNECT_CA_FILE", "the system's", "PEM of the authority of their certificate"),
        Variable(
            "BARNABAS_SCHEMA_REGISTRY_URL",
            "the registry on this machine",
            "`http://host:port` of any registry with Confluent's REST interface; then none is started here",
        ),
        Variable(
            "BARNABAS_SCHEMA_REGISTRY_USER",
            "none",
            "the console's user there; https only, or on this machine",
        ),
        Variable("BARNABAS_SCHEMA_REGISTRY_PASSWORD_FILE", "none", "the password of that user, a file of mode 600"),
        Variable("BARNABAS_SCHEMA_REGISTRY_CA_FILE", "the system's", "PEM of the authority of its certificate"),
    ),
)
_CONSOLE = VariableGroup(
    "The console",
    (
        Variable("BARNABAS_CONSOLE_PORT", "`8080`", "port of the console on 127.0.0.1"),
        Variable(
            "BARNABAS_ADMIN_PASSWORD",
            "generated, in `data/secrets/`",
            "password of the first user, `admin`",
        ),
        Variable("BARNABAS_READ_ONLY", "`0`", "`1`: the console shows everything and changes nothing"),
        Variable(
            "BARNABAS_STATUS_PAGE",
            "`0`",
            "`1`: `/status/` shows without a login how far each cluster could be written and read; it names no "
            "host, broker or topic",
        ),
        Variable(
            "BARNABAS_ALERTS_FILE",
            "`alerts.toml` in `data/`",
            "rules and channels of [alerts](../console/alerts.md) (mode 600)",
        ),
        Variable("BARNABAS_DATABASE_URL", "SQLite in `data/`", "PostgreSQL, `postgres://user:password@host/name`"),
        Variable(
            "BARNABAS_REDIS_URL",
            "embedded, on a unix socket: the newer of the bundled Valkey and this machine's own server",
            "your own Redis or Valkey, 7.0 or newer, `redis://…`",
        ),
        Variable("BARNABAS_SECRET_KEY", "generated, in `data/secrets/`", "Django's secret key"),
        Variable(
            "BARNABAS_READ_BUDGET",
            "`20`",
            "MB per second of records that people may read by this console, all together. `0`: no limit",
        ),
        Variable(
            "BARNABAS_READ_BUDGET_PER_PERSON",
            "half of `BARNABAS_READ_BUDGET`",
            "the same for each person",
        ),
        Variable(
            "BARNABAS_REQUESTS_IN_FLIGHT",
            "`8`",
            "requests that a process of the console has under way at one broker. `0`: no limit. *Console load* "
            "shows where it was reached",
        ),
        Variable(
            "BARNABAS_TOKEN_SIGN_ON_DAYS",
            "`7`",
            "days that an API token of a single sign-on or directory account works after its owner's last login there",
        ),
    ),
)
_PROXY = VariableGroup(
    "Behind a proxy",
    (
        Variable(
            "BARNABAS_TLS_PROXY",
            "`0`",
            "`1` behind a TLS proxy that sets `X-Forwarded-For` and `X-Forwarded-Proto`: secure cookies, HSTS",
        ),
        Variable("BARNABAS_ALLOWED_HOSTS", "`127.0.0.1,localhost`", "host names of the console"),
        Variable("BARNABAS_PATH_PREFIX", "none", "`/kafka` when the proxy serves the console below a path"),
        Variable(
            "BARNABAS_TRUSTED_PROXY",
            "with `BARNABAS_TLS_PROXY`: this machine",
            "addresses whose forwarded headers are believed",
        ),
        Variable(
            "BARNABAS_TRUSTED_ORIGINS",
            "none",
            "`https://…`, when the proxy changes the `Host` header; for forms and websockets",
        ),
    ),
)
_COMMANDS = VariableGroup(
    "Commands that ask a console",
    (
        Variable(
            "BARNABAS_URL",
            "`http://127.0.0.1:8080`",
            "address of the console for `barnabas api`, `diff`, `apply`, `drift`, `export`",
        ),
        Variable("BARNABAS_TOKEN_FILE", "none", "file of mode 600 with the API token of these commands"),
    ),
)
_OIDC = VariableGroup(
    "Single sign-on",
    (
        Variable(
            "BARNABAS_OIDC_ISSUER",
            "none: no single sign-on",
            "the issuer, https, exactly as the provider's discovery document has it",
        ),
        Variable("BARNABAS_OIDC_CLIENT_ID", "must be set", "the console's name at the provider"),
        Variable(
            "BARNABAS_OIDC_RULES_FILE",
            "must be set",
            "the rights that groups give: a TOML file that others cannot write, read at each login",
        ),
        Variable(
            "BARNABAS_OIDC_CLIENT_SECRET_FILE",
            "none: a public client",
            "a file of mode 600 with the client's secret, read at each login",
        ),
        Variable("BARNABAS_OIDC_CA_FILE", "the system's", "PEM of the authorities of the provider's certificate"),
        Variable("BARNABAS_OIDC_NAME", "`sso`", "the name on the login page, and before users' names: `sso:alice`"),
        Variable("BARNABAS_OIDC_SCOPES", "`openid profile`", "the scopes of the request"),
        Variable(
            "BARNABAS_OIDC_NAME_CLAIM", "`preferred_username`", "claim of the name; `realm_access.name` is a path"
        ),
        Variable("BARNABAS_OIDC_GROUPS_CLAIM", "`groups`", "claim of the groups; `realm_access.roles` is a path"),
        Variable(
            "BARNABAS_OIDC_SESSION_MINUTES",
            "`480`",
            "length of such a login, however much it is used; at most 720",
        ),
        Variable(
            "BARNABAS_OIDC_LOCAL_LOGIN",
            "`allowed`",
            "`break-glass`: passwords open superusers' accounts only (`admin`, `createsuperuser`)",
        ),
        Variable(
            "BARNABAS_OIDC_LOCAL_PASSWORDS",
            "`0`",
            "`1`: an account of single sign-on may have a password too",
        ),
    ),
)
_LDAP = VariableGroup(
    "A directory (LDAP)",
    (
        Variable(
            "BARNABAS_LDAP_URL",
            "none: no directory",
            "`ldaps://host[:636]`, or `ldap://host[:389]` for StartTLS; plain text only on this machine",
        ),
        Variable("BARNABAS_LDAP_BASE", "must be set", "the entry below which people are searched"),
        Variable(
            "BARNABAS_LDAP_RULES_FILE",
            "must be set",
            "the rights that groups give, as under [Single sign-on](../operating/single-sign-on.md#rules); read "
            "at each login",
        ),
        Variable("BARNABAS_LDAP_BIND_DN", "none: anonymous", "the console's own login for the search"),
        Variable("BARNABAS_LDAP_BIND_PASSWORD_FILE", "none", "its password, in a file of mode 600"),
        Variable("BARNABAS_LDAP_CA_FILE", "the system's", "PEM of the authorities of the directory's certificate"),
        Variable(
            "BARNABAS_LDAP_USER_ATTRIBUTES",
            "`uid`",
            "attributes that hold the typed name (`sAMAccountName`, `uid,mail`)",
        ),
        Variable("BARNABAS_LDAP_USER_CLASS", "any", "the class of a person's entry"),
        Variable("BARNABAS_LDAP_ID_ATTRIBUTE", "`entryUUID`", "the lasting identity of a person (`objectGUID`)"),
        Variable("BARNABAS_LDAP_SHOWN_ATTRIBUTE", "`cn`", "the name of a person on pages"),
        Variable(
            "BARNABAS_LDAP_GROUP_BASE",
            "none",
            "the entry below which groups are searched; a group is named by its `cn`",
        ),
        Variable(
            "BARNABAS_LDAP_GROUP_MEMBER",
            "`member`",
            "the attribute of a group that has the person (`memberUid`: the name typed)",
        ),
        Variable(
            "BARNABAS_LDAP_MEMBER_OF",
            "`memberOf`",
            "without a group base: the attribute of the person that names groups, exactly",
        ),
        Variable("BARNABAS_LDAP_NAME", "`ldap`", "the name before users' names: `ldap:alice`"),
        Variable(
            "BARNABAS_LDAP_SESSION_MINUTES",
            "`480`",
            "length of such a login, however much it is used; at most 720",
        ),
    ),
)
#: In the order of docs/reference/settings.md; the last two are tables of pages of their own.
GROUPS = (_MACHINE, _CLUSTER, _AROUND, _CONSOLE, _PROXY, _COMMANDS, _OIDC, _LDAP)
#: Every variable by its name.
VARIABLES = {variable.name: variable for group in GROUPS for variable in group.variables}
#: Set by our processes for each other.
INTERNAL = frozenset({"BARNABAS_CLUSTER", "BARNABAS_FORK_SERVER_DESCRIPTOR", "BARNABAS_RUN_TOKEN"})
#: Old name: present name. `up` refuses the old one: what it switched on would silently stay off.
RENAMED = {"BARNABAS_SECURED": "BARNABAS_SECURE"}
#: Variables of make, which passes them on as these (Makefile).
_OF_MAKE = {
    "AUDIT": "BARNABAS_AUDIT",
    "DEMO": "BARNABAS_DEMO",
    "DOCUMENTS": "BARNABAS_DOCUMENTS",
    "MIRROR": "BARNABAS_MIRROR",
    "SECURE": "BARNABAS_SECURE",
}


def complaints(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield one sentence for each variable of `environment` that was meant for us and that nothing reads."""
    for name in sorted(environment):
        if name.startswith("BARNABAS_") and name not in VARIABLES and name not in INTERNAL:
            nearest = get_close_matches(name, VARIABLES, 1, 0.85)
            yield f"{name} is not read." + (f" Did you mean {nearest[0]}?" if nearest else "")
        elif name in _OF_MAKE and _OF_MAKE[name] not in environment:
            yield f"{name} is read by make alone. Set {_OF_MAKE[name]} instead."
