from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("topics", "0004_read_rate")]

    operations = [migrations.AddField("partition", "adding", models.JSONField(default=list))]
