"""One door for change: a plan is shown, confirmed as it was shown, carried out once, kept in the audit, and taken back."""
