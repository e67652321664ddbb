"""The documentation of a job as a page shows it."""

from console.ecosystem.streams.templatetags.documents import documented


def test_what_stands_between_backticks_is_code_and_paragraphs_are_paragraphs():
    shown = documented("Later than `watermark.ms`: dropped.\n\nSee `by`.")

    assert shown == "<p>Later than <code>watermark.ms</code>: dropped.</p>\n\n<p>See <code>by</code>.</p>"


def test_nothing_an_author_writes_becomes_markup():
    assert documented("`<b>` <script>") == "<p><code>&lt;b&gt;</code> &lt;script&gt;</p>"
