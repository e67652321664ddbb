"""What the environment may say of a registry; what cannot be is one sentence."""

import pytest

from console.cluster.schemas.configuration import PREFIX, RegistryAddress, read_registry_address


@pytest.fixture
def password_file(tmp_path):
    file = tmp_path / "registry-password"
    file.write_text("s3cret\n")
    file.chmod(0o600)
    return file


def read(**properties: object) -> RegistryAddress | None:
    return read_registry_address({f"{PREFIX}{key}": str(value) for key, value in properties.items()})


def test_a_registry_is_asked_under_its_address_and_by_its_user(password_file):
    assert read() is None
    assert read(URL="http://registry:8081/") == RegistryAddress("http://registry:8081")
    for url in ("https://registry:8081", "http://127.0.0.1:8081", "http://[::1]:8081", "http://localhost:8081"):
        assert read(URL=url, USER="console", PASSWORD_FILE=password_file).login == ("console", "s3cret")


@pytest.mark.parametrize("url", ["http://registry:8081", "http://127.0.0.1.example:8081", "http://10.0.0.1"])
def test_a_password_is_sent_to_nobody_whom_others_may_overhear(url, password_file):
    with pytest.raises(SystemExit, match="readably: it must be https"):
        read(URL=url, USER="console", PASSWORD_FILE=password_file)


@pytest.mark.parametrize(
    "url", ["registry:8081", "ftp://registry", "http://u:p@registry", "http://a b", "http://r:x", "http://"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(SystemExit, match="must be http://host:port or https://host:port"):
        read(URL=url)


def test_what_says_half_is_refused(password_file):
    with pytest.raises(SystemExit, match="set together or not at all"):
        read(URL="https://registry", USER="console")
    with pytest.raises(SystemExit, match="is set without"):
        read(USER="console")
    password_file.chmod(0o644)
    with pytest.raises(SystemExit, match="can be read by others"):
        read(URL="https://registry", USER="console", PASSWORD_FILE=password_file)
