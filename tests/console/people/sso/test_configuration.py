"""What is set wrong ends the program with a sentence; nothing of the secret is in it."""

import pytest

from console.kit.common.owned_files import FileError, read_secret
from console.people.sso.configuration import PREFIX, is_safe_address, read_single_sign_on


@pytest.fixture
def environment(tmp_path):
    secret, rules = tmp_path / "secret", tmp_path / "groups.toml"
    secret.write_text("  s3cret-s3cret\n")
    secret.chmod(0o600)
    rules.write_text('default = "viewer"')
    rules.chmod(0o644)
    sso_settings = {"ISSUER": "https://id.example/realm", "CLIENT_ID": "console"}
    sso_settings |= {"CLIENT_SECRET_FILE": str(secret), "RULES_FILE": str(rules)}
    return {f"{PREFIX}{name}": value for name, value in sso_settings.items()} | {"PATH": "/bin"}


def test_without_an_issuer_there_is_no_single_sign_on():
    assert read_single_sign_on({"BARNABAS_DATA": "x"}) is None


def test_what_is_not_set_has_a_default(environment):
    settings_read = read_single_sign_on(environment)

    assert (settings_read.name, settings_read.scopes, settings_read.groups_claim) == ("sso", "openid profile", "groups")
    assert (settings_read.secret, settings_read.session_seconds) == ("s3cret-s3cret", 8 * 3_600)
    assert not settings_read.only_break_glass
    assert not settings_read.allows_passwords
    assert "s3cret" not in repr(settings_read)


def test_openid_is_among_the_scopes_whatever_is_said(environment):
    assert read_single_sign_on({**environment, f"{PREFIX}SCOPES": "groups,email"}).scopes == "openid groups email"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ISSUER", "http://id.example"),
        ("ISSUER", "https://id.example/?x"),
        ("ISSUER", "id.example"),
        ("ISSUER", "https://" + "x" * 300),
        ("CLIENT_ID", ""),
        ("RULES_FILE", ""),
        ("RULES_FILE", "/nowhere"),
        ("CLIENT_SECRET_FILE", "/nowhere"),
        ("CLIENT_SECRET_FILE", "/dev/null"),
        ("NAME", "a:b"),
        ("NAME", "x" * 21),
        ("SESSION_MINUTES", "0"),
        ("SESSION_MINUTES", "721"),
        ("SESSION_MINUTES", "long"),
        ("LOCAL_LOGIN", "never"),
        ("LOCAL_PASSWORDS", "yes"),
    ],
)
def test_a_setting_that_cannot_be_ends_with_a_sentence(name, value, environment):
    with pytest.raises(SystemExit) as ended:
        read_single_sign_on({**environment, f"{PREFIX}{name}": value})
    assert isinstance(ended.value.code, str)
    assert "s3cret" not in ended.value.code


def test_a_setting_without_an_issuer_is_told():
    with pytest.raises(SystemExit, match="without BARNABAS_OIDC_ISSUER"):
        read_single_sign_on({f"{PREFIX}CLIENT_ID": "console"})


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_secret_that_others_may_read_is_refused(mode, tmp_path):
    path = tmp_path / "secret"
    path.write_text("s3cret")
    path.chmod(mode)
    with pytest.raises(FileError, match="chmod 600") as refused:
        read_secret(path)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("content", ["", "\n", "one\ntwo", "x" * 5_000, "\0"])
def test_a_secret_is_one_line(content, tmp_path):
    path = tmp_path / "secret"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(FileError):
        read_secret(path)


def test_rules_that_others_may_write_are_refused(environment, tmp_path):
    (tmp_path / "groups.toml").chmod(0o666)
    with pytest.raises(SystemExit, match="chmod go-w"):
        read_single_sign_on(environment)


@pytest.mark.parametrize(
    ("address", "is_safe"),
    [
        ("https://id.example/x", True),
        ("http://127.0.0.1:8080/x", True),
        ("http://[::1]/x", True),
        ("http://127.0.0.1.evil.example/", False),
        ("http://id.example/", False),
        ("https://a:b@id.example/", False),
        ("https:///x", False),
        ("https://id.example/#x", False),
        ("https://id.example/\n", False),
        ("https://id.example:port/", False),
        ("ftp://id.example/", False),
    ],
)
def test_an_address_is_safe_where_nobody_is_in_between(address, is_safe):
    assert is_safe_address(address) is is_safe
