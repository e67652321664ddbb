"""A cluster as a person fills it in. A secret is never shown: left empty, the one that is kept stays."""

from collections.abc import Mapping
from typing import Any

from django import forms

from console.cluster.schemas.configuration import read_registry_address
from console.ecosystem.connectors.configuration import read_connect
from console.kit.common.declared_clusters import COLOURS, NAME, TITLE_LENGTH_MAX, ClustersError, said_of
from console.kit.gateway.connection.client_file import MECHANISMS, PROTOCOLS, properties_of, security_of
from console.kit.gateway.errors import ClientRefusedError
from console.shell.fleet.kept import SECRETS, KeptForm

_PEM_LENGTH_MAX = 60_000
_TEXT_LENGTH_MAX = 2_000


def _pem(label: str, hint: str) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono", "autocomplete": "off"})
    return forms.CharField(label=label, required=False, max_length=_PEM_LENGTH_MAX, widget=area, help_text=hint)


def _secret(label: str) -> forms.CharField:
    hidden = forms.PasswordInput(attrs={"autocomplete": "new-password"})
    return forms.CharField(label=label, required=False, max_length=256, strip=False, widget=hidden)


def _text(label: str, hint: str = "", length: int = _TEXT_LENGTH_MAX) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=length, help_text=hint)


class ClusterForm(forms.Form):
    """`kept` is what it makes, when it is valid."""

    name = forms.RegexField(
        NAME, max_length=24, strip=True, help_text="In addresses, for good: a-z, 0-9 and -, a letter first."
    )
    title = _text("Title", "As people call it.", TITLE_LENGTH_MAX)
    colour = forms.ChoiceField(choices=[(colour, colour) for colour in COLOURS])
    bootstrap = forms.CharField(label="Bootstrap servers", max_length=_TEXT_LENGTH_MAX, help_text="HOST:PORT, …")
    read_only = forms.BooleanField(label="Read-only: nothing of it is changed here", required=False)
    protocol = forms.ChoiceField(label="Security", choices=[(protocol, protocol) for protocol in PROTOCOLS])
    mechanism = forms.ChoiceField(
        label="Login by", choices=[(mechanism, mechanism) for mechanism in MECHANISMS], required=False
    )
    username = _text("User", length=256)
    password = _secret("Password")
    authorities = _pem("Authorities of the brokers' certificates", "PEM. Empty: the system's.")
    certificate = _pem("The console's own certificate", "PEM, where brokers ask for one.")
    key = _pem("And its key", "PEM, without a password.")
    zookeeper = _text("ZooKeeper", "HOST:PORT, …[/chroot], where the console may ask it.")
    connect = _text("Kafka Connect", "http://HOST:8083, …")
    connect_user = _text("Its user", length=100)
    connect_password = _secret("Its password")
    schema_registry = _text("Schema registry", "https://HOST:8081")
    registry_user = _text("Its user", length=100)
    registry_password = _secret("Its password")

    def __init__(self, former: KeptForm | None, sealed: Mapping[str, str], *args: Any, **kwargs: Any):
        """`sealed` are secrets that were typed a page before."""
        super().__init__(*args, **kwargs)
        self._secrets = {**(former.secrets if former else {}), **sealed}
        self.typed: dict[str, str] = dict(sealed)
        if former is not None:
            self.fields["name"].disabled = True
        for secret in SECRETS:
            if self._secrets.get(secret):
                self.fields[secret].help_text = "One is kept. Empty: it stays."

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if self.errors:
            return fields
        self.typed |= {secret: fields[secret] for secret in SECRETS if fields.get(secret)}
        values = {name: value for name, value in fields.items() if name not in SECRETS}
        self.kept = KeptForm(fields["name"], _without_unused(values), _needed(values, {**self._secrets, **self.typed}))
        self._check_login(self.kept)
        self._check_addresses(self.kept)
        return fields

    def _check_login(self, kept: KeptForm) -> None:
        if kept.login.protocol.startswith("SASL") and not (kept.login.username and kept.login.password):
            self.add_error("username", "A login has a user and a password.")
            return
        if bool(kept.login.certificate) != bool(kept.login.key):
            self.add_error("certificate", "A certificate and its key come together.")
            return
        try:
            self.security = security_of(properties_of(kept.login))
        except ClientRefusedError as error:
            self.add_error("protocol", str(error))

    def _check_addresses(self, kept: KeptForm) -> None:
        for user, secret in (("connect_user", "connect_password"), ("registry_user", "registry_password")):
            if bool(kept.values.get(user)) != bool(kept.secrets.get(secret)):
                self.add_error(user, "User and password come together.")
                return
            if not _is_one_line(str(kept.values.get(user, "")), kept.secrets.get(secret, "")):
                self.add_error(
                    user, "User and password are of ASCII, without spaces around, and no colon is in a user."
                )
                return
        try:
            table = {
                key: kept.values[key] for key in ("title", "colour", "bootstrap", "zookeeper") if kept.values.get(key)
            }
            said_of(kept.name, table)
            _check_connect(kept)
            _check_registry(kept)
        except (ClustersError, SystemExit) as error:
            self.add_error(None, str(error))


def _check_connect(kept: KeptForm) -> None:
    """Raises SystemExit, as the settings would."""
    addresses = kept.values.get("connect", "")
    if kept.values.get("connect_user") and not addresses:
        raise ClustersError("A user of Kafka Connect is named, and no Kafka Connect.")
    connect_settings = read_connect({"BARNABAS_CONNECT": addresses})
    if kept.values.get("connect_user") and any(
        not _is_kept_to_itself(address) for address in connect_settings.addresses
    ):
        raise ClustersError("Kafka Connect would be sent the password readably: it must be https.")


def _check_registry(kept: KeptForm) -> None:
    url = kept.values.get("schema_registry", "")
    if kept.values.get("registry_user") and not url:
        raise ClustersError("A user of the schema registry is named, and no schema registry.")
    read_registry_address({"BARNABAS_SCHEMA_REGISTRY_URL": url} if url else {})
    if kept.values.get("registry_user") and not _is_kept_to_itself(url):
        raise ClustersError("The schema registry would be sent the password readably: it must be https.")


def _is_one_line(user: str, password: str) -> bool:
    """Return whether user and password fit on one line each, as the file is read."""
    both = user + password
    return both.isascii() and both.isprintable() and ":" not in user and password == password.strip()


def _is_kept_to_itself(url: str) -> bool:
    return url.startswith(("https://", "http://127.0.0.1:", "http://localhost:", "http://[::1]:"))


def _without_unused(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values without those that the chosen security does not use."""
    values = {name: value for name, value in cleaned.items() if value not in ("", None, False) and name != "name"}
    if not cleaned["protocol"].startswith("SASL"):
        values = {name: value for name, value in values.items() if name not in ("mechanism", "username")}
    if not cleaned["protocol"].endswith("SSL"):
        values = {name: value for name, value in values.items() if name not in ("authorities", "certificate")}
    return values


def _needed(values: Mapping[str, Any], secrets: Mapping[str, str]) -> dict[str, str]:
    wanted = {
        "password": values["protocol"].startswith("SASL"),
        "key": values["protocol"].endswith("SSL") and bool(values["certificate"]),
        "connect_password": bool(values["connect_user"]),
        "registry_password": bool(values["registry_user"]),
    }
    return {name: secrets[name] for name in SECRETS if wanted[name] and secrets.get(name)}
