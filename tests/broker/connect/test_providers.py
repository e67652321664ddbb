"""Secrets that a configuration names without having them."""

import pytest

from broker.config.definition import ConfigError
from broker.connect.providers import Providers, refer


def providers(**params):
    classes = {"file": "FileConfigProvider", "dir": "DirectoryConfigProvider", "env": "EnvVarConfigProvider"}
    named = {
        f"config.providers.{name}.class": f"org.apache.kafka.common.config.provider.{c}" for name, c in classes.items()
    }
    given = {f"config.providers.{name}.param.{key}": value for name, (key, value) in params.items()}
    return Providers({"config.providers": "file, dir,env", **named, **given})


def test_references_are_what_files_directories_and_the_environment_say(tmp_path, monkeypatch):
    (tmp_path / "db.properties").write_text("password=s3 cret\n")
    (tmp_path / "token").write_text("from a mount")
    monkeypatch.setenv("DB_USER", "scott")
    config = {
        "url": f"db://${{env:DB_USER}}:${{file:{tmp_path}/db.properties:password}}@host",
        "token": f"${{dir:{tmp_path}:token}}",
        "plain": "$HOME ${} ${none:of:these}",
    }
    assert providers().resolve(config) == {
        "url": "db://scott:s3 cret@host", "token": "from a mount", "plain": "$HOME ${} ${none:of:these}",
    }  # fmt: skip


def test_what_is_not_there_stays_a_reference(tmp_path):
    (tmp_path / "empty").write_text("")
    for text in (
        f"${{file:{tmp_path}/empty:key}}",
        f"${{dir:{tmp_path}:none}}",
        f"${{dir:{tmp_path}:../x}}",
        "${env:NO_SUCH}",
    ):
        assert providers().resolve({"k": text}) == {"k": text}


def test_what_cannot_be_read_is_named_by_its_key(tmp_path):
    with pytest.raises(ConfigError, match="password"):
        providers().resolve({"password": f"${{file:{tmp_path}/missing:key}}"})


def test_nobody_reads_outside_of_what_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").write_text("key=1")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    monkeypatch.setenv("OTHER", "x")
    fenced = providers(file=("allowed.paths", f"{tmp_path}/in"), env=("allowlist.pattern", "DB_.*"))
    for path in (f"{tmp_path}/secret", f"{tmp_path}/in/../secret", f"{tmp_path}/in/link"):
        with pytest.raises(ConfigError):
            fenced.resolve({"k": f"${{file:{path}:key}}"})
    assert fenced.resolve({"k": "${env:OTHER}"}) == {"k": "${env:OTHER}"}


def test_a_provider_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="vault"):
        Providers({"config.providers": "vault", "config.providers.vault.class": "com.example.Vault"})


def test_what_goes_to_a_topic_is_a_reference_again():
    raw, resolved = {"password": "${env:P}", "topic": "t"}, {"password": "s", "topic": "t"}
    task = {"password": "s", "topic": "t", "slice": "s"}
    assert refer(task, raw, resolved) == {"password": "${env:P}", "topic": "t", "slice": "s"}
