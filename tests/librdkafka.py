"""What librdkafka 2.16 is told lest it stands still: two of its waits end by chance only, whatever timeout was given.

Both come of its forgetting a broker that metadata do not name any more (bootstrap servers, too, once it knows better),
and neither asks a broker anything while it lasts.
"""

#: Who asks for a group's coordinator (send_offsets_to_transaction, the admin client) and remembers a forgotten broker
#: waits until any connection opens or closes (librdkafka #5511, #5456): one that nobody uses closes soon.
GROUP_COORDINATOR_IS_ASKED = {"connections.max.idle.ms": 5_000}
#: A consumer whose first question for its topics was under way to a forgotten broker joins its group with the next
#: look at them, by default after five minutes.
GROUP_IS_JOINED = {"topic.metadata.refresh.interval.ms": 5_000}
