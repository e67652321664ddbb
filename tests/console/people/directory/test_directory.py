"""People who log in by a directory: a real one, and one that lies."""

import os
import socket
import subprocess
import sys
import threading

import pytest
from django.contrib.auth.models import Group, User

from broker.common import extras
from console.kit.access.identities import may_have_password
from console.kit.access.models import Identity
from console.kit.audit.models import AuditEvent
from console.people.directory import client as client_module
from console.people.directory.backend import AWAY
from console.people.directory.client import AwayError, DirectoryClient
from console.people.directory.configuration import read_directory
from console.people.directory.messages import NotLdapError, answer_of, bind, length_of, search
from console.people.directory.people import person_in
from tests.console.conftest import PASSWORD
from tests.console.people.directory.conftest import BASE, CONSOLE, SECRET


class TestPeople:
    def test_who_knows_the_password_is_who_the_directory_says(self, settings_of):
        alice = person_in(settings_of(), "alice", "wonderland")
        assert (alice.name, alice.shown_name, alice.groups) == ("alice", "Alice Ärmel", {"kafka-admins"})
        assert len(alice.subject) == 36
        by_mail = person_in(settings_of(), "alice@example.org", "wonderland")
        assert by_mail.subject == alice.subject

    @pytest.mark.parametrize("password", ["builder", "Wonderland", "", " ", "\0", "wonderland\0"])
    def test_who_does_not_is_nobody_and_an_empty_password_least_of_all(self, settings_of, password):
        assert person_in(settings_of(), "alice", password) is None

    @pytest.mark.parametrize(
        "name", ["*", "a*", "alice)(uid=*", "alice*)", "\\61lice", "(uid=alice)", "nobody", "", "alice\0", "é" * 150]
    )
    def test_a_name_is_a_name_whatever_is_in_it(self, settings_of, name):
        assert person_in(settings_of(), name, "wonderland") is None

    @pytest.mark.parametrize("typed", ["alice", "ALICE", " alice ", "alice@example.org"])
    def test_however_a_name_is_typed_groups_that_go_by_names_know_the_person(self, settings_of, typed):
        """A group may take away, too: whoever types a name otherwise must not be without it."""
        assert person_in(settings_of(GROUP_MEMBER="memberUid"), typed, "wonderland").groups == {"by-name"}

    def test_who_has_no_name_that_groups_could_go_by_is_not_let_in_without_them(self, settings_of):
        named = settings_of(GROUP_MEMBER="memberUid", USER_ATTRIBUTES="cn", USER_CLASS="organizationalRole")
        with pytest.raises(AwayError, match="has no uid"):
            person_in(named, "console", SECRET)

    def test_groups_may_be_told_by_the_entry_itself(self, settings_of):
        assert person_in(settings_of(GROUP_BASE="", MEMBER_OF="memberOf"), "alice", "wonderland").groups == frozenset()
        assert person_in(settings_of(GROUP_BASE="", MEMBER_OF="mail"), "alice", "wonderland").groups == {
            "alice@example.org"
        }

    def test_a_name_of_two_entries_is_nobodys(self, settings_of):
        with pytest.raises(AwayError, match="several entries have one name"):
            person_in(settings_of(), "twins@example.org", "twin")

    def test_a_referral_leads_nowhere(self, settings_of):
        with pytest.raises(AwayError, match="code 10"):
            person_in(settings_of(BASE=f"ou=elsewhere,{BASE}"), "alice", "wonderland")

    def test_who_has_no_lasting_number_is_not_taken_for_somebody(self, settings_of):
        with pytest.raises(AwayError, match="has not one employeeNumber"):
            person_in(settings_of(ID_ATTRIBUTE="employeeNumber"), "alice", "wonderland")


