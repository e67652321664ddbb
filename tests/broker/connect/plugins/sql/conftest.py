import asyncio
import glob
import os
import shutil
import socket
import subprocess

import pytest
import sqlalchemy as sa

from tests.eventually import eventually


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """A PostgreSQL of its own on a free port; it ends with the tests."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found or os.geteuid() != 0:
        pytest.skip("needs PostgreSQL's initdb, and root to become somebody else")
    binaries = os.path.dirname(found[-1])
    home = f"/tmp/barnabas-postgres-{os.getpid()}"
    os.mkdir(home)
    shutil.chown(home, "nobody")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    as_nobody = ["runuser", "-u", "nobody", "--"]
    subprocess.run(
        [*as_nobody, f"{binaries}/initdb", "-D", f"{home}/data", "-U", "tester", "-A", "trust", "--no-sync"],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd="/",
    )
    options = ["-k", home, "-p", str(port), "-h", "127.0.0.1", "-F"]
    server = subprocess.Popen(
        [*as_nobody, f"{binaries}/postgres", "-D", f"{home}/data", *options], cwd="/", stderr=subprocess.DEVNULL
    )
    try:
        yield f"postgresql://127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """(properties, engine) of an empty database."""
    if request.param == "sqlite":
        props = {"connection.url": f"sqlite:///{tmp_path}/test.db"}
    else:
        props = {"connection.url": request.getfixturevalue("postgres"), "connection.user": "tester"}
    url = sa.make_url(props["connection.url"].replace("postgresql:", "postgresql+psycopg:"))
    engine = sa.create_engine(url.set(username=props.get("connection.user")))
    _await_answer(engine)
    with engine.begin() as connection:
        for table in sa.inspect(connection).get_table_names():
            sa.Table(table, sa.MetaData()).drop(connection)
    yield props, engine
    engine.dispose()


def _await_answer(engine):
    def answers():
        try:
            with engine.connect():
                return True
        except sa.exc.OperationalError:
            return False

    asyncio.run(eventually(answers, "the database answers", 30))
