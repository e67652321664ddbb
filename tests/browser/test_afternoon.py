"""An operator's afternoon: kill, stop, settings, retention, reset, drain, verdicts, and the right word at each."""

import re

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import Page, expect

from tests.barnabas_cluster import await_true
from tests.browser.conftest import await_up, from_menu, signed_in, start_product, stop_product, take_pictures
from tests.browser.test_processes import is_created

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(600)]
TOPIC, GROUP = "afternoon.orders", "afternoon.invoices"
RECORDS, READ = 100, 40
SEVERAL = f"/topics/{TOPIC}/+settings/?setting=segment.ms&value=1 d&setting=max.message.bytes&value=2 MB"


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    """Without demo traffic: what the pages say is what this afternoon did."""
    running = start_product(tmp_path_factory.mktemp("afternoon"), demo=False)
    try:
        await_up(running)
        yield running
    finally:
        stop_product(running)


@pytest.fixture(scope="module")
def admin(product) -> AdminClient:
    return AdminClient({**product.client})


@pytest.fixture(scope="module")
def orders(product, admin):
    """Three partitions of 100 records, and a group that has read 40 of each and has no member any more."""
    admin.create_topics([NewTopic(TOPIC, 3, 3, config={"min.insync.replicas": "2"})])[TOPIC].result(30)
    producer = Producer({**product.client})
    for number in range(3 * RECORDS):
        producer.produce(TOPIC, f"order {number}", partition=number % 3)
    assert producer.flush(30) == 0
    consumer = Consumer({**product.client, "group.id": GROUP})
    consumer.commit(offsets=[TopicPartition(TOPIC, index, READ) for index in range(3)], asynchronous=False)
    consumer.close()


class Operator:
    """Reads and presses what a person would; `sees` waits until the page says so."""

    def __init__(self, page: Page, console: str):
        self.page = page
        self._console = console

    def goes_to(self, path: str) -> "Operator":
        self.page.goto(self._console + path)
        expect(self.page.locator("#connection")).to_have_attribute("data-state", "live")
        return self

    def sees(self, *words: str) -> "Operator":
        for word in words:
            expect(self.page.locator("main")).to_contain_text(word)
        return self

    def sees_no_more(self, words: str) -> "Operator":
        expect(self.page.locator("main")).not_to_contain_text(words)
        return self

    def sees_state(self, name: str, state: str) -> "Operator":
        expect(self.page.locator(f"#process-{name} [data-cell=state]")).to_have_text(state)
        return self

    def fills(self, label: str, value: str) -> "Operator":
        self.page.get_by_label(label).fill(value)
        return self

    def chooses(self, label: str, value: str) -> "Operator":
        self.page.get_by_label(label).select_option(value)
        return self

    def presses(self, name: str) -> "Operator":
        self.page.get_by_role("button", name=name, exact=True).click()
        return self

    def follows(self, name: str) -> "Operator":
        self.page.get_by_role("link", name=name).first.click()
        return self

    def takes_from_the_menu(self, action: str) -> "Operator":
        from_menu(self.page, action)
        return self

    def types_the_name(self, name: str) -> "Operator":
        self.page.get_by_label("Type the name to confirm").fill(name)
        return self

    def types_the_name_if_asked(self, name: str) -> "Operator":
        for field in self.page.get_by_label("Type the name to confirm").all():
            field.fill(name)
        return self


@pytest.fixture
def operator(chromium, product, orders):
    """What is refused on purpose the browser calls an error: nobody listens to its complaints here."""
    context = signed_in(chromium, product, viewport={"width": 1280, "height": 900})
    yield Operator(context.new_page(), product.console)
    context.close()


def test_an_operators_afternoon(operator, admin, chromium, product):
    a_healthy_cluster_says_so_and_what_a_group_has_not_read(operator)
    a_killed_broker_stays_stopped_and_is_missed_until_it_is_started(operator)
    a_second_broker_is_not_stopped_while_one_is_away_without_typing_its_name(operator)
    with_all_brokers_there_one_is_stopped_and_started(operator)
    a_setting_that_no_broker_takes_gets_no_plan_and_one_that_stops_writers_says_so(operator)
    several_settings_are_one_change(operator)
    take_pictures(chromium, product, "afternoon", {"settings": SEVERAL, "process": "/processes/broker-1/stop"})
    a_retention_that_deletes_later_says_when_and_whose_records(operator)
    a_reset_says_what_is_read_twice_and_the_way_back(operator)
    a_broker_is_drained_before_it_goes(operator, admin)
    a_group_that_nobody_reads_for_is_named_with_what_waits(operator)
    a_retired_group_leaves_a_healthy_cluster(operator)
    the_afternoon_is_in_the_history_and_in_the_audit(operator)


def a_healthy_cluster_says_so_and_what_a_group_has_not_read(operator):
    operator.goes_to("/").sees("Healthy")
    row = operator.goes_to("/consumers/").page.get_by_role("row", name=GROUP)
    expect(row.locator("[data-cell=lag]")).to_have_text("180")


def a_killed_broker_stays_stopped_and_is_missed_until_it_is_started(operator):
    operator.goes_to("/processes/broker-3/").takes_from_the_menu("Kill…")
    operator.sees("Nothing is handed over, flushed or closed", "It is ended at once (SIGKILL).", "kill -9")
    operator.types_the_name("broker-3").presses("Kill broker-3")
    operator.sees("stopped", "killed, as asked")
    operator.goes_to("/").sees("Broker 3 is not registered", "under-replicated", "Start broker 3")


