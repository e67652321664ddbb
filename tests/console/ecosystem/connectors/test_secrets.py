"""A secret of a configuration is typed once, sent to Connect, and is afterwards in no page, row, log or audit."""

import io
import json
import logging
import re

import pytest
from django.core.management import call_command

from console.ecosystem.connectors.configuration import ConnectSettings, read_connect
from console.ecosystem.connectors.masking import MASK, is_secret, masked_value, secrets_in, without
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.sealing import seal, unseal
from tests.console.confirming import digest_in
from tests.console.ecosystem.connectors.lying_server import connector

SECRET, ANOTHER = "Tr0ub4dor&3-known-to-the-test", "correct-horse-battery-staple"
ADDRESS = "/connectors/+create/org.example.FileSourceConnector/"
NEW = {"as": "form", "name": "lines", "config:file": "/lines.txt", "config:db.phrase": SECRET}
NEW |= {"more": f"connection.url=postgresql://me:{SECRET}@db/x\nmy.password={SECRET}"}


def text_of(response) -> str:
    return response.content.decode().replace("\u202f", " ")


def confirm(browser, address: str, shown):
    """What the page's own form sends back."""
    fields = dict(shown.context["fields"])
    return browser.post(address, {**fields, "digest": digest_in(shown)})


@pytest.mark.django_db
def test_a_typed_secret_reaches_connect_and_nothing_else(connect, browser, collector, caplog, settings):
    caplog.set_level(logging.DEBUG)
    shown = browser.post(ADDRESS, NEW)
    assert shown.status_code == 200, text_of(shown)
    done = confirm(browser, ADDRESS, shown)
    assert done.status_code == 302, text_of(done)
    ((method, path, body),) = connect.changes()
    assert (method, path, body["config"]["db.phrase"], body["config"]["my.password"]) == (
        *("POST", "/connectors"),
        *(SECRET, SECRET),
    )
    assert body["config"]["connection.url"] == f"postgresql://me:{SECRET}@db/x"

    trace = f"sqlalchemy.exc.OperationalError: could not log in by {SECRET} at postgresql://me:{SECRET}@db/x"
    connect.connectors["lines"] = connector("lines", tasks=(("FAILED", trace),), **_own(body["config"]))
    collector.look("connectors")
    form = {**NEW, "as": "form", "config:db.phrase": ANOTHER}
    changed = browser.post("/connectors/lines/+configure/", form)
    assert changed.status_code == 200
    assert confirm(browser, "/connectors/lines/+configure/", changed).status_code == 302
    assert connect.changes()[-1][2]["db.phrase"] == ANOTHER
    doomed = browser.get("/connectors/lines/+delete/")
    browser.post("/connectors/lines/+delete/", {"digest": digest_in(doomed), "typed_name": "lines"})
    assert connect.changes()[-1][0] == "DELETE"

    pages = ("/connectors/lines/", "/connectors/lines/+configure/", "/connectors/lines/+configure/?as=json", "/audit/")
    seen = [text_of(browser.get(page)) for page in (*pages, "/connectors/", "/")]
    kept = io.StringIO()
    call_command("dumpdata", stdout=kept)
    requests = settings.REQUEST_LOG_FILE.read_text() if settings.REQUEST_LOG_FILE.exists() else ""
    for place in (*seen, text_of(shown), text_of(changed), text_of(doomed), kept.getvalue(), caplog.text, requests):
        assert SECRET not in place
        assert ANOTHER not in place
    assert MASK in kept.getvalue() or "\\u2022" in kept.getvalue()


@pytest.mark.django_db
def test_a_secret_that_is_left_as_it_stands_stays(connect, browser):
    config = {"file": "/a", "db.phrase": SECRET, "my.password": SECRET, "url": f"http://u:{SECRET}@h/"}
    connect.connectors["lines"] = connector("lines", **config)
    Connector.objects.create(name="lines", kind="source", state="RUNNING")
    address = "/connectors/lines/+configure/"
    for form in (_of_form(browser.get(address)), _of_json(browser.get(f"{address}?as=json"))):
        form = {name: value.replace("/a", "/b") for name, value in form.items()}
        shown = browser.post(address, form)
        assert [(line.name, line.old, line.new) for line in shown.context["plan"].lines] == [("file", "/a", "/b")]
        assert confirm(browser, address, shown).status_code == 302
        sent = connect.changes()[-1][2]
        assert {key: sent[key] for key in config} == {**config, "file": "/b"}


@pytest.mark.django_db
def test_what_is_masked_and_not_known_has_to_be_typed(connect, browser):
    typed = {"name": "lines", "file": "/a", "db.phrase": MASK}
    refused = browser.post(ADDRESS, {"as": "json", "json": json.dumps(typed)})
    assert refused.status_code == 422
    assert "Type it" in text_of(refused)
    assert connect.changes() == []


