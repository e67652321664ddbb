from concurrent.futures import ThreadPoolExecutor

from console.kit.common.secret_files import load_or_create_secret


def test_a_secret_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    path = tmp_path / "secrets" / "key"
    secret = load_or_create_secret(path)

    assert len(secret) >= 50
    assert load_or_create_secret(path) == secret
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_processes_that_start_together_agree_on_one_secret(tmp_path):
    path = tmp_path / "secrets" / "key"
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(lambda _: load_or_create_secret(path), range(32)))

    assert len(secrets) == 1
    assert [item.name for item in path.parent.iterdir()] == ["key"]
