"""Django settings. Everything a person may change comes from an environment variable named BARNABAS_…"""

import os
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import environ
from django.utils.functional import lazy

from broker.common.extras import missing_part
from broker.common.installation import CODE_DIR, IS_CHECKOUT, default_data_dir, jobs_dir
from console import features
from console.cluster.schemas.configuration import read_registry_address
from console.ecosystem.connectors.configuration import read_connect
from console.ecosystem.mirrors.configuration import read_mirror_clusters
from console.kit.common.added_clusters import read_added
from console.kit.common.clusters_file import ClustersFile
from console.kit.common.current_cluster import MAIN
from console.kit.common.databases import alias_of, database_of
from console.kit.common.given import read_days, read_megabytes, read_port, read_switch
from console.kit.common.redis_urls import celery_url, default_socket_path
from console.kit.common.secret_files import load_or_create_secret
from console.kit.features.declaration import Database
from console.kit.features.tables import apps_of, hooks_of, labels_in, libraries_of, load_features
from console.people.directory.configuration import read_directory
from console.people.sso.configuration import read_single_sign_on
from console.shell.web.proxy import read_networks, read_prefix

#: Of templates/ and static/: beside the packages, or in a wheel inside of this one.
ASSETS_DIR = CODE_DIR if IS_CHECKOUT else CODE_DIR / "console" / "_assets"
env = environ.Env()

# What a person may set ----------------------------------------------------------------------------------------------
DATA_DIR = Path(env("BARNABAS_DATA", default="") or default_data_dir()).expanduser().resolve()
LOG_DIR = DATA_DIR / "logs"
RUN_DIR = DATA_DIR / "run"
SECRETS_DIR = DATA_DIR / "secrets"
if "," in str(DATA_DIR):
    sys.exit(f"BARNABAS_DATA={DATA_DIR}: a path with a comma cannot be used, for log.dirs of a broker is a list.")

REDIS_URL = env("BARNABAS_REDIS_URL", default=f"unix://{default_socket_path(RUN_DIR)}")
BOOTSTRAP_SERVERS = env("BARNABAS_BOOTSTRAP_SERVERS", default="127.0.0.1:9092")
#: How the console reaches the cluster: a file of Kafka's client properties, mode 600; this one if none is named.
CLIENT_CONFIG_IS_NAMED = bool(env("BARNABAS_CLIENT_CONFIG", default=""))
CLIENT_CONFIG = str(
    Path(env("BARNABAS_CLIENT_CONFIG", default="") or SECRETS_DIR / "client.properties").expanduser().resolve()
)
#: False: the cluster's brokers run elsewhere, and none is started or added here.
RUNS_BROKERS = env("BARNABAS_BROKERS", default="3").strip() != "0"
#: What `up` starts beside brokers: False leaves a cluster from elsewhere with the console alone.
RUNS_PROCESSES = RUNS_BROKERS or any(
    env(f"BARNABAS_{name}", default="").strip().lower() not in ("", "0", "false", "no", "off")
    for name in ("DEMO", "DOCUMENTS", "PROBE", "AUDIT", "ZOOKEEPER_PORT")
)
#: host:port of each ZooKeeper server, comma separated; a chroot (/kafka) may follow; empty: not watched.
ZOOKEEPER = env("BARNABAS_ZOOKEEPER", default="127.0.0.1:2181" if RUNS_BROKERS else "")
#: The authority of a secured cluster of this host, and what it has signed.
TLS_DIR = SECRETS_DIR / "tls"
#: The password of ZooKeeper's super user, who alone may change the ensemble.
ZOOKEEPER_SECRET_FILE = SECRETS_DIR / "zookeeper-super"
#: user:password of the brokers, and the console, in ZooKeeper; in an ensemble of one's own only if it is named.
ZOOKEEPER_DIGEST_FILE = env(
    "BARNABAS_ZOOKEEPER_DIGEST_FILE",
    default="" if env("BARNABAS_ZOOKEEPER", default="") else str(SECRETS_DIR / "zookeeper-digest"),
)
if ZOOKEEPER_DIGEST_FILE:
    ZOOKEEPER_DIGEST_FILE = str(Path(ZOOKEEPER_DIGEST_FILE).expanduser().resolve())