class TestConnection:
    def test_a_certificate_of_another_authority_is_not_trusted(self, settings_of, slapd):
        with pytest.raises(AwayError, match="is not trusted"):
            person_in(settings_of(CA_FILE=str(slapd[0] / "other.pem")), "alice", "wonderland")
        with pytest.raises(AwayError, match="is not trusted"):
            person_in(settings_of(CA_FILE=""), "alice", "wonderland")

    def test_on_this_machine_it_may_be_plain_and_elsewhere_it_is_not(self, settings_of, slapd, monkeypatch):
        plain = settings_of(URL=f"ldap://127.0.0.1:{slapd[1]}")
        assert person_in(plain, "alice", "wonderland") is not None
        monkeypatch.setattr("console.people.directory.configuration._LOOPBACK", set())
        assert plain.starts_tls
        assert person_in(plain, "alice", "wonderland") is not None
        with pytest.raises(AwayError, match="is not trusted"):
            person_in(
                settings_of(URL=f"ldap://127.0.0.1:{slapd[1]}", CA_FILE=str(slapd[0] / "other.pem")), "alice", "x"
            )

    def test_the_consoles_own_login_that_is_refused_is_no_word_about_anybody(self, settings_of, tmp_path):
        (tmp_path / "secret").write_text("another")
        with pytest.raises(AwayError, match="own login there is refused"):
            person_in(settings_of(), "alice", "wonderland")

    @pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400\r\n\r\n", b"\x30\x84\x7f\xff\xff\xff", b"\x30\x02\x02\x00"])
    def test_who_is_no_directory_is_told_from_one(self, says, tmp_path):
        with liar(says) as port, pytest.raises(AwayError):
            person_in(_plain(port, tmp_path), "alice", "wonderland")

    def test_one_that_hangs_costs_seconds(self, tmp_path, monkeypatch):
        monkeypatch.setattr(client_module, "TIMEOUT_S", 0.3)
        with liar(None) as port, pytest.raises(AwayError):
            person_in(_plain(port, tmp_path), "alice", "wonderland")

    @pytest.mark.parametrize("kind", [b"\x61", b"\x65", b"\x78"])
    def test_an_entry_that_nobody_asked_for_is_no_answer_to_a_login(self, kind, tmp_path):
        messages = [_entry(1, "uid=alice"), _answered(kind, 1)]
        with (
            liar(b"".join(messages)) as port,
            pytest.raises(AwayError),
            DirectoryClient(_plain(port, tmp_path)) as client,
        ):
            client.bind(f"uid=alice,{BASE}", "wonderland")

    @pytest.mark.parametrize("kind", [b"\x65", b"\x78"])
    @pytest.mark.parametrize("number", [0, 1])
    def test_one_that_says_goodbye_is_away(self, kind, number, tmp_path):
        message = _answered(kind, number)
        with liar(message) as port, pytest.raises(AwayError), DirectoryClient(_plain(port, tmp_path)) as client:
            client.bind(f"uid=alice,{BASE}", "wonderland")

    def test_one_that_tells_without_an_end_takes_no_memory(self, tmp_path, monkeypatch):
        monkeypatch.setattr(client_module, "BYTES_MAX", 1_000)
        entry = _entry(1, "uid=alice", b"x" * 200)
        with liar(entry * 6) as port, pytest.raises(AwayError, match="more than 1000 bytes"):
            person_in(_plain(port, tmp_path), "alice", "wonderland")

    def test_one_that_is_not_there(self, tmp_path):
        with pytest.raises(AwayError, match="Connection refused"):
            person_in(_plain(1, tmp_path), "alice", "wonderland")


class TestMessages:
    def test_a_bind_with_a_name_has_a_password(self):
        with pytest.raises(ValueError, match="password"):
            bind(1, CONSOLE, "")

    def test_a_filter_is_made_of_values(self):
        sent = search(1, BASE, [("uid", "*)(uid=*")], ("objectClass", "person"), ["cn"], most=2, seconds=5)
        assert b"\xa3\x0f\x04\x03uid\x04\x08*)(uid=*" in sent

    @pytest.mark.parametrize("data", [b"\x30", b"\x30\x82\x01", b""])
    def test_a_length_is_known_when_it_has_come(self, data):
        assert length_of(data) is None

    @pytest.mark.parametrize("data", [b"\x30\x80", b"\x30\x89", b"GET "])
    def test_a_length_that_is_none(self, data):
        with pytest.raises(NotLdapError):
            length_of(data)

    @pytest.mark.parametrize("data", [b"\x30\x00", b"\x30\x80" * 5_000, b"\x30\x05\x02\x01\x01\x64\x00", bytes(40)])
    def test_what_is_no_answer_ends_in_one_error(self, data):
        with pytest.raises(NotLdapError):
            answer_of(data)