def a_second_broker_is_not_stopped_while_one_is_away_without_typing_its_name(operator):
    operator.goes_to("/processes/").page.locator("#broker-2-stop").click()
    question = operator.page.get_by_role("alertdialog")
    for words in ("fall below min.insync.replicas", "acks=all are refused there", "Broker 3 is away already."):
        expect(question).to_contain_text(words)
    operator.presses("Stop broker-2")
    expect(question.get_by_role("alert")).to_contain_text("type the name exactly, broker-2")
    operator.presses("Cancel")
    operator.sees_state("broker-2", "healthy").page.locator("#broker-3-start").click()
    operator.sees_state("broker-3", "healthy")
    operator.goes_to("/").sees_no_more("Broker 3 is not registered").sees_no_more("under-replicated")


def with_all_brokers_there_one_is_stopped_and_started(operator):
    operator.goes_to("/processes/").page.locator("#broker-2-stop").click()
    question = operator.page.get_by_role("alertdialog")
    expect(question).to_contain_text(re.compile("led by another broker|one replica less in sync"))
    operator.types_the_name_if_asked("broker-2").presses("Stop broker-2")
    operator.sees_state("broker-2", "stopped").page.locator("#broker-2-start").click()
    operator.sees_state("broker-2", "healthy")


def a_setting_that_no_broker_takes_gets_no_plan_and_one_that_stops_writers_says_so(operator):
    address = f"/topics/{TOPIC}/+settings/?setting=min.insync.replicas"
    operator.goes_to(f"{address}&value=abc")
    expect(operator.page.get_by_role("alert")).to_be_visible()
    expect(operator.page.get_by_role("button", name="Change setting")).to_have_count(0)
    operator.goes_to(f"{address}&value=3")
    operator.sees("It has 3 replicas: one dead broker stops every acks=all producer of its partitions.")
    operator.presses("Change setting").sees(f"min.insync.replicas of {TOPIC} was changed.")
    operator.follows("plan the undo…").presses("Change setting").sees("was changed.")


def several_settings_are_one_change(operator):
    operator.goes_to(SEVERAL).sees(
        "Change 2 settings", "--add-config 'segment.ms=[86400000],max.message.bytes=[2000000]'"
    )
    operator.presses("Change setting").sees(f"segment.ms and max.message.bytes of {TOPIC} were changed.")


def a_retention_that_deletes_later_says_when_and_whose_records(operator):
    operator.goes_to(f"/topics/{TOPIC}/+retention/").sees("Nothing")
    operator.fills("retention.ms", "1000").presses("Preview")
    operator.sees("What would be deleted then", GROUP)
    operator.follows("Back to now")


def a_reset_says_what_is_read_twice_and_the_way_back(operator):
    operator.goes_to(f"/consumers/{GROUP}/").follows("Reset offsets…")
    operator.chooses("Put offsets to", "earliest").presses("Show the plan")
    operator.sees("120 records will be read a second time.", "kafka-consumer-groups.sh")
    operator.presses("Reset 3 offsets").sees(f"Offsets of {GROUP} were reset.")
    expect(operator.page.locator("#object-figures [data-cell=lag]")).to_have_text("300")
    operator.follows("Plan the undo").presses("Reset 3 offsets")
    expect(operator.page.locator("#object-figures [data-cell=lag]")).to_have_text("180")


def a_broker_is_drained_before_it_goes(operator, admin):
    operator.goes_to("/processes/+add-broker/").presses("Preview").presses("Add broker")
    operator.sees("it is registered in ZooKeeper")
    held = NewTopic("afternoon.leaving", 2, replica_assignment=[[4, 1], [2, 4]])
    await_true(lambda: is_created(admin, held), "the controller knows broker 4")
    operator.goes_to("/processes/broker-4/").sees("healthy").takes_from_the_menu("Remove process…")
    operator.sees("It holds 2 replicas (afternoon.leaving-0, afternoon.leaving-1).").follows("Drain and remove…")
    operator.sees("When it holds nothing any more broker-4 is stopped in order")
    operator.types_the_name("broker-4").presses("Drain and remove")
    operator.sees("It has been stopped and is not managed here any more; its files stay.")
    operator.goes_to("/").sees_no_more("Broker 4 is not registered")


def a_group_that_nobody_reads_for_is_named_with_what_waits(operator):
    """Not before its records have waited for longer than any restart of its consumers takes."""
    overview = operator.goes_to("/").page.locator("#health")
    expect(overview).to_contain_text(f"Group {GROUP} has no members and 180 unread records.", timeout=180_000)
    expect(overview).to_contain_text("Degraded")
    row = operator.goes_to("/consumers/").page.get_by_role("row", name=GROUP)
    expect(row).to_contain_text("abandoned")


def a_retired_group_leaves_a_healthy_cluster(operator):
    operator.goes_to("/").follows("Acknowledge or mute…")
    operator.page.get_by_role("row", name=GROUP).get_by_role("link").click()
    operator.fills("Why", "Invoices are written elsewhere now.").presses("Save")
    operator.sees("it has a member again").goes_to("/").sees("Healthy", "1 group retired")


def the_afternoon_is_in_the_history_and_in_the_audit(operator):
    operator.goes_to("/history/?kind=process").sees("broker-3 is stopped", "killed, as asked", "broker-2 is stopped")
    operator.goes_to("/history/?kind=broker").sees("Broker 3 left the cluster", "as planned: it holds no replica")
    operator.goes_to("/audit/")
    for deed in ("kill process", "stop", "change setting", "reset offsets", "drain and remove broker", "retire"):
        operator.sees(deed)
