"""What a task says of its failure quotes records: it is not for whom the rules of masking.toml hide parts of those."""

import pytest

from console.processes.models import ManagedProcess
from tests.console.ecosystem.connectors.lying_server import connector

pytestmark = pytest.mark.django_db
CARD = "4111-1111"
TRACE = (
    f"org.apache.kafka.connect.errors.DataException: cannot read {CARD} (topic 'payments', partition 0, offset 7)\n"
    f"Caused by: java.lang.IllegalArgumentException: no number: {CARD}\n"
)
RULE = '[[rules]]\ntopics = "{}"\nmask = ["value.card"]\nseen_by = "{}"\n'


@pytest.fixture
def failed(connect, collector):
    """A sink that names its topic, and one that names a pattern."""
    connect.connectors = {
        "named": connector("named", tasks=(("FAILED", TRACE),), kind="sink", topics="payments"),
        "pattern": connector("pattern", tasks=(("FAILED", TRACE),), kind="sink", **{"topics.regex": "pay.*"}),
    }
    collector.look("connectors")


def masked(settings, text: str) -> None:
    settings.MASKING_FILE.write_text(text)
    settings.MASKING_FILE.chmod(0o600)


def shown(client, name: str) -> str:
    answer = client.get(f"/connectors/{name}/")
    assert answer.status_code == 200
    return answer.content.decode()


def shows_card(client, name: str) -> bool:
    return CARD in shown(client, name)


def test_who_sees_all_of_the_records_sees_the_trace(failed, client_of, operator, administrator, settings):
    assert shows_card(client_of(operator), "named")
    masked(settings, RULE.format("payments*", "operator"))
    assert all(shows_card(client_of(operator), name) for name in ("named", "pattern"))
    masked(settings, RULE.format("other*", "admin"))
    assert shows_card(client_of(operator), "named")
    masked(settings, RULE.format("payments*", "admin"))
    assert shows_card(client_of(administrator), "named")


def test_from_whom_parts_of_the_records_are_hidden_the_trace_is_too(failed, client_of, operator, viewer, settings):
    masked(settings, RULE.format("payments*", "admin"))
    for person in (operator, viewer):
        browser = client_of(person)
        assert not shows_card(browser, "named")
        assert "IllegalArgumentException" in shown(browser, "named")
        assert not shows_card(browser, "pattern")


def test_a_connector_that_names_no_topics_may_quote_any(failed, client_of, operator, administrator, settings):
    masked(settings, RULE.format("other*", "admin"))
    assert not shows_card(client_of(operator), "pattern")
    masked(settings, RULE.format("other*", "nobody"))
    assert not shows_card(client_of(administrator), "pattern")


def test_while_the_rules_cannot_be_read_nobody_reads_traces(failed, client_of, administrator, settings):
    masked(settings, "[[rules")
    assert not shows_card(client_of(administrator), "named")


def test_the_logs_of_those_who_read_records_quote_them_too(client_of, operator, administrator, settings, tmp_path):
    settings.LOG_DIR = tmp_path
    job = {"properties": {"job": "windowed_counts", "input.topic": "payments", "output.topic": "counts"}}
    for name, kind, spec in (("worker", "connect", {}), ("job", "stream", job)):
        process = ManagedProcess.objects.create(name=name, kind=kind, host=settings.HOST_NAME, spec=spec)
        process.log_path.write_text(f"DataException: cannot read {CARD}\n")

    def logs(person) -> list[bool]:
        answers = [client_of(person).get(f"/processes/{name}/log") for name in ("worker", "job")]
        return [CARD in answer.content.decode() for answer in answers]

    assert logs(operator) == [True, True]
    masked(settings, RULE.format("payments*", "admin"))
    assert logs(operator) == [False, False]
    assert logs(administrator) == [True, True]
    masked(settings, RULE.format("other*", "admin"))
    assert logs(operator) == [False, True]
    masked(settings, RULE.format("counts", "admin"))
    assert logs(operator) == [False, False]


def test_what_runs_and_says_why_it_does_not_get_on_is_shown_to_who_may_read_it(
    connect, collector, client_of, operator, settings
):
    trace = f"broker.connect.api.errors.RetriableError: rows cannot be read: {CARD}\n"
    tasks = ("RUNNING", ("RUNNING", trace))
    connect.connectors = {"named": connector("named", tasks=tasks, kind="sink", topics="payments")}
    collector.look("connectors")
    page = shown(client_of(operator), "named")
    assert "Task 1 tries again" in page
    assert f"rows cannot be read: {CARD}" in page
    assert "Task 0 tries again" not in page
    assert "failed" not in page[page.index('id="connector-failures"') : page.index('id="connector-tasks"')]
    masked(settings, RULE.format("payments*", "nobody"))
    assert "Task 1 tries again" in shown(client_of(operator), "named")
    assert not shows_card(client_of(operator), "named")