@pytest.mark.django_db
def test_a_configuration_that_changed_meanwhile_is_another_plan(connect, browser):
    connect.connectors["lines"] = connector("lines", file="/a")
    Connector.objects.create(name="lines", kind="source", state="RUNNING")
    address = "/connectors/lines/+configure/"
    shown = browser.post(address, {"as": "form", "config:file": "/b"})
    connect.connectors["lines"] = connector("lines", file="/a", **{"batch.size": "7"})
    assert confirm(browser, address, shown).status_code == 409
    assert connect.changes() == []


@pytest.mark.django_db
def test_errors_of_connect_stand_at_their_fields_without_secrets(connect, browser):
    value = {"name": "batch.size", "recommended_values": [], "errors": [f"Invalid {SECRET}"], "visible": True}
    other = {"name": "unheard.of", "recommended_values": [], "errors": ["Unknown key"]}
    validation = {"configs": [{"definition": None, "value": value}, {"definition": None, "value": other}]}
    connect.answers["PUT", "/connector-plugins/FileSourceConnector/config/validate"] = (200, validation)
    refused = browser.post(ADDRESS, NEW)
    assert refused.status_code == 422
    assert refused.context["form"].errors["config:batch.size"] == [f"Invalid {MASK}"]
    assert refused.context["form"].non_field_errors() == ["unheard.of: Unknown key"]
    assert SECRET not in text_of(refused).replace(NEW["more"], "")


@pytest.mark.django_db
def test_a_seal_is_of_one_person_and_one_connector(administrator, operator):
    sealed = seal(administrator, "lines", {"a": SECRET})
    assert unseal(administrator, "lines", sealed) == {"a": SECRET}
    assert unseal(operator, "lines", sealed) == unseal(administrator, "others", sealed) == {}
    assert unseal(administrator, "lines", "x" + sealed) == unseal(administrator, "lines", "é") == {}
    assert SECRET not in sealed


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("database.password", "x", MASK),
        ("ssl.keystore.password", "x", MASK),
        ("ssl.keystore.location", "/x.jks", "/x.jks"),
        ("sasl.jaas.config", "a b;", MASK),
        ("value.converter.basic.auth.user.info", "me:pw", MASK),
        ("aws.secret.access.key", "x", MASK),
        ("aws.access.key.id", "AKIA", "AKIA"),
        ("connection.url", "postgresql://me:p@ss@db:5432/x", f"postgresql://me:{MASK}@db:5432/x"),
        ("connection.url", "jdbc:postgresql://db/x?user=a&password=b&ssl=c", f"jdbc:postgresql://db/x?user=a&password={MASK}&ssl=c"),
        ("http.url", "http://host:8080/a@b", "http://host:8080/a@b"),
        ("connection.url", "postgresql://me:pa/ss@db:5432/x", f"postgresql://me:{MASK}@db:5432/x"),
        ("connection.url", f"postgresql://me:{'t' * 1_500}@db/x", f"postgresql://me:{MASK}@db/x"),
        ("connection.url", "postgresql://me@db:5432/x?a=b@c", "postgresql://me@db:5432/x?a=b@c"),
        ("connection.uri", "mongodb://me:pw@a:1,b:2/x", f"mongodb://me:{MASK}@a:1,b:2/x"),
        ("urls", "http://a:pw@h1,http://b:pw2@h2/x", f"http://a:{MASK}@h1,http://b:{MASK}@h2/x"),
        ("url", f"https://{'t' * 36}@api.example/x", f"https://{MASK}@api.example/x"),
        ("connection.url", "jdbc:oracle:thin:scott/tiger@//db:1521/x", f"jdbc:oracle:thin:scott/{MASK}@//db:1521/x"),
        ("connection.url", "jdbc:sqlserver://db;user=sa;password=x", f"jdbc:sqlserver://db;user=sa;password={MASK}"),
        ("http.api.url", "https://h/x?api_key=x1&a=b", f"https://h/x?api_key={MASK}&a=b"),
        ("url", "https://h/x?sv=1&sig=abcdefghij%3D&se=2", f"https://h/x?sv=1&sig={MASK}&se=2"),
        ("url", "https://h/x?X-Amz-Signature=abc&b=c", f"https://h/x?X-Amz-Signature={MASK}&b=c"),
        ("headers", "X-Api-Key: abc|Accept: */*", f"X-Api-Key: {MASK}|Accept: */*"),
        ("headers", "Accept:a,Authorization:Basic bWU6cHc=", f"Accept:a,Authorization:{MASK}"),
        ("options", "use Bearer abcdefgh.ijkl-mnop", f"use Bearer {MASK}"),
        ("keyfile", '{"id": "a", "private_key": "abc"}', f'{{"id": "a", "private_key": "{MASK}"}}'),
        ("cert", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END", f"-----BEGIN RSA PRIVATE KEY-----{MASK}-----END"),
        ("slack.url", "https://hooks.slack.com/services/T0/B0/abcdef", f"https://hooks.slack.com/services/{MASK}"),
        ("http.url", "http://host:8080?a=b@c", "http://host:8080?a=b@c"),
        ("fields", "user,token_id,secret_name", "user,token_id,secret_name"),
        ("connection.url", "postgresql://me:${file:/s:pw}@db/x", "postgresql://me:${file:/s:pw}@db/x"),
        ("database.password", "${file:/s:pw}", "${file:/s:pw}"),
        ("declared", "x", MASK),
        ("topics", "tokens,secrets", "tokens,secrets"),
        ("errors.tolerance", "all", "all"),
        ("key.converter", "StringConverter", "StringConverter"),
        ("topic.key.ignore", "true", "true"),
    ],
)  # fmt: skip
def test_what_is_a_secret(key, value, shown):
    assert masked_value(key, value, {"declared"}) == shown
    assert masked_value(key, shown, {"declared"}) == shown


