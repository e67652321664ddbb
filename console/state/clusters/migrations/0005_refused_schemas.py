from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0004_denied_and_stuck")]

    operations = [
        migrations.AddField("clusterstate", "refused_schemas", models.JSONField(default=list)),
        migrations.AddField("clusterstate", "registry_error", models.TextField(blank=True, default="")),
    ]
