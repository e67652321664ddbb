from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("connectors", "0001_connectors"),
    ]

    operations = [
        migrations.AddField(
            model_name="connector",
            name="unassigned_since_ms",
            field=models.BigIntegerField(null=True),
        ),
    ]
