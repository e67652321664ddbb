"""The coordinators of transactions, one for each partition of `__transaction_state`, and what they ask of others."""
