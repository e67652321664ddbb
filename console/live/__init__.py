"""What makes pages move: the collector, the channel groups, the websocket consumer and the push of partials."""