#: A properties file with Kafka's zookeeper.ssl.… keys, where the ensemble is spoken to within TLS.
ZOOKEEPER_TLS_FILE = env("BARNABAS_ZOOKEEPER_TLS_FILE", default="")
if ZOOKEEPER_TLS_FILE:
    ZOOKEEPER_TLS_FILE = str(Path(ZOOKEEPER_TLS_FILE).expanduser().resolve())
#: What makes the console's ways to the cluster and to ZooKeeper; tests put gateways in memory here.
CLUSTER_GATEWAY = "console.kit.gateway.connect.kafka_gateway"
ZOOKEEPER_GATEWAY = "console.kit.gateway.connect.kazoo_gateway"
#: user:password of the REST of the worker that `up` starts, and the password of its registry where that asks for one.
CONNECT_LOGIN_FILE = SECRETS_DIR / "connect-login"
REGISTRY_PASSWORD_FILE = SECRETS_DIR / "registry-password"
#: Where connectors of that worker may read and write files, comma separated.
CONNECT_FILES = [
    DATA_DIR / "files",
    *(Path(item).expanduser().resolve() for item in env.list("BARNABAS_CONNECT_FILES", default=[])),
]
#: The workers of Kafka Connect, BARNABAS_CONNECT…; without one there are no connectors.
CONNECT = read_connect(os.environ)
#: Where brokers on this host may keep their logs besides DATA_DIR, comma separated.
LOG_ROOTS = [Path(item).expanduser().resolve() for item in env.list("BARNABAS_LOG_ROOTS", default=[])]
CONSOLE_PORT = read_port(env("BARNABAS_CONSOLE_PORT", default="8080"), "BARNABAS_CONSOLE_PORT")
SPARK_MASTER = env("BARNABAS_SPARK_MASTER", default="local[2]")
#: Where an administrator puts stream jobs of this host's own, NAME.py each; what lies there is run as it is.
JOBS_DIR = jobs_dir()
#: Stream jobs there may be: each takes about 1.5 GB of memory while it is busy.
STREAM_JOBS_MAX = env.int("BARNABAS_STREAM_JOBS", default=6)
#: The name of this host in Celery's queues: a process is run by the worker of the host it belongs to.
HOST_NAME = env("BARNABAS_HOST_NAME", default=socket.gethostname())