class TestLogin:
    @pytest.fixture(autouse=True)
    def _directory(self, settings, settings_of, db):
        settings.DIRECTORY = settings_of()
        settings.AUTHENTICATION_BACKENDS = [
            "django.contrib.auth.backends.ModelBackend",
            "console.people.directory.backend.DirectoryBackend",
        ]
        Group.objects.get_or_create(name="admin")

    def log_in(self, client, name: str, password: str):
        return client.post("/login/", {"username": name, "password": password})

    def test_a_person_comes_in_with_what_the_groups_give(self, client, settings):
        assert self.log_in(client, "alice", "wonderland")["Location"] == "/"
        user = User.objects.get(username="ldap:alice")
        assert [group.name for group in user.groups.all()] == ["admin"]
        assert not user.has_usable_password()
        assert not may_have_password(user)
        assert client.session.get_expiry_age() <= settings.DIRECTORY.session_seconds
        event = AuditEvent.objects.get(action="log in")
        assert (event.actor_name, event.after) == ("ldap:alice", {"by": "ldap"})
        assert event.actor_identity.endswith(f"of {settings.DIRECTORY.issuer}")

        client.logout()
        self.log_in(client, "ALICE", "wonderland")
        assert Identity.objects.count() == 1

    def test_a_group_that_was_taken_away_takes_the_rights_along(self, client, settings, tmp_path):
        self.log_in(client, "alice", "wonderland")
        client.logout()
        (tmp_path / "rules.toml").write_text('[groups."others"]\nrole = "admin"\n')
        answer = self.log_in(client, "alice", "wonderland")
        assert "None of your groups" in answer.text
        assert not User.objects.get(username="ldap:alice").groups.exists()

    def test_who_is_in_no_group_is_told_only_with_the_right_password(self, client):
        assert "None of your groups" in self.log_in(client, "bob", "builder").text
        assert "is not right" in self.log_in(client, "bob", "wrong").text
        assert not User.objects.filter(username__startswith="ldap:").exists()

    def test_a_name_of_an_account_here_is_not_asked_there(self, client, monkeypatch):
        User.objects.create_user("admin", password=PASSWORD)
        assert "is not right" in self.log_in(client, "admin", "somebody else").text
        monkeypatch.setattr("console.people.directory.people.person_in", None)
        assert self.log_in(client, "Admin", "mistyped").status_code == 401
        assert self.log_in(client, "admin", PASSWORD).status_code == 302

    def test_a_directory_that_is_away_is_told_from_a_wrong_password(self, client, settings, settings_of, caplog):
        settings.DIRECTORY = settings_of(URL="ldap://127.0.0.1:1")
        answer = self.log_in(client, "alice", "wonderland")
        assert answer.status_code == 401
        assert AWAY in answer.text
        assert "wonderland" not in caplog.text
        assert self.log_in(client, "alice", "").status_code == 401

    def test_guessing_is_made_slow_there_too(self, client):
        for _ in range(5):
            self.log_in(client, "alice", "guess")
        assert self.log_in(client, "alice", "wonderland").status_code == 429

    def test_a_deactivated_account_stays_out(self, client):
        self.log_in(client, "alice", "wonderland")
        client.logout()
        User.objects.filter(username="ldap:alice").update(is_active=False)
        assert "was deactivated" in self.log_in(client, "alice", "wonderland").text

    def test_a_password_set_here_opens_nothing(self, client):
        self.log_in(client, "alice", "wonderland")
        client.logout()
        user = User.objects.get(username="ldap:alice")
        user.set_password(PASSWORD)
        user.save()
        assert self.log_in(client, "ldap:alice", PASSWORD).status_code == 401


