"""One door for change: a plan is shown, confirmed, carried out once, kept in the audit, and taken back."""
