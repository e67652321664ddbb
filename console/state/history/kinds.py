"""The kinds of changes, and what their objects are."""

from django.db import models


class ChangeKind(models.TextChoices):
    LEADER = "leader", "leader"
    ISR = "isr", "in-sync replicas"
    REPLICAS = "replicas", "replicas"
    BROKER = "broker", "broker"
    CONTROLLER = "controller", "controller"
    UNCLEAN = "unclean", "unclean election"
    TOPIC = "topic", "topic"
    PROCESS = "process", "process"
    SETTINGS = "settings", "topic settings"
    BROKER_SETTINGS = "brokerconfig", "broker settings"
    ACL = "acl", "ACL"
    QUOTA = "quota", "quota"
    SCHEMA = "schema", "schema"
    OFFSETS = "offsets", "offsets"
    GROUP = "group", "group"


#: Whose object is a topic.
TOPIC_KINDS = (
    ChangeKind.LEADER,
    ChangeKind.ISR,
    ChangeKind.REPLICAS,
    ChangeKind.UNCLEAN,
    ChangeKind.TOPIC,
    ChangeKind.SETTINGS,
    ChangeKind.SCHEMA,
)
