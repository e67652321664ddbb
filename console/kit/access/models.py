"""How far people's rights reach, whom a provider knows them as, what is read-only, tokens of programs,
and failed logins that count."""

from django.conf import settings
from django.db import models

from console.kit.access.reach import PATTERN_LENGTH_MAX, AccessLevel, AccessRule, Resource

USERNAME_LENGTH_MAX = 150
ADDRESS_LENGTH_MAX = 45
#: OpenID Connect Core, 2: a subject has at most 255 ASCII characters.
SUBJECT_LENGTH_MAX = 255
ISSUER_LENGTH_MAX = 255
#: More than `declared_clusters.NAME` allows.
CLUSTER_LENGTH_MAX = 40


class FailedLogin(models.Model):
    username = models.CharField(max_length=USERNAME_LENGTH_MAX)
    address = models.CharField(max_length=ADDRESS_LENGTH_MAX)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["username", "address"], name="failed_login_who")]


class NameRule(models.Model):
    """One rule of one person; what it means is in `reach.py`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="name_rules")
    resource = models.CharField(max_length=10)
    pattern = models.CharField(max_length=PATTERN_LENGTH_MAX)
    level = models.CharField(max_length=10)

    class Meta:
        ordering = ["resource", "pattern"]
        constraints = [models.UniqueConstraint(fields=["user", "resource", "pattern"], name="rule_of_user")]

    def __str__(self) -> str:
        return str(self.rule)

    @property
    def rule(self) -> AccessRule:
        return AccessRule(Resource(self.resource), self.pattern, AccessLevel(self.level))


class ClusterRole(models.Model):
    """The role of one person in one cluster, where it is another than everywhere else: a `AccessLevel`.

    None of them administers: accounts are those of all clusters.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="cluster_roles")
    cluster = models.CharField(max_length=CLUSTER_LENGTH_MAX)
    role = models.CharField(max_length=10, choices=[(item.value, item.value) for item in AccessLevel])

    class Meta:
        ordering = ["cluster"]
        constraints = [models.UniqueConstraint(fields=["user", "cluster"], name="role_in_cluster")]

    def __str__(self) -> str:
        return f"{self.role} in {self.cluster}"


class ReadOnlyMode(models.Model):
    """While the row is there, nothing under `scope` is changed: the console as a whole, or one cluster by its name."""

    scope = models.CharField(max_length=100, unique=True)
    since = models.DateTimeField(auto_now_add=True)
    by_name = models.CharField(max_length=USERNAME_LENGTH_MAX)
    reason = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"{self.scope} is read-only since {self.since:%Y-%m-%d %H:%M} by {self.by_name}"


class PasswordToChange(models.Model):
    """While the row exists, another person knows the account's password, so it must be changed."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="password_to_change")

    def __str__(self) -> str:
        return f"{self.user} has to choose a password"


class Identity(models.Model):
    """The owner of an account at a provider of single sign-on: known by issuer and subject, never by a name."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identity")
    issuer = models.CharField(max_length=ISSUER_LENGTH_MAX)
    subject = models.CharField(max_length=SUBJECT_LENGTH_MAX)
    #: What the provider calls itself here, and the person; neither decides anything.
    provider = models.CharField(max_length=20)
    shown_name = models.CharField(max_length=USERNAME_LENGTH_MAX)
    #: Those of the person's groups, at the last login, of which the rules speak.
    groups = models.JSONField(default=list)
    #: When the provider or the directory last said who this is: the person's tokens work for a time from then on.
    proved_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_of_identity")]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class ApiToken(models.Model):
    """What it opens, and how it is found, is in `api_tokens.py`. One that is taken back has no row any more."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60)
    #: SHA-256 of the secret, which is kept nowhere.
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    #: Names of the clusters it opens; none: all of them.
    clusters = models.JSONField(default=list)
    made_at = models.DateTimeField(auto_now_add=True)
    ends_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="token_of_user")]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"
