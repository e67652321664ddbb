import asyncio

import pytest
import sqlalchemy as sa

from tests.eventually import eventually
from tests.postgres_server import running_postgres


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL of its own on a free port; it ends with the tests."""
    with running_postgres("postgres") as address:
        yield f"postgresql://{address}"


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
