import os

import pytest

from broker.common.errors import StartupError
from broker.zookeeper.digest_file import Digest, read_digest


def written(path, text: str = "kafka:secret\n", mode: int = 0o600):
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_line_is_read_without_its_end(tmp_path):
    digest = read_digest(written(tmp_path / "digest"))
    assert digest == "kafka:secret"
    assert digest.user == "kafka"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_file_that_others_may_open_is_refused(tmp_path, mode):
    with pytest.raises(StartupError, match="can be read by others"):
        read_digest(written(tmp_path / "digest", mode=mode))


@pytest.mark.parametrize("text", ["", "kafka", "kafka:", ":secret", "kafka:one\nkafka:two", "kafka:s\x00"])
def test_what_is_no_user_with_a_password_is_refused(tmp_path, text):
    with pytest.raises(StartupError, match="one line, user:password") as refused:
        read_digest(written(tmp_path / "digest", text))
    assert "two" not in str(refused.value)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path / "pipe", tmp_path / "missing", tmp_path):
        with pytest.raises(StartupError, match=r"zookeeper\.digest\.file"):
            read_digest(path)


def test_the_password_is_in_no_repr():
    assert "secret" not in repr([Digest("kafka:secret")])
