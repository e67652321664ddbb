"""Lists as a person left them, and views by name."""

import re
from pathlib import Path

import pytest
from django.test import Client

from console.kit.access.rights import reach_of
from console.kit.audit.models import AuditEvent
from console.kit.features.table import ROWS
from console.kit.tables.actions import do_arrange
from console.kit.tables.declared import TABLES
from console.kit.tables.models import NAME_LENGTH_MAX, VIEWS_MAX, Preference, SavedView
from console.kit.tables.queries import views_seen_by
from console.shell.api.door import look
from console.shell.palette.queries import find
from console.shell.web.watched import ROWS_MAX
from console.state.clusters.models import Topic

TEMPLATES = Path(__file__).parents[4] / "templates"
HEADS = {
    "topics": "topics/partials/topic-table.html",
    "consumers": "consumers/partials/group-table.html",
    "brokers": "brokers/partials/broker-table.html",
    "retention": "retention/partials/table.html",
    "connectors": "connectors/partials/connector-table.html",
    "schemas": "schemas/partials/subject-table.html",
    "processes": "processes/list.html",
    "streams": "streams/list.html",
    "audit": "audit/list.html",
}
LIST = {"HTTP_REFERER": "http://testserver/topics/"}


@pytest.fixture
def browser(viewer, client_of) -> Client:
    return client_of(viewer)


def arrange(client: Client, shown: list[str], query: str = "", **fields):
    return client.post("/views/+arrange/", {"table": "topics", "query": query, "column": shown, **fields})


def save(client: Client, name: str, query: str = "", table: str = "topics", **fields):
    return client.post("/views/+save/", {"table": table, "query": query, "name": name, **fields})


@pytest.mark.parametrize("name", TABLES)
def test_what_is_declared_of_a_list_is_what_its_table_has(name):
    head = re.search(r"<thead><tr>(.*?)</tr></thead>", (TEMPLATES / HEADS[name]).read_text(), re.DOTALL)[1]
    cells = [re.sub(r"<input[^>]*>", "", cell) for cell in re.findall(r"<th\b[^>]*>(.*?)</th>", head, re.DOTALL)]
    titles = [(re.findall(r'label="([^"]*)"', cell) or [cell])[0] for cell in cells]
    declared = [title for _, title in TABLES[name].columns]
    assert titles[: len(declared)] == declared
    assert len({key for key, _ in TABLES[name].columns}) == len(declared)


def test_the_stylesheet_knows_every_place_and_pages_follow_every_row():
    style = (TEMPLATES.parent / "static/css/tables.css").read_text()
    for number in range(2, max(len(table.columns) for table in TABLES.values()) + 1):
        assert f'[data-hides~="{number}"] tr > :nth-child({number})' in style
    assert max(ROWS) <= ROWS_MAX


class TestColumns:
    def test_what_is_hidden_stays_hidden_for_this_person_alone(self, browser, reader, client_of):
        every = [key for key, _ in TABLES["topics"].optional]
        answer = arrange(browser, [key for key in every if key not in ("size", "lag")], rows="25")
        assert (answer.status_code, answer["Location"]) == (302, "/topics/")

        assert 'data-hides="4 12"' in browser.get("/topics/").content.decode()
        assert 'data-hides=""' in client_of(reader).get("/topics/").content.decode()

    def test_the_first_column_and_what_is_no_column_cannot_be_hidden(self, viewer):
        do_arrange(viewer, TABLES["topics"], ["topic", "size", "<script>"], "7")
        assert Preference.objects.get().tables == {"topics": {"hide": ["size"], "rows": 0}}

    def test_a_page_has_the_rows_that_were_chosen(self, browser):
        Topic.objects.bulk_create(Topic(name=f"orders-{number}") for number in range(60))
        arrange(browser, ["size"], rows="25")
        assert len(browser.get("/topics/").context["page"].object_list) == 25
        assert len(browser.get("/topics/?rows=100").context["page"].object_list) == 60
        assert len(browser.get("/topics/?rows=9999").context["page"].object_list) == 25

    def test_reset_is_how_it_is_delivered(self, browser):
        arrange(browser, ["size"], rows="25")
        arrange(browser, [], reset="on")
        page = browser.get("/topics/").content.decode()
        assert 'data-hides=""' in page
        assert "<option selected>50</option>" in page

    def test_an_unknown_list_is_not_there_and_an_outsider_has_none(self, browser, outsider, client_of):
        assert browser.post("/views/+arrange/", {"table": "passwords"}).status_code == 404
        assert arrange(client_of(outsider), ["size"]).status_code == 403


