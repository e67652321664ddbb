"""What brokers of Apache Kafka 3.9.1 left in ZooKeeper, byte for byte, recorded from two that ran in a chroot."""

BROKER_11 = (
    b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
    b'"endpoints":["PLAINTEXT://127.0.0.1:39192"],"jmx_port":-1,"port":39192,"host":"127.0.0.1","version":5,'
    b'"timestamp":"1795862968834"}'
)
#: Ephemeral ones, which go with their broker.
OF_RUNNING_BROKERS = {
    "/brokers/ids/11": BROKER_11,
    "/controller": b'{"version":2,"brokerid":11,"timestamp":"1795862968198","kraftControllerEpoch":-1}',
}
LASTING = {
    "/admin/delete_topics": None,
    "/brokers/ids": None,
    "/brokers/seqid": None,
    "/brokers/topics": None,
    "/cluster/id": b'{"version":"1","id":"ERd26dhWQDaH-fj551lXuQ"}',
    "/config/brokers": None,
    "/config/changes": None,
    "/config/clients": None,
    "/config/ips": None,
    "/config/topics": None,
    "/config/users": None,
    "/consumers": None,
    "/controller_epoch": b"1",
    "/feature": b'{"features":{},"version":2,"status":1}',
    "/isr_change_notification": None,
    "/latest_producer_id_block": None,
    "/log_dir_event_notification": None,
}


async def write(session, *, is_running: bool) -> None:
    for path, data in {**LASTING, **(OF_RUNNING_BROKERS if is_running else {})}.items():
        await session.ensure(path.rpartition("/")[0] or "/")
        await session.create(path, data, ephemeral=path in OF_RUNNING_BROKERS)
