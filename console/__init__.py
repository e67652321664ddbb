"""The console: shows a Kafka cluster live and runs its processes. Only `console.kit.gateway` may import `broker`."""
