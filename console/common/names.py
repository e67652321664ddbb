"""Names that are fixed: of the one cluster there is, and of those who act without an account."""

#: One cluster for now; the name of its row is where a second one will hang.
DEFAULT_CLUSTER = "default"
#: What rows of no account are called in the audit. No account is given such a name.
SYSTEM, ANONYMOUS = "system", "anonymous"
RESERVED_NAMES = frozenset({SYSTEM, ANONYMOUS})
