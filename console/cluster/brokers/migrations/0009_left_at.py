"""When a broker dropped out is no departure: that word was used for one that leaves for good."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("brokers", "0008_not_loaded")]

    operations = [migrations.RenameField("broker", "departures", "left_at_ms")]
