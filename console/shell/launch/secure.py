"""What `make up SECURE=1` prepares for clients: users, and files by which console, person, sources and job are those.

The first user may do all; the demo's processes have users of their own, with the rights they need. The files are for
their owner only. Without SECURE they go again: with them nobody would reach a cluster in plain text.
"""

from pathlib import Path

from django.conf import settings

from console.kit.common.secret_files import load_or_create_secret
from console.kit.gateway.credentials.first_user import NewUser, admit_users
from console.processes.job_users import PROBE, REGISTRY, SOURCES, STREAMS, JobUser, job_client_file, job_users
from console.processes.properties_file import write_properties
from console.processes.secured import FIRST_USER, LISTENER, authority_file, make_certificates
from console.processes.setup import Setup, SetupError
from console.shell.launch.progress import LaunchProgress

MECHANISM = "SCRAM-SHA-256"
_HEAD = "# Written by `make up SECURE=1`, and removed without SECURE."


def client_file() -> Path:
    """Return Kafka's client properties, for commands, the console and people's jobs."""
    return settings.SECRETS_DIR / "client.properties"


def kcat_file() -> Path:
    """Return librdkafka's properties, for kcat."""
    return settings.SECRETS_DIR / "kcat.conf"


def prepare_clients(setup: Setup) -> None:
    """Write the client files before any broker starts. Raises SetupError if another user's file is in the way."""
    for path in (client_file(), kcat_file(), *map(job_client_file, (SOURCES, STREAMS, REGISTRY, PROBE))):
        if path.exists() and not path.read_text().startswith(_HEAD):
            if not setup.is_secure:
                continue
            raise SetupError(f"{path} was not written by `make up SECURE=1`: move it away, or start without SECURE.")
        path.unlink(missing_ok=True)
    if setup.is_secure:
        make_certificates()
        write_properties(client_file(), _client_properties(FIRST_USER, _password()))
        write_properties(kcat_file(), _kcat_properties())
        for user in job_users(setup):
            write_properties(job_client_file(user.name), _client_properties(user.name, _password_of(user)))


def admit_first_users(setup: Setup, progress: LaunchProgress) -> None:
    """Create the first users in ZooKeeper when it serves. Raises SetupError."""
    jobs = job_users(setup)
    users = (NewUser(FIRST_USER, _password()), *(NewUser(job.name, _password_of(job), job.rules) for job in jobs))
    with progress.doing("security") as outcome:
        problem = admit_users(setup.zookeeper, settings.ZOOKEEPER_DIGEST_FILE, users, MECHANISM)
        if problem:
            raise SetupError(problem)
        outcome.detail = f"TLS, SCRAM, access lists; User:{FIRST_USER} may do all"


def _password() -> str:
    return load_or_create_secret(settings.SECRETS_DIR / "first-user")


def _password_of(user: JobUser) -> str:
    return load_or_create_secret(settings.SECRETS_DIR / f"user-{user.name}")


def _client_properties(user: str, password: str) -> str:
    login = f'org.apache.kafka.common.security.scram.ScramLoginModule required username="{user}"'
    return f"""\
{_HEAD}
security.protocol={LISTENER}
sasl.mechanism={MECHANISM}
sasl.jaas.config={login} password="{password}";
ssl.truststore.type=PEM
ssl.truststore.location={authority_file()}
"""


def _kcat_properties() -> str:
    return f"""\
{_HEAD}
security.protocol={LISTENER}
sasl.mechanism={MECHANISM}
sasl.username={FIRST_USER}
sasl.password={_password()}
ssl.ca.location={authority_file()}
"""
