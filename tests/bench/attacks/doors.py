"""The two secured listeners that are attacked beside the open one: their settings, and what attackers know of them."""

import json
from pathlib import Path
from typing import NamedTuple

from tests.bench.attacks.aim import Aim
from tests.certificates import DAY, Authority, inline
from tests.zookeeper_server import free_ports

MECHANISM = "SCRAM-SHA-256"
#: Who may log in, by PLAIN or by SCRAM, and may nothing unless a rule says so.
USER, PASSWORD = "alice", "alice's own"
#: Each in a file of its own: certificate and key.
WORTHLESS = ("expired", "early", "foreign")


class Doors(NamedTuple):
    """Where they are, and the directory with `ca.crt` and the certificates that prove nothing."""

    tls_port: int
    sasl_port: int
    directory: str

    @classmethod
    def of(cls, aim: Aim) -> "Doors":
        return cls(**json.loads(aim.doors))

    def __str__(self) -> str:
        return json.dumps(self._asdict())


def make_doors(directory: Path) -> Doors:
    """Files of an authority of its own; every other certificate is signed by another one, or for another day."""
    directory.mkdir(parents=True)
    authority = Authority("doors")
    (directory / "broker.pem").write_text(authority.server().pem())
    authority.write(directory)
    made = {
        "expired": authority.client(begins=-3 * DAY, ends=-DAY),
        "early": authority.client(begins=DAY, ends=3 * DAY),
        "foreign": Authority("somebody else").client(),
    }
    for name, credential in made.items():
        (directory / f"{name}.pem").write_text(credential.pem())
    return Doors(*free_ports(2), str(directory))


def settings_of(doors: Doors) -> dict[str, str]:
    """Of a broker: who comes to the open port is a super user, the two others are for whoever proves something."""
    directory = Path(doors.directory)
    addresses = {"PLAINTEXT": "{port}", "SSL": doors.tls_port, "SASL_PLAINTEXT": doors.sasl_port}
    user = f'user_{USER}="{PASSWORD}"'
    return {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in addresses.items()),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(directory / "broker.pem"),
        "ssl.truststore.certificates": inline((directory / "ca.crt").read_text()),
        "ssl.client.auth": "required",
        "sasl.enabled.mechanisms": f"PLAIN,{MECHANISM}",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {user};"
        ),
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
