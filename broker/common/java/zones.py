"""Names of time zones as SimpleDateFormat of the JDK 21 reads them in English, and the offset that each stands for.

Left out are names whose offset has changed since 2000, but Moscow's. Written by asking a JVM. Pure.
"""

#: By the minutes before or behind UTC.
_NAMES_BY_MINUTES: dict[int, tuple[str, ...]] = {
    -660: ("NUST|NUT|Niue Summer Time|Niue Time|SDT|SST|Samoa Daylight Time|Samoa Standard Time",),
    -600: (
        "CKHST|CKT|Cook Islands Half Summer Time|Cook Islands Standard Time|HAST|HDT|HST",
        "Hawaii Standard Time|Hawaii-Aleutian Daylight Time|Hawaii-Aleutian Standard Time|TAHST|TAHT",
        "Tahiti Summer Time|Tahiti Time",
    ),
    -570: ("MARST|MART|Marquesas Summer Time|Marquesas Time",),
    -540: ("AKST|Alaska Standard Time|GAMST|GAMT|Gambier Summer Time|Gambier Time|HADT",),
    -480: (
        "AKDT|Alaska Daylight Time|Northwest Mexico Standard Time|PST|Pacific Standard Time",
        "Pitcairn Daylight Time|Pitcairn Time",
    ),
    -420: (
        "MST|Mexican Pacific Standard Time|Mountain Standard Time|Northwest Mexico Daylight Time|PDT",
        "Pacific Daylight Time",
    ),
    -360: (
        "CST|Central Standard Time|GALST|GALT|Galapagos Summer Time|Galapagos Time|MDT",
        "Mountain Daylight Time",
    ),
    -300: (
        "ACT|Acre Standard Time|Acre Summer Time|CDT|COST|COT|Central Daylight Time",
        "Colombia Standard Time|Colombia Summer Time|Cuba Standard Time|EASST|ECST|ECT|EST",
        "Eastern Standard Time|Ecuador Summer Time|Ecuador Time|PEST|PET|Peru Standard Time",
        "Peru Summer Time",
    ),
    -240: (
        "AST|Amazon Standard Time|Atlantic Standard Time|BOST|BOT|Bolivia Summer Time|Bolivia Time|CLT",
        "Chile Standard Time|Coyhaique Standard Time|Cuba Daylight Time|EDT|Eastern Daylight Time|GYST",
        "GYT|Guyana Summer Time|Guyana Time|PYT|Paraguay Standard Time|VEST|VET|Venezuela Summer Time",
        "Venezuela Time",
    ),
    -210: ("NST|Newfoundland Standard Time",),
    -180: (
        "ADT|ARST|Argentina Summer Time|Argentine Summer Time|Atlantic Daylight Time|BRT",
        "Brasilia Standard Time|CLST|Chile Summer Time|French Guiana Summer Time|French Guiana Time|GFST",
        "GFT|GMT-03:00|PMST|ROTST|ROTT|Rothera Summer Time|Rothera Time|SRST|SRT",
        "St. Pierre & Miquelon Standard Time|Suriname Summer Time|Suriname Time|UYST|UYT",
        "Uruguay Standard Time|Uruguay Summer Time",
    ),
    -150: ("NDT|Newfoundland Daylight Time",),
    -120: (
        "FNT|Fernando de Noronha Standard Time|PMDT|South Georgia Daylight Time|South Georgia Time",
        "St. Pierre & Miquelon Daylight Time",
    ),
    -60: ("AZOT|Azores Standard Time|CVST|CVT|Cape Verde Standard Time|Cape Verde Summer Time|EGT",),
    0: (
        "AZOST|Azores Summer Time|Coordinated Universal Time|EGST|GHST|GMT|Ghana Summer Time",
        "Greenwich Mean Time|UTC|WET|Western European Standard Time",
    ),
    60: (
        "BST|British Summer Time|CET|Central European Standard Time|Central European Time",
        "Irish Standard Time|MET|Middle Europe Time|WAST|WAT|WEST|West Africa Standard Time",
        "West Africa Summer Time|Western European Summer Time",
    ),
    120: (
        "CAST|CAT|CEST|Central Africa Time|Central African Summer Time|Central European Summer Time|EET",
        "Eastern European Standard Time|IST|Israel Standard Time|MEST|Middle Europe Summer Time|SAST",
        "South Africa Standard Time|South Africa Summer Time",
    ),
    180: (
        "Arabian Daylight Time|Arabian Standard Time|EAST|EAT|EEST|East Africa Time",
        "Eastern African Summer Time|Eastern European Summer Time|IDT|Israel Daylight Time|MSK",
        "Moscow Standard Time|SYOST|SYOT|Syowa Summer Time|Syowa Time|Volgograd Standard Time",
    ),
    210: ("IRST|Iran Standard Time",),
    240: (
        "AMT|AZT|Armenia Standard Time|Azerbaijan Standard Time|GDT|GET|GMT+04:00|GST",
        "Georgia Standard Time|Gulf Daylight Time|Gulf Standard Time|MUST|MUT|Mauritius Standard Time",
        "Mauritius Summer Time|REST|RET|Reunion Summer Time|SAMT|SCST|SCT|Samara Standard Time",
        "Seychelles Summer Time|Seychelles Time",
    ),
    270: ("AFST|AFT|Afghanistan Summer Time|Afghanistan Time",),
    300: (
        "French Southern & Antarctic Lands Summer Time|French Southern & Antarctic Time|GMT+05:00|MVST",
        "MVT|Maldives Summer Time|Maldives Time|PKST|PKT|Pakistan Standard Time|Pakistan Summer Time|QYZT",
        "TFST|TFT|TJST|TJT|TMST|TMT|Tajikistan Summer Time|Tajikistan Time|Turkmenistan Standard Time",
        "Turkmenistan Summer Time|UZST|UZT|Uzbekistan Standard Time|Uzbekistan Summer Time|YEKT",
        "Yekaterinburg Standard Time",
    ),
    345: ("NPST|NPT|Nepal Summer Time|Nepal Time",),
    360: (
        "ALMT|BDST|BDT|BTST|BTT|Bangladesh Standard Time|Bangladesh Summer Time|Bhutan Summer Time",
        "Bhutan Time|IOST|IOT|Indian Ocean Territory Summer Time|Indian Ocean Time|OMST",
        "Omsk Standard Time|XJDT|XJT|Xinjiang Daylight Time|Xinjiang Standard Time",
    ),
    390: ("CCST|CCT|Cocos Islands Summer Time|Cocos Islands Time|MMST|MMT|Myanmar Summer Time|Myanmar Time",),
    420: (
        "CXST|CXT|Christmas Island Summer Time|Christmas Island Time|DAVST|DAVT|Davis Summer Time",
        "Davis Time|GMT+07:00|HOVST|HOVT|Hovd Standard Time|Hovd Summer Time|ICST|ICT",
        "Indochina Summer Time|Indochina Time|KRAT|Krasnoyarsk Standard Time|Tomsk Standard Time|VOSST",
        "VOST|Vostok Time|WIB|WIST|West Indonesia Summer Time|Western Indonesia Time",
    ),
    480: (
        "AWDT|AWST|Australian Western Daylight Time|Australian Western Standard Time|BNST|BNT",
        "Brunei Darussalam Time|Brunei Summer Time|CHOST|CHOT|CIST|Central Indonesia Summer Time",
        "Central Indonesia Time|China Daylight Time|China Standard Time|HKST|HKT|Hong Kong Standard Time",
        "Hong Kong Summer Time|IRKT|Irkutsk Standard Time|MYST|MYT|Malaysia Summer Time|Malaysia Time",
        "Philippine Standard Time|Philippine Summer Time|SGST|SGT|Singapore Standard Time",
        "Singapore Summer Time|Taipei Daylight Time|Taipei Standard Time|ULAST|ULAT",
        "Ulaanbaatar Standard Time|Ulaanbaatar Summer Time",
    ),
    525: ("ACWDT|ACWST|Australian Central Western Daylight Time|Australian Central Western Standard Time",),
    540: (
        "EIST|JDT|JST|Japan Daylight Time|Japan Standard Time|KDT|KST|Korean Daylight Time",
        "Korean Standard Time|PWST|PWT|Palau Summer Time|Palau Time|WIT|YAKT|Yakutsk Standard Time",
    ),
    570: ("ACDT|ACST|Australian Central Daylight Time|Australian Central Standard Time",),
    600: (
        "AEST|Australian Eastern Standard Time|CHUST|CHUT|ChDT|ChST|Chamorro Daylight Time",
        "Chamorro Standard Time|Chuuk Summer Time|Chuuk Time|DDUST|DDUT|Dumont-d'Urville Summer Time|PGST",
        "PGT|Papua New Guinea Summer Time|Papua New Guinea Time",
    ),
    630: ("LHST|Lord Howe Standard Time",),
    660: (
        "AEDT|Australian Eastern Daylight Time|KOSST|KOST|Kosrae Summer Time|Kosrae Time|LHDT",
        "Lord Howe Daylight Time|MAGT|Magadan Standard Time|NCST|NCT|New Caledonia Standard Time",
        "New Caledonia Summer Time|PONST|PONT|Pohnpei Summer Time|Ponape Time|SBST|SBT|SRET",
        "Solomon Is. Summer Time|Solomon Islands Time|Srednekolymsk Time|VUST|VUT|Vanuatu Standard Time",
        "Vanuatu Summer Time",
    ),
    720: (
        "ANAT|Anadyr Standard Time|FJT|Fiji Standard Time|GILST|GILT|Gilbert Is. Summer Time",
        "Gilbert Islands Time|MHST|MHT|Marshall Islands Summer Time|Marshall Islands Time|NRST|NRT|NZST",
        "Nauru Summer Time|Nauru Time|New Zealand Standard Time|TVST|TVT|Tuvalu Summer Time|Tuvalu Time",
        "WAKST|WAKT|WFST|WFT|Wake Island Time|Wake Summer Time|Wallis & Futuna Summer Time",
        "Wallis & Futuna Time",
    ),
    765: ("CHAST|Chatham Standard Time",),
    780: (
        "NZDT|New Zealand Daylight Time|PHOST|PHOT|Phoenix Is. Summer Time|Phoenix Islands Time|TOT",
        "Tonga Standard Time",
    ),
    825: ("CHADT|Chatham Daylight Time",),
    840: ("LINST|LINT|Line Is. Summer Time|Line Islands Time",),
}
_MINUTES = {
    name.lower(): minutes for minutes, lines in _NAMES_BY_MINUTES.items() for line in lines for name in line.split("|")
}
_LENGTHS = sorted({len(name) for name in _MINUTES}, reverse=True)


def zone_at(text: str, at: int) -> tuple[int, int] | None:
    """Return length and offset in minutes of the longest name of a zone that begins there, None if none does."""
    rest = text[at : at + _LENGTHS[0]].lower()
    for length in _LENGTHS:
        if len(rest) >= length and (minutes := _MINUTES.get(rest[:length])) is not None:
            return length, minutes
    return None