#: Made when it is first used: who only asks (`manage.py help`) leaves nothing behind.
SECRET_KEY = env("BARNABAS_SECRET_KEY", default="") or lazy(load_or_create_secret, str)(
    SECRETS_DIR / "django-secret-key"
)
ALLOWED_HOSTS = env.list("BARNABAS_ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])
#: True behind a TLS proxy: cookies are then sent over https only.
TLS_PROXY = read_switch(env("BARNABAS_TLS_PROXY", default="0"), "BARNABAS_TLS_PROXY")
#: Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed; with TLS one on this machine is.
TRUSTED_PROXIES = read_networks(
    env.list("BARNABAS_TRUSTED_PROXY", default=["127.0.0.1", "::1"] if TLS_PROXY else []), "BARNABAS_TRUSTED_PROXY"
)
#: Where the console hangs below its host, as `kafka/`; empty: at the top.
PATH_PREFIX = read_prefix(env("BARNABAS_PATH_PREFIX", default=""), "BARNABAS_PATH_PREFIX")
#: True: /status/ tells everybody, without a login, how far the clusters could be written and read.
STATUS_PAGE = read_switch(env("BARNABAS_STATUS_PAGE", default="0"), "BARNABAS_STATUS_PAGE")
#: True: drills may be begun, which kill, pause or slow one of the cluster's processes. Whoever has the demo's traffic
#: run through a cluster says that it is one to try things on.
DRILLS = read_switch(
    env("BARNABAS_DRILLS", default=env("BARNABAS_DEMO", default="1" if RUNS_BROKERS else "0")), "BARNABAS_DRILLS"
)
#: True: nothing is changed by this console, whoever asks.
READ_ONLY = read_switch(env("BARNABAS_READ_ONLY", default="0"), "BARNABAS_READ_ONLY")
#: Bootstrap servers, by alias, of clusters that mirrors copy into from here. A cluster's client configuration, where
#: it needs one, is SECRETS_DIR/mirror-ALIAS.properties.
MIRROR_CLUSTERS = read_mirror_clusters(os.environ)
#: The schema registry, BARNABAS_SCHEMA_REGISTRY_…; None: there is none.
SCHEMA_REGISTRY = read_registry_address(os.environ)

#: Patterns of further internal topics, which no convention and no configuration known here names; behind a ! of those
#: that are none, whatever conventions say.
INTERNAL_TOPICS = tuple(env.list("BARNABAS_INTERNAL_TOPICS", default=[]))
#: Which parts of records are hidden from whom (`records/masking.py`); of mode 600. Without it none is.
MASKING_FILE = DATA_DIR / "masking.toml"
#: Which Protobuf message a topic's records are (`records/protobuf_files.py`), by files in the directory beside it.
PROTOBUF_FILE = DATA_DIR / "protobuf.toml"
#: Bytes of records per second that people may read by this console, all together and each; 0: no limit.
READ_BUDGET = read_megabytes(env("BARNABAS_READ_BUDGET", default="20"), "BARNABAS_READ_BUDGET")
READ_BUDGET_PER_PERSON = read_megabytes(
    env("BARNABAS_READ_BUDGET_PER_PERSON", default=str(READ_BUDGET / 2e6)), "BARNABAS_READ_BUDGET_PER_PERSON"
)
#: Requests that a process of the console has under way at one broker at most; 0: no limit.
REQUESTS_IN_FLIGHT = env.int("BARNABAS_REQUESTS_IN_FLIGHT", default=8)
#: Rules of alerts and who is told; of mode 600. Without it nobody is.
ALERTS_FILE = (
    Path(os.environ.get("BARNABAS_ALERTS_FILE", "").strip() or DATA_DIR / "alerts.toml").expanduser().resolve()
)
#: The provider of single sign-on, BARNABAS_OIDC_…; None: people log in with passwords of our own.
SINGLE_SIGN_ON = read_single_sign_on(os.environ)
#: For so many days from its owner's last login by single sign-on or the directory a token opens something.
TOKEN_SIGN_ON_DAYS = read_days(env("BARNABAS_TOKEN_SIGN_ON_DAYS", default="7"), "BARNABAS_TOKEN_SIGN_ON_DAYS")
#: A directory that people log in with, BARNABAS_LDAP_…; None: there is none.
DIRECTORY = read_directory(os.environ)
#: Further clusters, and what the first is called; of mode 600. Without it there is one.
CLUSTERS_FILE = (
    Path(os.environ.get("BARNABAS_CLUSTERS_FILE", "").strip() or DATA_DIR / "clusters.toml").expanduser().resolve()
)
_clusters = ClustersFile(
    CLUSTERS_FILE,
    bool(env("BARNABAS_CLUSTERS_FILE", default="")),
    SECRETS_DIR,
    read_connect=read_connect,
    read_registry=read_registry_address,
)
MAIN_CLUSTER, CLUSTERS = _clusters.read()
if read_switch(env("BARNABAS_MIRROR", default="0"), "BARNABAS_MIRROR"):
    _second = _clusters.second(env("BARNABAS_BROKER_PORT", default="9092"), ZOOKEEPER, ZOOKEEPER_DIGEST_FILE)
    CLUSTERS = _second | CLUSTERS
#: Clusters that administrators added on a page, a file each; those that cannot be used stay out, and the page says why.
ADDED_CLUSTERS_DIR = SECRETS_DIR / "clusters"
_added = read_added(ADDED_CLUSTERS_DIR, _clusters, {MAIN, *CLUSTERS})
CLUSTERS = CLUSTERS | _added.clusters
LEFT_OUT_CLUSTERS = _added.left_out
#: Which of them this process is for, where no address says so: a collector is for one.
CLUSTER = env("BARNABAS_CLUSTER", default="") or MAIN
if CLUSTER not in (MAIN, *CLUSTERS):
    sys.exit(f"BARNABAS_CLUSTER={CLUSTER[:60]!r}: {CLUSTERS_FILE} declares no such cluster.")
DEBUG = False

#: What the console consists of; one that is left out of the list leaves no trace.
FEATURES = load_features(features.PACKAGES)
#: What features below call of those above (`kit/common/hook_point.py`).
HOOKS = hooks_of(FEATURES)
# Django -------------------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "channels",
    "console",
    *apps_of(FEATURES),
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "console.shell.web.content_policy.ContentPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "console.shell.web.bundles.BundleMiddleware",
    "console.shell.web.page_compression.PageCompressionMiddleware",
    "console.shell.web.request_log.RequestLogMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "console.kit.access.idle.IdleMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "console.kit.common.zones.ZoneMiddleware",
    "console.shell.web.cluster_path.ClusterMiddleware",
    "console.kit.access.initial_password.OneTimePasswordMiddleware",
    "console.shell.web.fresh_pages.FreshPagesMiddleware",
    "console.shell.web.streamed_files.StreamedFilesMiddleware",
    "console.people.readonly.guard.ReadOnlyMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "console.shell.web.wrong_method.WrongMethodMiddleware",
    "console.shell.changes.middleware.PostedMiddleware",
    "console.kit.tables.middleware.TablesMiddleware",
]

