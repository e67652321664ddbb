"""Changes that are over keep no form."""

from django.db import migrations


def forget(apps, schema_editor) -> None:
    changes = apps.get_model("changes", "ProposedChange").objects.using(schema_editor.connection.alias)
    changes.exclude(state__in=("waiting", "doing")).update(form=[])


class Migration(migrations.Migration):
    dependencies = [("changes", "0001_initial")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
