"""Who did what, when, with which result. Append only; written by every action, read by administrators."""