TEMPLATES = [
    {
        "NAME": "django",
        "BACKEND": "console.kit.common.pages.Pages",
        "DIRS": [ASSETS_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "console.kit.access.context.rights",
                "console.kit.tables.context.tables",
                "console.state.clusters.context.cluster",
                "console.shell.changes.context.waiting",
            ],
            "loaders": [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])],
            "libraries": {
                "figures": "console.kit.common.figures",
                "charts": "console.kit.common.sparkline",
                "headers": "console.kit.features.header_tags",
                **libraries_of(FEATURES),
            },
            "builtins": ["django.templatetags.static"],
        },
    },
]

ROOT_URLCONF = "console.urls"
ASGI_APPLICATION = "console.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
USE_THOUSAND_SEPARATOR = False

# Database: readers never wait for the writer (WAL), and a writer waits for another instead of failing. ----------
DATABASE_FILE = DATA_DIR / "console.sqlite3"
#: Only `manage.py migrate` makes the file: who finds none waits for it, and puts no empty one where it was.
SQLITE: dict[str, object] = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": f"file:{quote(str(DATABASE_FILE))}?mode=rw",
}
DATABASES = {"default": env.db_url("BARNABAS_DATABASE_URL") if env("BARNABAS_DATABASE_URL", default="") else SQLITE}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    _name = str(DATABASES["default"]["NAME"])
    if not _name.startswith((":memory:", "file:")):
        DATABASES["default"]["NAME"] = str(DATA_DIR / _name)  # one file, wherever one starts
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    if "postgresql" in str(DATABASES["default"]["ENGINE"]) and (_missing := missing_part("postgres")):
        sys.exit(f"BARNABAS_DATABASE_URL names a PostgreSQL. {_missing}")
#: Of each further cluster: a file beside the console's, or a schema in its PostgreSQL.
CLUSTERS_DIR = DATA_DIR / "clusters"
DATABASES |= {alias_of(name): database_of(name, DATABASES["default"], CLUSTERS_DIR) for name in CLUSTERS}
#: Labels of apps whose rows are the console's: people, logins and rights, and what was done, whichever cluster it was
#: done to; and of apps whose rows are a cluster's. Each cluster has tables of its own; processes, and operations on
#: them, are those of the first, so that elsewhere their tables stay empty.
APPS_OF_CONSOLE = labels_in(FEATURES, Database.CONSOLE) | {"auth", "contenttypes", "sessions"}
APPS_OF_CLUSTER = labels_in(FEATURES, Database.CLUSTER)
DATABASE_ROUTERS = ["console.kit.common.databases.ClusterRouter"]