def test_a_text_that_quotes_secrets_quotes_them_no_more():
    config = {"a.password": SECRET, "url": f"http://u:{ANOTHER}@h", "file": "/etc"}
    text = without(f"no {SECRET} for {ANOTHER}, of /etc at ftp://x:yyyy@z", secrets_in(config))
    assert text == f"no {MASK} for {MASK}, of /etc at ftp://x:{MASK}@z"
    assert is_secret("my.token")
    assert not is_secret("token.endpoint.url")


@pytest.mark.parametrize(
    "value",
    [
        *("a://" * 20_000, "a:" * 30_000 + "@", "password" * 9_000, ";password =" * 6_000 + "\n"),
        *("a://b:" * 20_000 + "@", "x-token:" * 20_000, '"token":"' * 20_000, "Bearer " * 20_000, "@" * 90_000),
        *("-----BEGIN PRIVATE KEY-----" * 5_000, "jdbc:oracle:a:b" * 9_000, "a.webhook.office.com" * 5_000),
    ],
)
def test_no_value_takes_long_to_search(value):
    """Each of these would take minutes if what is searched for were not bounded."""
    masked_value("url", value)


@pytest.mark.parametrize(
    "addresses",
    [
        *("ftp://a", "http://", "a:8083", "http://me:pw@a:1", "http://a:1/?x=1", "http://a:x", "http://a b"),
        ",".join(["http://a"] * 17),
    ],
)
def test_what_is_no_address_ends_the_program_with_a_sentence(addresses):
    with pytest.raises(SystemExit, match="BARNABAS_CONNECT"):
        read_connect({"BARNABAS_CONNECT": addresses})


def test_a_password_is_not_sent_readably(tmp_path):
    file = tmp_path / "password"
    file.write_text("me:pw")
    file.chmod(0o600)
    named = {"BARNABAS_CONNECT_AUTHENTICATION_FILE": str(file)}
    with pytest.raises(SystemExit, match="must be https"):
        read_connect({"BARNABAS_CONNECT": "http://connect.example:8083", **named})
    with pytest.raises(SystemExit, match="without BARNABAS_CONNECT"):
        read_connect(named)
    settings = read_connect({"BARNABAS_CONNECT": "https://connect.example:8083/, http://127.0.0.1:8083", **named})
    assert settings.addresses == ("https://connect.example:8083", "http://127.0.0.1:8083")
    assert settings.authentication == ("me", "pw")
    assert read_connect({}) == ConnectSettings()


def _own(config: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in config.items() if key not in ("name", "connector.class")}


def _of_form(page) -> dict[str, str]:
    form = page.context["form"]
    assert SECRET not in text_of(page)
    return {"as": "form", **{item.html_name: item.value() or "" for item in form if not _is_password(item)}}


def _of_json(page) -> dict[str, str]:
    assert SECRET not in text_of(page)
    return {"as": "json", "json": page.context["form"].initial["json"]}


def _is_password(field) -> bool:
    return getattr(field.field.widget, "input_type", "") == "password"


@pytest.mark.django_db
def test_a_deleted_connector_comes_back_as_it_was_without_its_secrets(connect, browser):
    config = {"file": "/a/file", "topic": "lines-in", "db.phrase": SECRET, "my.password": SECRET}
    connect.connectors["lines"] = connector("lines", **config)
    Connector.objects.create(name="lines", kind="source", state="RUNNING")
    doomed = browser.get("/connectors/lines/+delete/")
    browser.post("/connectors/lines/+delete/", {"digest": digest_in(doomed), "typed_name": "lines"})
    connect.connectors.clear()
    Connector.objects.all().delete()
    (link,) = re.findall(r'href="([^"]+\?kept=\d+)"', text_of(browser.get("/connectors/")))
    begun = text_of(browser.get(f"{link}&amp;as=json".replace("&amp;", "&")))
    assert "/a/file" in begun
    assert "lines-in" in begun
    assert SECRET not in begun
    assert MASK not in begun
