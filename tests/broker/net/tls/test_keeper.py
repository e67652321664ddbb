"""Certificates that change while they are in use: good ones count for who comes next, others change nothing."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from broker.keystores.files import BadStore
from broker.net.tls.keeper import ContextKeeper
from broker.net.tls.settings import TlsSettings
from tests.broker.net.tls.served import AUTHORITY, Client, client_context, serving
from tests.certificates import DAY, Authority

SERVER = AUTHORITY.server()


@pytest.fixture
def store(tmp_path) -> Path:
    path = tmp_path / "own.pem"
    write(path, SERVER.pem())
    return path


def write(path: Path, text: str) -> None:
    """As tools that renew certificates do: the whole file at once."""
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


def keeper_of(store: Path, **changes: object) -> ContextKeeper:
    return ContextKeeper("SSL", TlsSettings(keystore_location=str(store), **changes))  # type: ignore[arg-type]


async def test_without_a_change_nothing_is_read(store):
    keeper = keeper_of(store)
    before = keeper.current
    assert not await keeper.look()
    assert keeper.current is before


async def test_a_new_certificate_counts_for_who_comes_next_and_who_is_there_stays(store):
    renewed = AUTHORITY.server()
    inline_no_more = {"keystore_key": "", "keystore_certificate_chain": "", "keystore_location": str(store)}
    async with serving(**inline_no_more) as served:
        first = await Client.connected(served, client_context())
        await first.ask(b"?")
        write(store, renewed.pem())
        assert await served.keeper.look()
        second = await Client.connected(served, client_context())
        shown = [item.writer.get_extra_info("ssl_object").getpeercert()["serialNumber"] for item in (first, second)]
        assert [int(number, 16) for number in shown] == [
            SERVER.certificate.serial_number,
            renewed.certificate.serial_number,
        ]
        assert await first.ask(b"still") == b"User:ANONYMOUS still"
        first.close()
        second.close()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no certificate"),
        (SERVER.chain_pem, "no private key"),
        (AUTHORITY.server().key_pem() + SERVER.chain_pem, "belongs to another certificate"),
        (AUTHORITY.server(ends=-timedelta(minutes=1)).pem(), "has expired"),
        (AUTHORITY.server(begins=DAY).pem(), "is not valid before"),
        (AUTHORITY.server(common_name="another").pem(), "ssl.allow.dn.changes=true allows it"),
        (AUTHORITY.server("localhost").pem(), "ssl.allow.san.changes=true allows it"),
    ],
    ids=["empty", "no key", "another's key", "expired", "not yet valid", "another name", "fewer names"],
)
async def test_what_cannot_be_used_changes_nothing_and_is_said_once(store, text, why, capsys):
    keeper = keeper_of(store)
    before = keeper.current
    write(store, text)
    assert not await keeper.look()
    assert why in "".join(capsys.readouterr())
    assert not await keeper.look()
    assert "".join(capsys.readouterr()) == ""
    assert keeper.current is before


async def test_a_store_that_is_gone_for_a_moment_changes_nothing(store):
    keeper = keeper_of(store)
    store.unlink()
    assert not await keeper.look()
    write(store, AUTHORITY.server().pem())
    assert await keeper.look()


@pytest.mark.parametrize(
    ("allowed", "new"),
    [
        ({"allow_dn_changes": True}, AUTHORITY.server(common_name="another")),
        ({"allow_san_changes": True}, AUTHORITY.server("localhost")),
        ({}, AUTHORITY.server("localhost", "127.0.0.1", "::1", "one.more")),
        ({}, AUTHORITY.server(common_name="BROKER")),
    ],
    ids=["another name", "fewer names", "more names", "the same name in other letters"],
)
async def test_a_change_that_is_allowed_counts(store, allowed, new):
    keeper = keeper_of(store, **allowed)
    write(store, new.pem())
    assert await keeper.look()


async def test_a_new_authority_is_trusted_and_the_old_one_no_more(store, tmp_path):
    """A context that is live can only learn to trust more."""
    other = Authority("other")
    trust = Path(AUTHORITY.write(tmp_path))
    changes = {"truststore_certificates": "", "truststore_location": str(trust), "client_auth": "required"}
    async with serving(**changes) as served:
        write(trust, other.pem)
        assert await served.keeper.look()
        client = await Client.connected(served, client_context(other.client("bob"), tmp_path))
        assert await client.ask(b"?") == b"User:CN=bob ?"
        client.close()
        with pytest.raises((OSError, asyncio.IncompleteReadError)):
            await (await Client.connected(served, client_context(AUTHORITY.client("alice"), tmp_path))).ask(b"?")


async def test_a_keystore_neither_comes_nor_goes(store):
    keeper = keeper_of(store)
    with pytest.raises(BadStore, match="neither come nor go"):
        await ContextKeeper("x", TlsSettings(), make=lambda _: keeper.current).change(
            TlsSettings(keystore_location=str(store))
        )


async def test_a_certificate_that_ends_soon_is_warned_of_once_a_day_until_it_is_renewed(store, capsys):
    begin = datetime.now(UTC)
    moments = [begin]
    write(store, AUTHORITY.server(ends=40 * DAY).pem())
    keeper = ContextKeeper("SSL", TlsSettings(keystore_location=str(store)), now=lambda: moments[0])
    assert await warned(keeper, capsys) == 0
    moments[0] = begin + 9 * DAY
    assert await warned(keeper, capsys) == 0
    moments[0] = begin + 11 * DAY
    assert await warned(keeper, capsys) == 1
    assert await warned(keeper, capsys) == 0
    moments[0] += DAY
    assert await warned(keeper, capsys) == 1
    moments[0] = begin + 41 * DAY
    await keeper.look()
    assert "has expired" in "".join(capsys.readouterr())
    write(store, AUTHORITY.server(ends=90 * DAY).pem())
    assert await keeper.look()
    capsys.readouterr()
    moments[0] += DAY
    assert await warned(keeper, capsys) == 0


async def test_a_certificate_that_ends_soon_is_warned_of_at_the_start(store, capsys):
    write(store, AUTHORITY.server(ends=29 * DAY).pem())
    keeper_of(store)
    assert "ends at" in "".join(capsys.readouterr())


async def warned(keeper: ContextKeeper, capsys) -> int:
    await keeper.look()
    return "".join(capsys.readouterr()).count("ends at")
