"""Changing access lists: who gains or loses is shown, confirmed, done once, kept, audited and taken back."""

import pytest
from django.test import Client

from console.cluster.acls.kept import rule_id
from console.cluster.acls.plan import LOCK_OUT, RULES_MAX
from console.kit.audit.models import AuditEvent
from console.kit.gateway.acls.interface import AclRule
from console.kit.plans.models import KeptInverse
from console.state.clusters.models import Topic
from tests.console.cluster.acls.rules import CONSOLE, allow, deny, on_cluster
from tests.console.confirming import digest_in

CREATE = "/access-lists/+create/?permission=ALLOW&resource=TOPIC&pattern=LITERAL"
CHANGE = "/access-lists/+change/"


@pytest.fixture(autouse=True)
def _orders(db):
    Topic.objects.create(name="orders", partition_count=1)


def posted(response, **more) -> dict[str, str]:
    return {"digest": digest_in(response), **dict(response.context["fields"]), **more}


def effects_of(response) -> list[str]:
    return [str(effect) for effect in response.context["effects"]]


def test_a_rule_is_created_as_planned_and_the_audit_knows(acls, administrator, client_of):
    client = client_of(administrator)
    shown = client.get(f"{CREATE}&principal=User:alice&name=orders&operations=READ&operations=WRITE&operations=ALTER")
    assert effects_of(shown) == ["User:alice gains Read, Write, Alter, Describe on Topic orders"]
    command = "kafka-acls.sh --bootstrap-server"
    assert command in shown.context["plan"].command
    assert "--operation Alter --operation Read --operation Write --topic orders" in shown.context["plan"].command

    answer = client.post(CHANGE, posted(shown), follow=True)
    assert "Access lists were changed." in answer.content.decode()
    wanted = {allow("User:alice", name) for name in ("READ", "WRITE", "ALTER")}
    assert set(acls.look().rules) == wanted | {on_cluster(CONSOLE, "ALL")}
    event = AuditEvent.objects.get()
    assert (event.actor_name, event.action, event.object_type, event.result) == (
        "administrator",
        "create access rules",
        "access lists",
        "done",
    )
    assert set(event.after) == {str(item) for item in wanted}


def test_what_was_done_is_undone_by_a_plan_of_its_own(acls, administrator, client_of):
    client = client_of(administrator)
    gone = [allow("User:alice", "READ", "orders", pattern="PREFIXED", host="10.0.0.1"), deny("User:*", "WRITE", "*")]
    acls.create(gone)
    before = acls.look().rules
    chosen = "&".join(f"remove={rule_id(item)}" for item in gone)
    shown = client.get(f"{CHANGE}?{chosen}")
    assert "User:alice loses Read, Describe on Topic orders from 10.0.0.1" in effects_of(shown)
    client.post(CHANGE, posted(shown))
    assert set(before) - set(acls.look().rules) == set(gone)

    undo = client.get(f"{CHANGE}?undo={KeptInverse.objects.get().pk}")
    assert "This takes back" in undo.content.decode()
    client.post(CHANGE, posted(undo))
    assert acls.look().rules == before
    assert AuditEvent.objects.filter(result="done").count() == 2


def test_everybody_is_named_who_a_rule_about_everybody_concerns(acls, administrator, client_of):
    acls.create([allow("User:alice", "ALL")])
    address = f"{CREATE.replace('ALLOW', 'DENY')}&principal=User:*&name=orders&operations=READ"
    shown = client_of(administrator).get(address)
    assert effects_of(shown) == ["User:alice loses Read on Topic orders"]


def test_a_first_rule_takes_from_all_what_everybody_could_do_without_one(acls, administrator, client_of):
    acls.allows_if_none = True
    shown = client_of(administrator).get(f"{CREATE}&principal=User:alice&name=orders&operations=ALL")
    losing = {effect.principal for effect in shown.context["effects"] if not effect.gains}
    assert losing == {"User:bob", "User:console", "User:*"}


def test_who_would_lock_out_the_console_has_to_say_so(acls, administrator, client_of):
    client = client_of(administrator)
    shown = client.get(f"{CHANGE}?remove={rule_id(on_cluster(CONSOLE, 'ALL'))}")
    text = shown.content.decode()
    assert "The console itself: User:console loses" in text
    assert "No principal could change access lists any more. Today User:console may." in text
    assert client.post(CHANGE, posted(shown)).status_code == 422
    assert len(acls.look().rules) == 1
    client.post(CHANGE, posted(shown, typed_name=LOCK_OUT))
    assert acls.look().rules == ()


@pytest.mark.parametrize(
    "rule",
    [
        deny("User:*", "ALTER", "kafka-cluster", "CLUSTER"),
        deny(CONSOLE, "ALL", "kafka-cluster", "CLUSTER", host="10.0.0.1"),
        deny(CONSOLE, "DESCRIBE", "kafka-cluster", "CLUSTER"),
    ],
)
def test_a_denial_locks_out_the_console_from_anywhere(rule, acls, administrator, client_of):
    query = f"permission=DENY&resource=CLUSTER&pattern=LITERAL&principal={rule.principal}&operations={rule.operation}"
    shown = client_of(administrator).get(f"/access-lists/+create/?{query}&host={rule.host.replace('*', '')}")
    assert shown.context["plan"].typed_name == LOCK_OUT


