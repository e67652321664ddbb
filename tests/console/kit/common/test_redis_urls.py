from pathlib import Path

import pytest

from console.kit.common.redis_urls import UNIX_SOCKET_PATH_MAX, celery_url, default_socket_path


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock?virtual_host=0"),
        ("unix:///run/redis.sock?db=2", "redis+socket:///run/redis.sock?virtual_host=2"),
        ("unix://user:word@/run/redis.sock", "redis+socket://user:word@/run/redis.sock?virtual_host=0"),
        ("redis://host:6379/1", "redis://host:6379/1"),
        ("rediss://host:6379/1", "rediss://host:6379/1"),
    ],
)
def test_celery_spells_the_same_redis_its_own_way(url, expected):
    assert celery_url(url) == expected


def test_the_socket_lies_in_the_run_directory():
    assert default_socket_path(Path("/srv/run")) == Path("/srv/run/redis.sock")


def test_a_directory_that_no_url_can_name_gets_one_of_its_own():
    assert not set("#?%").intersection(str(default_socket_path(Path("/srv/no #1"))))


def test_a_directory_too_deep_for_a_socket_gets_a_short_one_of_its_own():
    deep, deeper = Path("/srv", "d" * 120), Path("/srv", "d" * 121)

    assert len(str(default_socket_path(deep))) <= UNIX_SOCKET_PATH_MAX
    assert default_socket_path(deep) == default_socket_path(deep)
    assert default_socket_path(deep) != default_socket_path(deeper)
