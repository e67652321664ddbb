from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("brokers", "0001_squashed_0010_certificates")]

    operations = [migrations.AddField("brokerreport", "foreign_brokers", models.JSONField(default=list))]
