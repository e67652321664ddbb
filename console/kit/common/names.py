"""Names that are fixed: of the one cluster there is, and of those who act without an account."""

#: The row of a cluster's state: each cluster has a database of its own, so it is called so in all of them.
DEFAULT_CLUSTER = "default"
#: What rows of no account are called in the audit. No account is given such a name.
SYSTEM, ANONYMOUS = "system", "anonymous"
RESERVED_NAMES = frozenset({SYSTEM, ANONYMOUS})
