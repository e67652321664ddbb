"""XML is laid out; what would look things up, unfold or nest without end is no XML here."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.records.text import text_of
from console.cluster.records.xml_layout import DEPTH_MAX, laid_out_xml
from tests.examples import examples

BOMB = b"""<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">%s]><l>&j;</l>""" % b"".join(
    b'<!ENTITY %c "%s">' % (index, (b"&%c;" % (index - 1)) * 10) for index in range(ord("b"), ord("k"))
)


def test_an_order_is_laid_out_with_attributes_text_and_comments():
    data = b"""<?xml version="1.0"?><order id="7" note='a "b" &lt;'><!-- c -->
    <to>Bern &amp; co</to><none/><mixed>x<b>y</b>z</mixed></order>"""
    assert laid_out_xml(data, 10_000) == (
        """<order id="7" note='a "b" &lt;'>
  <!-- c -->
  <to>Bern &amp; co</to>
  <none/>
  <mixed>
    x
    <b>y</b>
    z
  </mixed>
</order>""",
        False,
    )


def test_a_record_of_it_is_shown_as_xml_and_says_so():
    shown = text_of(b"\xef\xbb\xbf <a><b>1</b></a>", "auto")
    assert (shown.kind, shown.note) == ("xml", "XML")
    assert text_of(b"<a><b>1</b></a>", "string").text == "<a><b>1</b></a>"


@pytest.mark.parametrize(
    "data",
    [BOMB, b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
     b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', b"<a>&x;</a>", b"<a>", b"<a></b>", b"< a",
     b"<a/><b/>", b'<?xml version="1.0" encoding="no-such"?><a/>', b"<a>" * (DEPTH_MAX + 1), b"<a \xff='1'/>"],
)  # fmt: skip
def test_what_is_wrong_deep_or_has_a_document_type_stays_text(data):
    assert laid_out_xml(data, 10_000) is None
    assert text_of(data, "auto").kind in ("string", "hex")


def test_no_more_is_laid_out_than_is_shown():
    text, is_cut = laid_out_xml(b"<a>" + b"<b>1</b>" * 100_000 + b"</a>", 1_000)
    assert (len(text), is_cut) == (1_000, True)


@settings(max_examples=examples(300))
@given(st.text(alphabet="<>/ab!?[]&;-='\" \n", max_size=80).map(lambda text: b"<a>" + text.encode() + b"</a>"))
def test_no_text_makes_it_fail_and_what_is_laid_out_is_laid_out_again(data):
    result = laid_out_xml(data, 10_000)
    if result is not None:
        assert laid_out_xml(result[0].encode(), 10_000) is not None
