"""Names as `X500Principal.getName()` of JDK 17 writes them: each expectation here is what Java said."""

import pytest
from cryptography import x509

from broker.security.distinguished_name import java_name

#: DER and Java's text: other types than text, several attributes in a part, blanks at the edges, controls.
SAID_BY_JAVA = [
    (
        "3020311e300806035504610201053012060355040c0c0b2ff09d849e5c3b2d2d2739",
        "2.5.4.97=#020105+2.5.4.12=#0c0b2ff09d849e5c3b2d2d2739",
    ),
    (
        "303031193017060a0992268993f22c6401190c0962c39f000a22e282ac3113301106035504030c0a2327232b3d62f09d849e",
        "CN=\\#'\\#\\+\\=b𝄞,DC=bß\\00\n\\\"€",
    ),
    (
        "30363121300a060355042a1403003c5f3013060a0992268993f22c6401190c050d3e273e5f"
        "3111300f06035504030c080022610d622a5c27",
        "CN=\\00\\\"a\rb*\\\\',2.5.4.42=#1403003c5f+DC=\\\r\\>'\\>_",
    ),
    (
        "3032310d300b060355040a0c043dc3bc403110300e060355040914072d095a2d002e39310f300d06035504060c065c4000232c2f",
        "C=\\\\@\\00\\#\\,/,STREET=-\tZ-\\00.9,O=\\=ü@",
    ),
    (
        "30233115301306035504071e0c0021000a005f003c003d002a310a30080603550407020105",
        "L=#020105,L=\\00!\\00\n\\00_\\00\\<\\00\\=\\00*",
    ),
]


@pytest.mark.parametrize(("der", "text"), SAID_BY_JAVA)
def test_a_name_reads_as_java_writes_it(der, text):
    assert java_name(bytes.fromhex(der)) == text


def test_a_usual_name_reads_as_java_writes_it():
    """`cryptography` would write `1.2.840.113549.1.9.1=a@b.c` and leave = and # as they are."""
    oid = x509.NameOID
    pairs = [
        (oid.COUNTRY_NAME, "DE"),
        (oid.ORGANIZATION_NAME, "Acme, Inc"),
        (oid.ORGANIZATIONAL_UNIT_NAME, "x=y #z"),
        (oid.COMMON_NAME, "cl"),
        (oid.EMAIL_ADDRESS, "a@b.c"),
    ]
    name = x509.Name([x509.NameAttribute(kind, value) for kind, value in pairs])
    expected = r"1.2.840.113549.1.9.1=#16056140622e63,CN=cl,OU=x\=y \#z,O=Acme\, Inc,C=DE"
    assert java_name(name.public_bytes()) == expected


def test_a_name_without_parts_is_empty():
    assert java_name(bytes.fromhex("3000")) == ""


@pytest.mark.parametrize(
    "der",
    [
        "",
        "30",
        "3005",
        "30003000",
        "3180",
        "3084ffffffff",
        "308130" + "00" * 48,  # a short length in a long form
        "300d310b3009060355040a0c02c328",  # no UTF-8: Java puts other letters there, and two names might become one
        "300b310930070603550483 0c00".replace(" ", ""),  # an unfinished number
        "300a3108300606005504030c",
        "3009310730050c00060355",
    ],
)
def test_what_is_no_name_is_refused(der):
    with pytest.raises(ValueError):
        java_name(bytes.fromhex(der))


def test_no_piece_of_a_name_is_a_name():
    whole = bytes.fromhex(SAID_BY_JAVA[1][0])
    for end in range(1, len(whole)):
        with pytest.raises(ValueError):
            java_name(whole[:end])