class TestOrder:
    def test_a_list_comes_back_in_the_order_that_was_set_on_it(self, browser):
        browser.get("/topics/?sort=-size&internal=on&search=orders&page=3", **LIST)
        assert browser.get("/topics/")["Location"] == "/topics/?sort=-size&internal=on"

    def test_and_as_it_is_delivered_when_that_is_set_on_it(self, browser):
        browser.get("/topics/?sort=-size", **LIST)
        browser.get("/topics/?search=", **LIST)
        assert browser.get("/topics/").status_code == 200

    @pytest.mark.parametrize(
        "referer", ["", "http://testserver/", "http://elsewhere.example/topics/", "http://[/topics/"]
    )
    def test_a_link_from_elsewhere_changes_nothing(self, browser, referer):
        browser.get("/topics/?sort=-size", HTTP_REFERER=referer)
        assert browser.get("/topics/").status_code == 200
        assert not Preference.objects.exists()

    def test_a_search_on_the_list_is_set_on_it(self, browser):
        part = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "topic-table"}
        browser.get("/topics/?internal=on", **part, HTTP_HX_CURRENT_URL="http://testserver/topics/")
        assert browser.get("/topics/")["Location"] == "/topics/?internal=on"

    def test_a_page_that_fetches_itself_again_and_a_file_stay_what_they_are(self, browser):
        browser.get("/topics/?sort=-size", **LIST)
        assert browser.get("/topics/", HTTP_X_REFRESH="1").status_code == 200
        assert browser.get("/topics/?format=csv").status_code == 200


class TestViews:
    def test_a_view_opens_as_it_was_kept_whoever_changed_the_list_since(self, browser):
        arrange(browser, ["state", "lag"], rows="100")
        save(browser, "Late ones", "search=orders&sort=-lag&page=4&evil=1")
        arrange(browser, [], reset="on")

        view = SavedView.objects.get()
        address = browser.get(f"/views/{view.pk}/")["Location"]
        assert address.startswith("/topics/?sort=-lag&search=orders&hide=partitions%2Csize%2C")
        assert address.endswith(f"&view={view.pk}&rows=100")
        page = browser.get(address)
        assert 'data-hides="3 4 5 6 7 8 9 10 11 13"' in page.content.decode()
        assert page.context["query"].search == "orders"
        assert page.context["arrangement"].is_as_saved
        assert not browser.get(f"{address}&internal=on").context["arrangement"].is_as_saved
        assert not browser.get("/topics/").content.decode().count('data-hides="3')

    def test_what_is_searched_for_without_a_new_page_is_kept_too(self, browser):
        browser.post(
            "/views/+save/",
            {"table": "topics", "query": "", "name": "Bills"},
            HTTP_REFERER="http://testserver/topics/?search=bills",
        )
        assert SavedView.objects.get(name="Bills").parameters == {"search": "bills"}

    def test_the_same_name_is_the_same_view(self, browser):
        save(browser, "Late ones", "sort=-lag")
        save(browser, "  Late   ones ", "sort=lag")
        assert [view.parameters for view in SavedView.objects.all()] == [{"sort": "lag"}]

    @pytest.mark.parametrize("name", ["", "   ", "x" * (NAME_LENGTH_MAX + 1), "a\u202eb", "a\0b"])
    def test_a_name_can_be_read(self, browser, name):
        answer = save(browser, name)
        assert (answer.status_code, SavedView.objects.count()) == (302, 0)
        assert b"A view&#x27;s name has" in browser.get("/views/").content

    def test_nobody_has_more_than_so_many(self, browser, viewer):
        SavedView.objects.bulk_create(
            SavedView(owner=viewer, table="topics", name=f"view {number}") for number in range(VIEWS_MAX)
        )
        save(browser, "one more")
        assert SavedView.objects.count() == VIEWS_MAX

    def test_a_view_is_ones_own_until_it_is_shared(self, browser, reader, client_of):
        save(browser, "Mine", "search=secret-plan")
        save(browser, "Ours", shared="on")
        mine, ours = (SavedView.objects.get(name=name) for name in ("Mine", "Ours"))

        other = client_of(reader)
        assert other.get(f"/views/{mine.pk}/").status_code == 404
        assert other.get(f"/views/{ours.pk}/").status_code == 302
        page = other.get("/views/").content.decode()
        assert "Ours" in page
        assert "secret-plan" not in page
        assert "Mine" not in other.get("/topics/").content.decode()
        assert other.get(f"/topics/?view={mine.pk}").context["arrangement"].view is None

    def test_only_the_owner_or_an_administrator_changes_it(self, browser, reader, administrator, client_of):
        save(browser, "Ours", shared="on")
        view = SavedView.objects.get()
        other = client_of(reader)
        assert other.post(f"/views/{view.pk}/+change/", {"name": "Theirs"}).status_code == 403
        assert other.post(f"/views/{view.pk}/+delete/").status_code == 403
        client_of(administrator).post(f"/views/{view.pk}/+change/", {"name": "Of all", "shared": "on"})
        assert SavedView.objects.get().name == "Of all"
        browser.post(f"/views/{view.pk}/+delete/")
        assert not SavedView.objects.exists()

    def test_an_administrator_does_not_read_what_somebody_keeps_to_himself(self, browser, administrator, client_of):
        save(browser, "Mine")
        assert client_of(administrator).post(f"/views/{SavedView.objects.get().pk}/+delete/").status_code == 404

    def test_the_audit_knows_of_shared_ones_and_of_no_others(self, browser):
        save(browser, "Mine")
        assert not AuditEvent.objects.exists()
        save(browser, "Ours", "sort=-lag", shared="on")
        browser.post(f"/views/{SavedView.objects.get(name='Ours').pk}/+change/", {"name": "Ours"})
        events = [
            (event.action, event.object_name, event.after["shared"]) for event in AuditEvent.objects.order_by("pk")
        ]
        assert events == [("save view", "Ours", True), ("change view", "Ours", False)]

    def test_a_list_that_somebody_may_not_open_has_no_views_for_him(self, administrator, viewer, client_of):
        save(client_of(administrator), "Failures", "result=failed", "audit", shared="on")
        assert views_seen_by(administrator).count() == 1
        assert views_seen_by(viewer).count() == 0
        assert client_of(viewer).get(f"/views/{SavedView.objects.get().pk}/").status_code == 404

    def test_a_shared_view_shows_no_row_that_is_hidden(self, browser, limited_reader, client_of):
        Topic.objects.create(name="secret-orders")
        save(browser, "Secrets", "sort=-lag", shared="on")
        answer = client_of(limited_reader).get(f"/views/{SavedView.objects.get().pk}/", follow=True)
        assert list(answer.context["page"].object_list) == []

    def test_what_others_search_for_is_not_shown_to_a_person_from_whom_names_are_hidden(
        self, browser, limited_reader, reader, client_of
    ):
        save(browser, "Ours", "search=secret-orders", shared="on")
        save(browser, "Late ones", "sort=-lag", shared="on")
        limited = client_of(limited_reader)
        assert save(limited, "Mine", "search=orders").status_code == 302
        for address in ("/views/", "/topics/", "/find/?text=ours", f"/topics/?view={SavedView.objects.first().pk}"):
            assert "secret-orders" not in limited.get(address).content.decode()
        ours = SavedView.objects.get(name="Ours")
        assert limited.get(f"/views/{ours.pk}/").status_code == 404
        assert {item.name for item in views_seen_by(limited_reader)} == {"Late ones", "Mine"}
        assert ours in views_seen_by(reader)

    def test_the_palette_leads_to_it(self, browser, viewer, reader):
        save(browser, "Late ones", "sort=-lag")
        result = find("late", reach_of(viewer), views=views_seen_by(viewer))[0]
        assert (result.kind, result.title) == ("view", "Late ones · Topics")
        assert result.address == f"/views/{SavedView.objects.get().pk}/"
        assert next(item.kind for item in find("view", reach_of(viewer), views=views_seen_by(viewer))) == "view"
        assert "view" not in {item.kind for item in find("late", reach_of(reader), views=views_seen_by(reader))}

    def test_its_name_is_text_wherever_it_stands(self, browser):
        save(browser, "<img src=x onerror=alert(1)>", "search=<b>", shared="on")
        for address in ("/views/", "/topics/", f"/topics/?view={SavedView.objects.get().pk}", "/find/?text=img"):
            page = browser.get(address).content.decode()
            assert "<img src=x" not in page
            assert "&lt;img src=x" in page


