"""Options of a database's address that name files of the worker's host are held to where connectors may read."""

import pytest

from broker.common import extras
from broker.connect.api import ConfigError
from broker.connect.plugins import paths
from broker.connect.plugins.sql.database import parse_url

URL = "connection.url"


@pytest.fixture
def held(tmp_path):
    paths.allow([str(tmp_path)])
    yield tmp_path
    paths.allow(None)


@pytest.mark.parametrize(
    "options",
    [
        *("passfile=/etc/passwd", "sslkey=/root/key.pem", "sslcert=/root/cert.pem", "sslrootcert=/etc/ca.pem"),
        *("sslcrl=/etc/crl", "sslcrldir=/etc", "service=own", "servicefile=/etc/services", "host=/run/postgresql"),
        *("host=db,/run/postgresql", "host=%40abstract", "sslkeylogfile=/etc/log", "krbsrvname=x", "unheard_of=1"),
        *("passfile={inside}/../../secret", "sslkey=engine:key"),
    ],
)
def test_a_file_outside_and_what_nobody_knows_are_refused(options, held):
    with pytest.raises(ConfigError, match=r"outside of what this worker allows|this worker allows no"):
        parse_url(URL, f"postgresql://db:5432/shop?{options.format(inside=held)}")


def test_the_name_of_a_database_brings_no_options(held):
    with pytest.raises(ConfigError, match="this worker allows no options in the name of a database"):
        parse_url(URL, "postgresql://db/dbname=shop passfile=/etc/passwd")


def test_files_inside_and_options_that_name_none_are_allowed(held):
    options = f"sslmode=verify-full&sslrootcert={held}/ca.pem&passfile={held}/pass&connect_timeout=3&host=one,two"
    assert parse_url(URL, f"postgresql://db:5432/shop?{options}").query["sslmode"] == "verify-full"
    assert parse_url(URL, "postgresql://db/shop?sslrootcert=system").query["sslrootcert"] == "system"


def test_where_nothing_is_held_every_option_is_libpqs():
    assert parse_url(URL, "postgresql://db/shop?service=own").query["service"] == "own"


@pytest.mark.parametrize("option", ["password", "sslpassword"])
def test_a_secret_is_no_option_of_an_address(option):
    with pytest.raises(ConfigError, match=f"{option} is no part of an address"):
        parse_url(URL, f"postgresql://db/shop?{option}=sesame")


def test_without_its_driver_a_postgresql_is_refused_with_what_to_install(held, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="PostgreSQL needs the Python package psycopg, which is not installed"):
        parse_url(URL, "postgresql://db:5432/shop")
    assert parse_url(URL, f"sqlite:///{held}/shop.db").drivername == "sqlite"
