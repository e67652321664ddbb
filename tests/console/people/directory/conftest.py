"""A real slapd of this test's own, with people, groups, TLS, and what makes trouble in it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from console.people.directory.configuration import DirectorySettings, read_directory
from tests.barnabas_cluster import await_true
from tests.zookeeper_server import free_ports

SLAPD = shutil.which("slapd") or shutil.which("slapd", path="/usr/sbin:/usr/lib/openldap")
BASE = "dc=example,dc=org"
CONSOLE, SECRET = f"cn=console,{BASE}", "the console's own"
CONF = """
include {schema}/core.schema
include {schema}/cosine.schema
include {schema}/inetorgperson.schema
include {schema}/nis.schema
modulepath {modules}
moduleload back_mdb
moduleload memberof
pidfile {directory}/slapd.pid
TLSCertificateFile {directory}/server.pem
TLSCertificateKeyFile {directory}/server.key
TLSCACertificateFile {directory}/ca.pem
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{console}" read by anonymous auth by * none
database mdb
suffix {base}
rootdn cn=root,{base}
directory {directory}/db
overlay memberof
"""
PEOPLE = f"""
dn: {BASE}
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: {CONSOLE}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: console
userPassword: {SECRET}

dn: uid=alice,{BASE}
objectClass: inetOrgPerson
uid: alice
cn: Alice Ärmel
sn: A
mail: alice@example.org
userPassword: wonderland

dn: uid=bob,{BASE}
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: B
userPassword: builder

dn: uid=admin,{BASE}
objectClass: inetOrgPerson
uid: admin
cn: Not our admin
sn: A
userPassword: somebody else

dn: uid=twin,{BASE}
objectClass: inetOrgPerson
uid: twin
mail: twins@example.org
cn: Twin
sn: T
userPassword: twin

dn: uid=twin2,{BASE}
objectClass: inetOrgPerson
uid: twin2
mail: twins@example.org
cn: Twin
sn: T
userPassword: twin

dn: ou=groups,{BASE}
objectClass: organizationalUnit
ou: groups

dn: ou=elsewhere,{BASE}
objectClass: referral
objectClass: extensibleObject
ou: elsewhere
ref: ldap://127.0.0.1:1/ou=elsewhere,{BASE}

dn: cn=kafka-admins,ou=groups,{BASE}
objectClass: groupOfNames
cn: kafka-admins
member: uid=alice,{BASE}

dn: cn=nothing here,ou=groups,{BASE}
objectClass: groupOfNames
cn: nothing here
member: uid=bob,{BASE}

dn: cn=by-name,ou=groups,{BASE}
objectClass: posixGroup
cn: by-name
gidNumber: 1
memberUid: alice
"""


@pytest.fixture(scope="session")
def slapd(tmp_path_factory):
    """Its directory and its ports: of LDAP, and of LDAP within TLS."""
    if SLAPD is None:
        pytest.skip("slapd is not installed")
    directory = tmp_path_factory.mktemp("slapd")
    _write(directory)
    plain, tls = free_ports(2)
    urls = f"ldap://127.0.0.1:{plain}/ ldaps://127.0.0.1:{tls}/"
    command = [SLAPD, "-d", "0", "-f", str(directory / "slapd.conf"), "-h", urls]
    with (directory / "slapd.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        await_true(lambda: _answers(plain), "slapd answers", 30)
        yield directory, plain, tls
    finally:
        process.terminate()
        process.wait(20)


def _write(directory: Path) -> None:
    root = Path(SLAPD).parents[1] if Path(SLAPD).parent.name == "sbin" else Path("/usr")
    schema = next(item for item in (root.parent / "etc/ldap/schema", Path("/etc/ldap/schema")) if item.is_dir())
    modules = next(item for item in (root / "lib/ldap", Path("/usr/lib/ldap")) if item.is_dir())
    (directory / "db").mkdir()
    _certificates(directory)
    text = CONF.format(directory=directory, schema=schema, modules=modules, base=BASE, console=CONSOLE)
    (directory / "slapd.conf").write_text(text)
    (directory / "people.ldif").write_text(PEOPLE)
    command = [SLAPD, "-T", "add", "-f", directory / "slapd.conf", "-l", directory / "people.ldif"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def _certificates(directory: Path) -> None:
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True, timeout=60)

    new = ("req", "-newkey", "rsa:2048", "-nodes", "-days", "30")
    openssl(*new, "-x509", "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(*new, "-x509", "-subj", "/CN=Other authority", "-keyout", "other.key", "-out", "other.pem")
    openssl(*new, "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr")
    (directory / "san").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    signed = ("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
    openssl(*signed, "-days", "30", "-extfile", "san", "-out", "server.pem")


def _answers(port: int) -> bool:
    import socket

    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture
def settings_of(tmp_path, slapd):
    """settings_of(**more): the settings of a console that asks it, by TLS if nothing else is said."""
    directory, _, tls = slapd
    rules, secret = tmp_path / "rules.toml", tmp_path / "secret"
    rules.write_text('[groups.kafka-admins]\nrole = "admin"\n')
    rules.chmod(0o600)
    secret.write_text(SECRET)
    secret.chmod(0o600)

    def read(**more: str) -> DirectorySettings:
        named = {
            "URL": f"ldaps://127.0.0.1:{tls}",
            "BASE": BASE,
            "RULES_FILE": str(rules),
            "BIND_DN": CONSOLE,
            "BIND_PASSWORD_FILE": str(secret),
            "CA_FILE": str(directory / "ca.pem"),
            "GROUP_BASE": f"ou=groups,{BASE}",
            "USER_ATTRIBUTES": "uid,mail",
            "USER_CLASS": "inetOrgPerson",
        }
        values = {f"BARNABAS_LDAP_{name}": value for name, value in (named | more).items() if value}
        return read_directory(values)

    return read
