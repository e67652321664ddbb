"""Log compaction: of each key only the last record stays (KIP-58, KIP-354, KIP-534, KIP-346).

`plan` decides which segments are due, `rewrite` what stays of a batch, `transactions` which batches count; all three
are pure. `swap` has the steps on disk, in an order that a stop at any point leaves either the old segments or the new
one. `cleaner` runs one pass over one log, `log_cleaner` picks the log, remembers how far each is clean and sets aside
those that fail.

Everything here blocks and is for a worker thread; only the exchange of segments itself runs at the log's owner.
"""
