"""Windows of the message audit as a stream job keeps them: by the audit's own ledger and verdict, in bounded state."""
