"""Reading records becomes a right of its own. Who could read them by the role viewer, or by a rule, still can."""

from django.db import migrations


def keep_what_people_have(apps, schema_editor) -> None:
    groups = apps.get_model("auth", "Group").objects
    reader = groups.get_or_create(name="reader")[0]
    for viewer in groups.filter(name="viewer"):
        for user in viewer.user_set.all():
            user.groups.add(reader)
            user.groups.remove(viewer)
    apps.get_model("access", "NameRule").objects.filter(resource="topic", level="viewer").update(level="reader")


def give_back(apps, schema_editor) -> None:
    groups = apps.get_model("auth", "Group").objects
    viewer = groups.get_or_create(name="viewer")[0]
    for reader in groups.filter(name="reader"):
        for user in reader.user_set.all():
            user.groups.add(viewer)
        reader.delete()
    apps.get_model("access", "NameRule").objects.filter(level="reader").update(level="viewer")


class Migration(migrations.Migration):
    dependencies = [("access", "0003_rules_and_read_only"), ("auth", "0012_alter_user_first_name_max_length")]
    operations = [migrations.RunPython(keep_what_people_have, give_back)]
