"""What may become of a running broker's listeners: they come and go; one that is there stays as it is (KIP-226)."""

from broker.config.broker import BrokerConfig
from broker.config.definition import UpdateMode
from broker.config.dynamic import NotDynamicError, update_mode
from broker.config.listener_settings import prefixed


def check_listener_change(now: BrokerConfig, then: BrokerConfig) -> None:
    """ConfigError with one sentence if a broker cannot go from one to the other while it runs."""
    then.check_listeners()
    before = {listener.listener: listener for listener in now.listeners}
    stay = [listener for listener in then.listeners if listener.listener in before]
    for endpoint in stay:
        if endpoint != before[endpoint.listener]:
            raise NotDynamicError(
                f"listeners={endpoint}: {endpoint.listener} listens on {before[endpoint.listener]} already; "
                "add a listener of another name, or change the file and restart the broker"
            )
        protocol, was = then.of_listener(endpoint.listener).protocol, now.of_listener(endpoint.listener).protocol
        if protocol is not was:
            raise NotDynamicError(
                f"listener.security.protocol.map={endpoint.listener}:{protocol}: clients of {endpoint.listener} "
                f"speak {was}; add a listener of another name, or change the file and restart the broker"
            )
    _check_what_stays({endpoint.listener.lower() for endpoint in stay}, now, then)


def _check_what_stays(listeners: set[str], now: BrokerConfig, then: BrokerConfig) -> None:
    for name in sorted(now.of_listeners.keys() | then.of_listeners.keys()):
        parsed = prefixed(name)
        if parsed is None or parsed.listener not in listeners or update_mode(name) is not UpdateMode.READ_ONLY:
            continue
        if now.of_listeners.get(name) != then.of_listeners.get(name):
            raise NotDynamicError(
                f"{name} cannot change for a listener that is there; "
                "add a listener of another name, or change the file and restart the broker"
            )
