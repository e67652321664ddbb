"""The console: shows a Kafka cluster live and runs its processes. Only `console.gateway` may import `broker`."""