class TestDensity:
    def test_it_is_of_every_page_and_of_one_person(self, browser, reader, client_of):
        answer = browser.post("/views/+density/", {"density": "compact"}, HTTP_REFERER="http://testserver/brokers/")
        assert answer["Location"] == "http://testserver/brokers/"
        for address in ("/", "/topics/", "/brokers/"):
            assert '<html lang="en" data-density="compact">' in browser.get(address).content.decode()
        assert '<html lang="en">' in client_of(reader).get("/").content.decode()

    @pytest.mark.parametrize("referer", ["http://elsewhere.example/", "javascript:alert(1)", ""])
    def test_it_leads_nowhere_else(self, browser, referer):
        answer = browser.post("/views/+density/", {"density": "compact"}, HTTP_REFERER=referer)
        assert answer["Location"] == "/"

    def test_there_are_two(self, browser):
        browser.post("/views/+density/", {"density": "huge"})
        assert not Preference.objects.exists()


def test_programs_are_given_what_lists_are_delivered_with(browser, viewer):
    Topic.objects.bulk_create(Topic(name=f"orders-{number}") for number in range(60))
    arrange(browser, ["size"], rows="25")
    browser.get("/topics/?sort=-size", **LIST)
    assert len(look(viewer, "/topics/").shown["page"].object_list) == TABLES["topics"].rows
