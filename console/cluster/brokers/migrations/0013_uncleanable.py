from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("brokers", "0012_crowded_budgets")]

    operations = [migrations.AddField("brokerreport", "uncleanable", models.JSONField(default=list))]
