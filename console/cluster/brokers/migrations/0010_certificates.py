from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("brokers", "0009_left_at")]

    operations = [migrations.AddField("brokerreport", "certificates", models.JSONField(default=dict))]
