"""All pages share one style sheet and one script, kept by browsers for good."""

import gzip
import re

import pytest

from console.shell.web.bundles import address_of, bundle_of, modules_as_one


def test_modules_become_one_script_in_the_order_of_their_imports():
    sources = {
        "main": 'import "./clock.js";\nimport { show } from "./page.js";\nshow();\n',
        "page": 'import { now } from "./clock.js";\n// Says so.\nexport function show() { return now(); }\n',
        "clock": "export async function now() { return 1; }\n",
    }
    script = modules_as_one(sources, "main")
    assert re.findall(r"modules\.(\w+) = \(", script) == ["clock", "page", "main"]
    assert "const { now } = modules.clock;" in script
    assert "return { show };" in script
    assert "import" not in script
    assert "Says so" not in script


def test_a_circle_of_modules_is_refused():
    sources = {"a": 'import "./b.js";\n', "b": 'import "./a.js";\n'}
    with pytest.raises(ValueError, match="a → b → a"):
        modules_as_one(sources, "a")


def test_another_form_of_export_is_refused():
    with pytest.raises(ValueError, match=r"a\.js has `export const x = 1;`"):
        modules_as_one({"a": "export const x = 1;\n"}, "a")


@pytest.mark.parametrize("kind", ["css", "js"])
def test_a_bundle_is_compressed_and_kept_for_good(client, kind):
    answer = client.get(address_of(kind), headers={"Accept-Encoding": "gzip, br"})
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    assert gzip.decompress(answer.content) == bundle_of(kind).plain


def test_a_bundle_is_plain_for_who_takes_no_gzip(client):
    answer = client.get(address_of("js"))
    assert "Content-Encoding" not in answer.headers
    assert answer.content == bundle_of("js").plain


def test_a_bundle_hangs_on_no_cookie_so_that_a_login_does_not_have_it_fetched_again(viewer, client_of):
    """And a cache that several people share has no cookie to keep."""
    answer = client_of(viewer).get(address_of("js"))
    assert answer["Vary"] == "Accept-Encoding"
    assert not answer.cookies


def test_the_bundle_of_another_version_is_not_there(client):
    assert client.get("/static/bundle/app.0123456789abcdef.js").status_code == 404


def test_the_script_is_at_most_35_kilobytes_over_the_wire():
    assert len(bundle_of("js").compressed) <= 35_000
