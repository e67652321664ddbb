"""Bounds on what a provider may say, each with its reason."""

#: Ten thousand groups of twenty letters in an ID token are 300 KB.
ANSWER_BYTES_MAX = 512 * 1024
#: Clocks of two hosts that keep time; a token's life is minutes.
SKEW_S = 30
#: OpenID Connect Core, 2.
SUBJECT_LENGTH_MAX = 255
#: In base64: ten thousand groups of twenty letters.
TOKEN_BYTES_MAX = 400 * 1024
#: More than any directory lets a person be in.
GROUPS_TOLD_MAX = 20_000
#: Honest providers have two or three, while they change.
KEYS_MAX = 50
#: Codes of the large providers have up to 2,000 characters.
CODE_LENGTH_MAX = 4_096
#: What a provider says of itself changes with its releases; its keys are asked for anew when one is not known.
DISCOVERY_KEPT_S = 3_600
#: One that is away is not asked by everybody who comes meanwhile.
AWAY_KEPT_S = 5
#: Logins that ask the provider at one time: one that hangs must not hold more threads.
EXCHANGES_MAX = 8
