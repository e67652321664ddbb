"""When a linked account was last proved; of those that are there, their last login."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def take_last_logins(apps: Apps, _schema_editor: BaseDatabaseSchemaEditor) -> None:
    for identity in apps.get_model("access", "Identity").objects.select_related("user"):
        identity.proved_at = identity.user.last_login
        identity.save(update_fields=["proved_at"])


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0001_squashed_0008_tokens_of_clusters"),
    ]

    operations = [
        migrations.AddField(
            model_name="identity",
            name="proved_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(take_last_logins, migrations.RunPython.noop),
    ]