class TestSettings:
    @pytest.mark.parametrize(
        ("more", "sentence"),
        [
            ({"URL": ""}, "is set without BARNABAS_LDAP_URL"),
            ({"URL": "http://ldap.example"}, "must be ldaps://host"),
            ({"URL": "ldaps://a:b@ldap.example"}, "must be ldaps://host"),
            ({"BASE": ""}, "without BARNABAS_LDAP_BASE"),
            ({"BIND_PASSWORD_FILE": ""}, "set together"),
            ({"USER_ATTRIBUTES": "uid)(x"}, "the name of an attribute"),
            ({"NAME": "a:b"}, "at most 20 letters"),
            ({"SESSION_MINUTES": "1"}, "from 5 to 720"),
            ({"RULES_FILE": "/nowhere"}, "cannot be read"),
            ({"CA_FILE": "/nowhere"}, "is no file"),
            ({"UNKNOWN": "1"}, "means nothing"),
        ],
    )
    def test_what_cannot_be_ends_in_one_sentence(self, settings_of, more, sentence):
        with pytest.raises(SystemExit, match=sentence):
            settings_of(**more)

    def test_without_its_packages_the_setting_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(extras, "find_spec", lambda name: None)
        with pytest.raises(SystemExit, match=r"BARNABAS_LDAP_URL is set\. .* pyasn1, which is not installed"):
            read_directory({"BARNABAS_LDAP_URL": "ldaps://directory"})

    def test_without_an_address_there_is_none_and_nothing_is_imported_for_it(self, tmp_path):
        assert read_directory({}) is None
        program = (
            "import django, sys; django.setup(); import console.urls, console.people.users.login_views\n"
            "from django.conf import settings\n"
            "assert len(settings.AUTHENTICATION_BACKENDS) == 1 and settings.DIRECTORY is None\n"
            "late = ('pyasn1', 'console.people.directory.client')\n"
            "assert not [name for name in sys.modules if name.startswith(late)]\n"
        )
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BARNABAS_")}
        environment |= {"DJANGO_SETTINGS_MODULE": "console.settings", "BARNABAS_DATA": str(tmp_path)}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=100)


def _plain(port: int, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text("")
    rules.chmod(0o600)
    named = {"URL": f"ldap://127.0.0.1:{port}", "BASE": BASE, "RULES_FILE": str(rules)}
    return read_directory({f"BARNABAS_LDAP_{name}": value for name, value in named.items()})


def _tagged(tag: bytes, content: bytes) -> bytes:
    return tag + b"\x82" + len(content).to_bytes(2) + content


def _entry(number: int, dn: str, value: bytes = b"") -> bytes:
    attribute = _tagged(b"\x30", _tagged(b"\x04", b"cn") + _tagged(b"\x31", _tagged(b"\x04", value)))
    attributes = _tagged(b"\x04", dn.encode()) + _tagged(b"\x30", attribute)
    return _tagged(b"\x30", b"\x02\x01" + bytes([number]) + _tagged(b"\x64", attributes))


def _answered(kind: bytes, number: int) -> bytes:
    return _tagged(b"\x30", b"\x02\x01" + bytes([number]) + _tagged(kind, b"\x0a\x01\x00\x04\x00\x04\x00"))


class liar:
    """Accepts and says one thing; None: nothing, for ever."""

    def __init__(self, says: bytes | None):
        self._says = says

    def __enter__(self) -> int:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._held: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()
        return self._socket.getsockname()[1]

    def __exit__(self, *_exception) -> None:
        for item in (self._socket, *self._held):
            item.close()

    def _serve(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        self._held.append(connection)
        if self._says is not None:
            connection.recv(4_096)
            connection.sendall(self._says)
            connection.close()
