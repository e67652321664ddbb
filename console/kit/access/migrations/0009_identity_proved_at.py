"""When a linked account was last proved; of those that are there, their last login."""

from django.db import migrations, models


def take_last_logins(apps, _schema_editor) -> None:
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
