"""What a broker can be told of quotas: how long it remembers what was used."""

from broker.config.definition import parse_int32, setting


class QuotaSettings:
    """By attribute, as `BrokerSettings`."""

    quota_window_num = setting(parse_int32, 11, "Samples that quotas of clients are measured by.", at_least=1)
    quota_window_size_seconds = setting(parse_int32, 1, "How long each of these samples is.", at_least=1)
    controller_quota_window_num = setting(
        parse_int32, 11, "Samples that the quota of changes to topics may be saved up for.", at_least=1
    )
    controller_quota_window_size_seconds = setting(parse_int32, 1, "How long each of these is.", at_least=1)
