"""What was asked of ./run, as Snakemake takes it, or why it cannot be."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from snakemake.cli import get_argument_parser

from copycost.cli.command_line import _MORE_VALUES, _ONE_VALUE, _OTHER_NAMES, UsageError, parse
from copycost.cli.fetch_and_fleet import named_targets
from copycost.compare.hosts.privacy import require_name
from copycost.config.checkout import ROOT
from copycost.errors import ConfigError

TINY = "config/tiny.yaml"


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the rules of the Snakefile and a configuration."""
    (tmp_path / "Snakefile").symlink_to(ROOT / "Snakefile")
    (tmp_path / "workflow").symlink_to(ROOT / "workflow")
    (tmp_path / "config").mkdir()
    (tmp_path / TINY).touch()
    (tmp_path / "config.d").mkdir()
    (tmp_path / "config.d/config.v8+.yaml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("copycost.cli.command_line.usual_cores", lambda: 1)
    return tmp_path


def words(given: str) -> str:
    return shlex.join(parse(shlex.split(given)).for_snakemake())


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        ("", "--cores 1"),
        ("-np tables", "--cores 1 tables -np"),
        ("-c2 tables", "tables -c2"),
        ("results/host.json", "--cores 1 results/host.json"),
        ("./results/raw/a.json", "--cores 1 ./results/raw/a.json"),
        (
            "--profile=config.d --workflow-profile none",
            "--cores 1 --profile=config.d --workflow-profile none",
        ),
        ("--quiet rules host -- tables", "--cores 1 tables --quiet rules host"),
        ("-n --forcerun tables figures", "--cores 1 -n --forcerun tables figures"),
        ("tables --site-s-plugin-option 3", "--cores 1 tables --site-s-plugin-option 3"),
        # a target may stand anywhere
        (f"measure -n --configfile {TINY}", f"--cores 1 measure -n --configfile {TINY}"),
        (f"--configfile={TINY} measure -n", f"--cores 1 measure -n --configfile {TINY}"),
        # settings become one option
        ("--minutes=0.5 --config udp={}", "--cores 1 --config 'measure={minutes: 0.5}' 'udp={}'"),
        (
            "report profile cpu_budget --minutes 5",
            "--cores 1 report profile cpu_budget --config 'profile={enabled: true}' "
            "'cpu_budget={enabled: true}' 'measure={minutes: 5}'",
        ),
        ("--config=udp={} --config streams={}", "--cores 1 --config 'udp={}' 'streams={}'"),
    ],
)
def test_words_reach_snakemake(given: str, passed_on: str) -> None:
    assert words(given) == passed_on


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--dryrunn", "--dryrunn: there is no such option; did you mean --dryrun?"),
        ("--cores", "--cores: a value must follow it"),
        ("--configfile mine.yaml", "--configfile mine.yaml: there is no such file in "),
        ("--config measure.repetitions=4", "--config measure.repetitions=4: must be a section, = "),
        ("--config x=y", "--config x=...: there is no such section; sections are streams, udp, "),
        ("--configfile /", "--configfile /: is a folder; name a file"),
        ("--cores x", "--cores x: must be a whole number of CPUs from 1, or all"),
        ("-jx", "-j x: must be a whole number of jobs from 1, or unlimited"),
        ("--snakefile nope", "--snakefile nope: there is no such file in "),
        ("-d nope", "-d nope: there is no such folder in "),
        ("workflow", "workflow: there is no such target; targets are measure, "),
        ("doctr", "; did you mean doctor?"),
        ("-n doctor", "doctor: is a command by itself; it must come first: ./run doctor"),
        ("--wire a;b", "--wire a;b: must be another machine as ssh is told it, such as user@other"),
        ("--minutes 0.0", "--minutes 0.0: must be a number of minutes above 0"),
        (
            "--minutes 5 --config 'measure={repetitions: 2}'",
            "--config measure=... cannot go with --minutes; say both in --config",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(given: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(shlex.split(given))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_who_only_looks_is_known() -> None:
    for given in ("-n", "-np", "--dry-run", "--lint", "-c2 --summary"):
        assert parse(shlex.split(given)).dry_run
    for given in ("", "tables", "-c2", "--keep-going", "-s=Snakefile"):
        assert not parse(shlex.split(given)).dry_run


def test_no_package_is_needed() -> None:
    code = "import sys, copycost.cli.main, copycost.cli.fetch_and_fleet; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "copycost.cli.command_line" in done.stdout.split()


def test_no_option_of_snakemake_is_taken_for_a_misspelt_one() -> None:
    names = {name for one in get_argument_parser()._actions for name in one.option_strings}
    for name in names - _ONE_VALUE - _MORE_VALUES - set(_OTHER_NAMES):
        assert parse([name]).names >= {name}


def test_a_peer_is_measured_with_the_grid_of_the_wire_unless_another_is_named() -> None:
    given = parse(["--wire", "me@other", "--wire=third"])
    assert given.config_files == ["config/wire.yaml"]
    assert ["--config", "wire={peer: 'me@other', more: [{peer: 'third'}]}"] in given.words
    assert parse(["--configfile", TINY, "--wire=other"]).config_files == [TINY]


@pytest.mark.parametrize(
    ("word", "name", "target"),
    [
        ("lab=alice@one", "lab", "alice@one"),
        ("alice@one", "one", "alice@one"),
        ("ssh://alice@one:22", "one-22", "ssh://alice@one:22"),
    ],
)
def test_a_host_is_named_by_the_user_or_by_where_it_is(word: str, name: str, target: str) -> None:
    assert named_targets([word]) == {name: target}
    assert require_name(name, "test") == name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a_b=one"], "'a_b' names no host"),
        (["a;b"], "is no host"),
        (["-oProxyCommand=x", "one"], "names no host"),
        (["alice@::"], "no name can be made of 'alice@::'"),
        (["alice@one", "bob@one"], "alice@one and bob@one are both called one"),
    ],
)
def test_what_would_be_no_host_or_two_of_one_name_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        named_targets(words)