# Login and cookies --------------------------------------------------------------------------------------------------
#: At the top, whichever cluster was asked for: so it tells nobody whether there is one.
LOGIN_URL = f"/{PATH_PREFIX}login/"
LOGIN_REDIRECT_URL = "overview"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    *(["console.people.directory.backend.DirectoryBackend"] if DIRECTORY else []),
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
#: What a browser then holds cookies of these names to. `__Host-`: of this host alone, and of all of it.
_COOKIE_PREFIX = ("__Secure-" if PATH_PREFIX else "__Host-") if TLS_PROXY else ""
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}barnabas_session"
BROWSER_COOKIE_NAME = f"{_COOKIE_PREFIX}barnabas_browser"
SIGN_ON_COOKIE_NAME = f"{_COOKIE_PREFIX}barnabas_sign_on"
LEFT_COOKIE_NAME = f"{_COOKIE_PREFIX}barnabas_left"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"/{PATH_PREFIX}"
SESSION_COOKIE_SECURE = TLS_PROXY
#: Nobody has asked for so long: the login is over, before its age says so.
SESSION_IDLE_SECONDS = 2 * 3600
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}barnabas_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = TLS_PROXY
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "console.shell.web.errors.csrf_failure"
CSRF_TRUSTED_ORIGINS = env.list("BARNABAS_TRUSTED_ORIGINS", default=[])
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
#: A year, for this host alone: what else hangs below its name is not ours to decide for.
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if TLS_PROXY else 0

# Static files: served by the web process itself from where they are; no build step. ---------------------------------
STATIC_URL = f"/{PATH_PREFIX}static/"
STATICFILES_DIRS = [ASSETS_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 60

# Channels and Celery share one Redis. `memory://` keeps both inside one process: for tests. -------------------------
if REDIS_URL.startswith("memory://"):
    CHANNEL_LAYERS: dict[str, dict[str, Any]] = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    CELERY_BROKER_URL, CELERY_RESULT_BACKEND = "memory://", "cache+memory://"
else:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL], "prefix": "barnabas"},
        }
    }
    CELERY_BROKER_URL = CELERY_RESULT_BACKEND = celery_url(REDIS_URL)

#: A task may be delivered twice (its worker was killed) but is never lost: tasks are short and idempotent.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
if not REDIS_URL.startswith("memory://"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": 20,
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
    }
#: In threads: what a task waits for, another does not.
CELERY_WORKER_POOL = "console.shell.launch.worker_pool:ThreadPool"
CELERY_TASK_TIME_LIMIT = 15
#: Nobody asks a worker anything but by tasks.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_DISABLE_RATE_LIMITS = True
CELERY_RESULT_EXPIRES = 600
CELERY_TASK_DEFAULT_QUEUE = f"host.{HOST_NAME}"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# Logs ---------------------------------------------------------------------------------------------------------------
#: The end of the audit's chain, out of reach of who writes the database alone.
AUDIT_END_FILE = SECRETS_DIR / "audit-end"
#: One JSON line per finished request; the demo reads it as the topic console.access.
REQUEST_LOG_FILE = LOG_DIR / "console-access.log"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "bare": {"format": "%(message)s"},
    },
    "filters": {"refusals": {"()": "console.shell.web.refused_requests.RefusalsInOneLine"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
        "stdout": {"class": "logging.StreamHandler", "formatter": "bare", "stream": "ext://sys.stdout"},
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        "django.channels.server": {"level": "WARNING"},
        "django.request": {"filters": ["refusals"]},
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
        # A terminal keeps nothing, so it is no witness.
        "console.kit.audit.seal_log": {"handlers": [] if sys.stdout.isatty() else ["stdout"], "propagate": False},
    },
}
