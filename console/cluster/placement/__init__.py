"""Where replicas lie and who leads: brokers × partitions, skew, and the election of preferred leaders."""
