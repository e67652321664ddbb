"""One cluster's topics in another one: records with key, headers, timestamp and partition, in order, batch by batch.

What is copied is the batches as they lie in the source's log (`batches`), each stamped with a producer of the target's
(`producer`); records are unpacked only where a batch cannot be taken as it is. How far a partition is copied, and which
offsets its records got, stands in a compacted topic of the target (`ledger`), with exactly_once in the same transaction
as the records. Where records have been before stands there, too, by producer id (`provenance`): that makes loops
impossible without a header in every record.
"""