def test_another_who_may_alter_is_no_last_one_and_a_super_user_is_never_locked_out(acls, administrator, client_of):
    acls.create([on_cluster("User:alice", "ALTER")])
    acls.own_principal = "User:root"
    client = client_of(administrator)
    assert client.get(f"{CHANGE}?remove={rule_id(on_cluster(CONSOLE, 'ALL'))}").context["plan"].losses == ()
    acls.delete([on_cluster("User:alice", "ALTER")])
    acls.super_users = frozenset({"User:root"})
    assert client.get(f"{CHANGE}?remove={rule_id(on_cluster(CONSOLE, 'ALL'))}").context["plan"].losses == ()


def test_rules_that_another_changed_meanwhile_refuse_the_plan(acls, administrator, client_of):
    client = client_of(administrator)
    shown = client.get(f"{CREATE}&principal=User:alice&name=orders&operations=READ")
    acls.create([deny("User:alice", "DESCRIBE")])
    answer = client.post(CHANGE, posted(shown))
    assert answer.status_code == 409
    assert allow("User:alice", "READ") not in acls.look().rules
    assert AuditEvent.objects.get().result == "refused"


def test_a_rule_that_is_there_already_is_no_change(acls, administrator, client_of):
    acls.create([allow("User:alice", "READ")])
    shown = client_of(administrator).get(f"{CREATE}&principal=User:alice&name=orders&operations=READ")
    assert "there is such a rule" in shown.content.decode()


def test_all_that_the_filters_choose_go_in_one_plan_but_not_without_an_end(acls, administrator, client_of):
    acls.create([allow("User:gone", "READ", f"t{number}") for number in range(3)] + [allow("User:alice", "READ")])
    client = client_of(administrator)
    shown = client.get(f"{CHANGE}?matching=1&principal=gone")
    client.post(CHANGE, posted(shown))
    assert [rule.principal for rule in acls.look().rules] == [CONSOLE, "User:alice"]
    acls.create([allow("User:gone", "READ", f"t{number}") for number in range(RULES_MAX + 1)])
    shown = client.get(f"{CHANGE}?matching=1&principal=gone")
    assert client.post(CHANGE, posted(shown)).status_code == 409
    assert len(acls.look().rules) == RULES_MAX + 3


@pytest.mark.parametrize("person", ["viewer", "operator", "limited", "outsider"])
def test_others_change_nothing(person, request, acls, administrator, client_of):
    form = posted(client_of(administrator).get(f"{CREATE}&principal=User:alice&name=orders&operations=READ"))
    client = client_of(request.getfixturevalue(person))
    assert client.post(CHANGE, form).status_code == 403
    assert client.get(f"{CREATE}&principal=User:alice&name=orders&operations=READ").status_code == 403
    assert len(acls.look().rules) == 1


def test_without_its_token_a_form_is_refused(acls, administrator, client_of):
    form = posted(client_of(administrator).get(f"{CREATE}&principal=User:alice&name=orders&operations=READ"))
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(administrator)
    assert strict.post(CHANGE, form).status_code == 403
    assert len(acls.look().rules) == 1


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("principal=alice&name=orders&operations=READ", "A principal is a type and a name"),
        ("principal=User:alice&name=&operations=READ", "Invalid empty resource name"),
        ("principal=User:alice&name=a/b&operations=READ", "contains &#x27;/&#x27;"),
        ("principal=User:alice&name=orders&operations=CLUSTER_ACTION", "can be done with a Topic"),
        ("principal=User:alice&name=orders&operations=FLY", "Select a valid choice"),
    ],
)
def test_what_can_be_no_rule_is_said_beside_its_field(typed, why, acls, administrator, client_of):
    answer = client_of(administrator).get(f"{CREATE}&{typed}")
    assert (answer.status_code, why in answer.content.decode()) == (422, True)


def test_a_host_is_kept_as_brokers_compare_it(acls, administrator, client_of):
    shown = client_of(administrator).get(f"{CREATE}&principal=User:alice&name=orders&operations=READ&host=::1")
    client_of(administrator).post(CHANGE, posted(shown))
    assert {rule.host for rule in acls.look().rules} == {"*", "0:0:0:0:0:0:0:1"}


UNREADABLE = ["", "[]", "{", '{"added": 3}', '{"added": [["TOPIC"]]}', "[" * 100_000]


@pytest.mark.parametrize("change", [*UNREADABLE, '{"added": [["X","o","LITERAL","User:a","ALLOW","READ","*"]]}'])
def test_a_plan_that_cannot_be_read_changes_nothing(change, acls, administrator, client_of):
    answer = client_of(administrator).post(CHANGE, {"digest": "0" * 32, "change": change})
    assert answer.status_code == 422
    assert len(acls.look().rules) == 1


def test_what_the_cluster_refuses_of_it_is_told_and_not_kept(acls, administrator, client_of):
    """A rule that a form of ours would not send."""
    client = client_of(administrator)
    bad = AclRule("TOPIC", "a/b", "LITERAL", "User:alice", "ALLOW", "READ")
    kept = KeptInverse.objects.create(
        actor_name="x",
        action="delete access rules",
        object_type="access lists",
        object_name="cluster",
        values={"added": [["TOPIC", "a/b", "LITERAL", "User:alice", "ALLOW", "READ", "*"]], "removed": []},
    )
    answer = client.post(CHANGE, posted(client.get(f"{CHANGE}?undo={kept.pk}")), follow=True)
    assert f"{bad} was not changed" in answer.content.decode()
    assert KeptInverse.objects.count() == 1
    assert AuditEvent.objects.get().result == "refused"
