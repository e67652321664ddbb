from pathlib import Path

from broker.zookeeper.earlier_session import NOTE_FILE, SessionNote
from broker.zookeeper.session import ZooKeeperSession

TIMEOUT_MS = 30_000


async def opened(zookeeper) -> ZooKeeperSession:
    session = ZooKeeperSession(zookeeper.connect, TIMEOUT_MS)
    await session.connect(10_000)
    return session


def note_in(*directories: Path) -> SessionNote:
    return SessionNote(lambda: directories)


async def test_what_a_killed_process_left_is_gone_at_once(zookeeper, tmp_path):
    killed, successor = await opened(zookeeper), await opened(zookeeper)
    await killed.create("/left-behind", ephemeral=True)
    note_in(tmp_path).write(killed)
    await note_in(tmp_path).end_earlier(successor)
    assert await successor.exists("/left-behind") is None
    assert not (tmp_path / NOTE_FILE).exists()
    await successor.close()
    await killed.close()


async def test_a_session_that_has_expired_already_does_no_harm(zookeeper, tmp_path):
    ended, successor = await opened(zookeeper), await opened(zookeeper)
    note_in(tmp_path).write(ended)
    await ended.close()
    await successor.create("/mine", ephemeral=True)
    await note_in(tmp_path).end_earlier(successor)
    assert await successor.exists("/mine") is not None
    await successor.close()


async def test_an_unreadable_note_is_thrown_away(zookeeper, tmp_path):
    (tmp_path / NOTE_FILE).write_text("{torn")
    await note_in(tmp_path).end_earlier(ZooKeeperSession(zookeeper.connect, TIMEOUT_MS))
    assert not (tmp_path / NOTE_FILE).exists()


async def test_the_note_is_for_its_owner_only(zookeeper, tmp_path):
    session = await opened(zookeeper)
    note_in(tmp_path).write(session)
    assert (tmp_path / NOTE_FILE).stat().st_mode & 0o777 == 0o600
    await session.close()


async def test_the_sessions_noted_in_all_directories_are_ended(zookeeper, tmp_path):
    directories = [tmp_path / name for name in ("a", "b")]
    killed, successor = [await opened(zookeeper) for _ in directories], await opened(zookeeper)
    for directory, session in zip(directories, killed, strict=True):
        directory.mkdir()
        await session.create(f"/left-in-{directory.name}", ephemeral=True)
        note_in(directory).write(session)
    await note_in(*directories).end_earlier(successor)
    assert [await successor.exists(f"/left-in-{name}") for name in ("a", "b")] == [None, None]
    for session in (*killed, successor):
        await session.close()
