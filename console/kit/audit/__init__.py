"""The audit log: actor, action, time and result. Append only; written by every action, read by administrators."""
