"""Secrets that a configuration names without having them."""

import os
from pathlib import Path

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


@pytest.mark.parametrize("provider", ["file", "dir"])
@pytest.mark.parametrize("is_directory", [False, True])
def test_a_link_that_comes_after_the_check_leads_nowhere(tmp_path, monkeypatch, provider, is_directory):
    for directory in ("in", "elsewhere"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "secret").write_text("secret=1")
    inside = tmp_path / "in"
    fenced = providers(**{provider: ("allowed.paths", str(tmp_path if is_directory else inside))})
    checked = Path.resolve

    def resolve(path, strict=False):
        """Return what was there, and put the link in its place."""
        result = checked(path, strict)
        if result == inside / "secret" and not result.is_symlink():
            if is_directory:
                inside.rename(tmp_path / "was")
                inside.symlink_to(tmp_path / "elsewhere")
            else:
                result.unlink()
                result.symlink_to(tmp_path / "elsewhere" / "secret")
        return result

    monkeypatch.setattr(Path, "resolve", resolve)
    reference = f"${{file:{inside}/secret:secret}}" if provider == "file" else f"${{dir:{inside}:secret}}"
    with pytest.raises(ConfigError, match="cannot be read"):
        fenced.resolve({"k": reference})


def test_what_has_no_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "long").write_text("a=b\n" * 300_000)
    for path, reason in (
        ("/dev/zero", "not a regular"),
        (f"{tmp_path}/fifo", "not a regular"),
        (f"{tmp_path}/long", "longer"),
    ):
        with pytest.raises(ConfigError, match=reason):
            providers().resolve({"k": f"${{file:{path}:key}}"})


def test_a_single_file_may_be_allowed(tmp_path):
    (tmp_path / "a").write_text("key=1")
    (tmp_path / "b").write_text("key=2")
    fenced = providers(file=("allowed.paths", f"{tmp_path}/a"))
    assert fenced.resolve({"k": f"${{file:{tmp_path}/a:key}}"}) == {"k": "1"}
    with pytest.raises(ConfigError):
        fenced.resolve({"k": f"${{file:{tmp_path}/b:key}}"})


def test_a_provider_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="vault"):
        Providers({"config.providers": "vault", "config.providers.vault.class": "com.example.Vault"})


def test_what_goes_to_a_topic_is_a_reference_again():
    raw, resolved = {"password": "${env:P}", "topic": "t"}, {"password": "s", "topic": "t"}
    task = {"password": "s", "topic": "t", "slice": "s"}
    assert refer(task, raw, resolved) == {"password": "${env:P}", "topic": "t", "slice": "s"}


def test_one_configuration_reads_a_file_once(tmp_path, monkeypatch):
    file = tmp_path / "some.properties"
    file.write_text("".join(f"k{number}=v{number}\n" for number in range(100)))
    read = []
    monkeypatch.setattr("broker.connect.providers._text", lambda path, _root: read.append(path) or path.read_text())
    config = {f"key{number}": f"${{file:{file}:k{number % 100}}}" for number in range(300)}
    assert providers().resolve(config)["key299"] == "v99"
    assert read == [file]
    providers().resolve(config)
    assert read == [file, file], "what changed since is seen"


def test_a_short_text_does_not_become_one_of_gigabytes(tmp_path):
    (tmp_path / "long.properties").write_text(f"key={'v' * 5_000}")
    reference = f"${{file:{tmp_path}/long.properties:key}}"
    assert len(providers().resolve({"a": reference * 800})["a"]) == 4_000_000
    with pytest.raises(ConfigError, match=r"^b: what the configuration refers to has more than 4,194,304 characters"):
        providers().resolve({"a": reference * 800, "b": reference * 100})


def test_references_are_bounded_for_all_keys_together(monkeypatch):
    monkeypatch.setenv("DB_USER", "scott")
    few = {f"key{number}": "${env:DB_USER}" for number in range(1_000)}
    assert set(providers().resolve(few).values()) == {"scott"}
    with pytest.raises(ConfigError, match=r"^one-more: the configuration has more than 1,000 references"):
        providers().resolve(few | {"one-more": "${env:DB_USER}"})


def test_a_path_longer_than_any_file_has_is_refused_before_anything_looks_at_it(monkeypatch):
    monkeypatch.setattr(Path, "resolve", lambda path: pytest.fail("it takes the square of the path's length"))
    with pytest.raises(ConfigError, match="too long"):
        providers().resolve({"k": f"${{file:{'/a' * 100_000}:key}}"})
