"""clusters.toml: what it may say, and the sentence about everything else."""

from pathlib import Path

import pytest

from console.cluster.schemas.configuration import read_registry_address
from console.ecosystem.connectors.configuration import read_connect
from console.kit.common.clusters_file import ClustersFile
from console.kit.common.declared_clusters import CLUSTERS_MAX, ClustersError, parse_clusters

EXAMPLE = Path(__file__).parents[4] / "config" / "clusters.toml"
STAGING = '[clusters.staging]\nbootstrap = "10.0.0.5:9092"\n'


@pytest.fixture
def file(tmp_path) -> ClustersFile:
    secrets = tmp_path / "secrets"
    return ClustersFile(tmp_path / "clusters.toml", False, secrets, read_connect, read_registry_address)


def _write(file: ClustersFile, text: str, mode: int = 0o600) -> None:
    file.file.write_text(text)
    file.file.chmod(mode)


def test_the_example_can_be_begun_with():
    assert [cluster.name for cluster in parse_clusters(EXAMPLE.read_text())] == ["main", "staging"]


def test_without_a_file_there_is_one_cluster(file):
    main, others = file.read()
    assert (main.name, main.title, others) == ("main", "main", {})


def test_what_a_cluster_says_is_its_alone(file):
    _write(file, f'{STAGING}connect = "http://127.0.0.1:18083"\nread_only = true\n[clusters.b]\nbootstrap = "x:1"')
    _, others = file.read()
    staging, other = (others[name].values for name in ("staging", "b"))
    assert (staging["BOOTSTRAP_SERVERS"], staging["READ_ONLY"]) == ("10.0.0.5:9092", True)
    assert staging["CONNECT"].addresses == ("http://127.0.0.1:18083",)
    assert (other["CONNECT"].addresses, other["SCHEMA_REGISTRY"], other["ZOOKEEPER"]) == ((), None, "")


def test_two_clusters_may_have_the_same_brokers(file):
    _write(file, STAGING + STAGING.replace("staging", "again"))
    assert set(file.read()[1]) == {"staging", "again"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clusters = 1", "must consist of tables"),
        ("[clusters.a", "is no TOML"),
        ("[other]", "has 'other'"),
        ('[clusters.A]\nbootstrap = "x:1"', "calls a cluster 'A'"),
        (f'[clusters.{"x" * 300}]\nbootstrap = "x:1"', "…'"),
        ('[clusters."../../etc"]\nbootstrap = "x:1"', "calls a cluster '../../etc'"),
        ('[clusters."a\\nb"]\nbootstrap = "x:1"', r"'a\\nb'"),
        ("[clusters.a]", "must say bootstrap"),
        ('[clusters.a]\nbootstrap = "x:99999"', "must say bootstrap"),
        ('[clusters.a]\nbootstrap = "x:1"\npassword = "y"', "says 'password' of a"),
        ('[clusters.a]\nbootstrap = "x:1"\ncolour = "pink"', "the colour 'pink'"),
        ('[clusters.a]\nbootstrap = "x:1"\nread_only = "yes"', "true or false"),
        ('[clusters.a]\nbootstrap = "x:1"\ntitle = "' + "t" * 41 + '"', "more than 40"),
        ('[clusters.main]\nbootstrap = "x:1"', "says 'bootstrap' of main"),
        ("\n".join(f'[clusters.c{n}]\nbootstrap = "x:1"' for n in range(CLUSTERS_MAX + 1)), "at most"),
    ],
)
def test_whatever_else_it_says_ends_the_start_with_one_sentence(file, text, message):
    with pytest.raises(ClustersError, match=message) as raised:
        parse_clusters(text)
    assert len(str(raised.value)) < 500
    assert "\n" not in str(raised.value)
    _write(file, text)
    with pytest.raises(SystemExit):
        file.read()


def test_a_file_that_others_can_read_is_not_read(file):
    _write(file, STAGING, mode=0o644)
    with pytest.raises(SystemExit, match="chmod 600"):
        file.read()


def test_a_named_configuration_of_clients_has_to_be_there(file):
    _write(file, f'{STAGING}client_config = "staging.properties"')
    with pytest.raises(SystemExit, match=r"staging\.properties cannot be read"):
        file.read()
