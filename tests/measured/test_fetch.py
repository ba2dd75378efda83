"""`./run fetch` over a real sshd: sources there, measured there, records here, merged."""

import getpass
import hashlib
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest
import sshd
from programs import add_program, until
from sshd import AHEAD_S, Peer
from workflow.support import Checkout, clean_environment, new_checkout

pytestmark = [pytest.mark.needs_root, pytest.mark.slow]
LIMIT_S = 600.0
# 2 s, and what a busy machine takes to look
SOON_S = 4.0

# ssh as it is, told what the user's own configuration would tell it
SSH = """\
#!/bin/sh
exec {ssh} {options} "$@"
"""


def make_environment(checkout: Path, lock: str) -> None:
    """Give a checkout what `./run` would have pip install: links to the packages of a lock."""
    content = (checkout / f"envs/{lock}.txt").read_bytes()
    site = Path(sysconfig.get_path("purelib"))
    there = checkout / ".venv" / site.relative_to(sys.prefix)
    there.mkdir(parents=True)
    for name in dict.fromkeys(re.findall(r"^([\w.-]+)==", content.decode(), re.MULTILINE)):
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            continue  # of another system or release of Python
        for part in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (there / part).is_symlink():
                (there / part).symlink_to(site / part)
    python = checkout / ".venv/bin/python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    (checkout / ".venv/pyvenv.cfg").symlink_to(Path(sys.prefix, "pyvenv.cfg"))
    stamp = f"{hashlib.sha256(content).hexdigest()}  - {python.resolve()} {checkout}\n"
    (checkout / f".venv/{lock}.stamp").write_text(stamp)


def give_home(peer: Peer) -> Path:
    """Give our user a home of its own on another machine."""
    home, users = peer.folder / "home", peer.folder / "passwd"
    home.mkdir()
    lines = [list(map(str, one)) for one in pwd.getpwall()]
    for line in lines:
        if line[0] == getpass.getuser():
            line[5] = str(home)
    users.write_text("".join(f"{':'.join(line)}\n" for line in lines))
    inside = ["nsenter", "--target", str(peer.first()), "--mount"]
    subprocess.run([*inside, "mount", "--bind", users, "/etc/passwd"], check=True)
    return home


@dataclass(frozen=True)
class Fetch:
    """A checkout here, a home with what is needed there, and how one fetches from the other."""

    here: Path
    home: Path
    peer: Peer
    words: list[str]
    environment: dict[str, str]


@pytest.fixture
def fetch(tmp_path: Path) -> Iterator[Fetch]:
    here = new_checkout(tmp_path / "checkout").path
    make_environment(here, "requirements")
    (tmp_path / "peer").mkdir()
    with sshd.peer(tmp_path / "peer") as peer:
        home = give_home(peer)
        there = home / "copycost_fleet"
        shutil.copytree(here / "envs", there / "envs")
        make_environment(there, "requirements-measure")
        script = SSH.format(ssh=shutil.which("ssh"), options=" ".join(peer.target.options))
        ssh = add_program(tmp_path / "tools" / "ssh", script)
        environment = clean_environment() | {"PATH": f"{ssh.parent}:{os.environ['PATH']}"}
        words = [str(here / "run"), "fetch", f"lab={peer.target.name}"]
        yield Fetch(here, home, peer, words, environment)


def test_what_runs_there_ends_with_us(fetch: Fetch) -> None:
    Checkout(fetch.here).configure("measure", duration_s=60.0)
    for number, is_group in ((signal.SIGINT, True), (signal.SIGHUP, True), (signal.SIGKILL, False)):
        with subprocess.Popen(
            fetch.words,
            env=fetch.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as ours:
            until(lambda: any("/sender_" in one for one in fetch.peer.processes()), LIMIT_S / 5)
            (os.killpg if is_group else os.kill)(ours.pid, number)
            until(lambda: not fetch.peer.processes(), SOON_S)
            ours.wait(SOON_S)


def test_a_host_is_measured_there_and_merged_here(fetch: Fetch) -> None:
    home, there = fetch.home, fetch.home / "copycost_fleet"
    done = subprocess.run(
        fetch.words,
        env=fetch.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not fetch.peer.processes()
    assert not (there / ".venv/requirements.stamp").exists()
    assert not list(there.glob(".venv/lib/*/site-packages/matplotlib")), "measuring needs no more"
    assert [entry.name for entry in home.iterdir()] == ["copycost_fleet"], "nothing else is changed"
    assert "8 records new" in done.stdout
    fleet = fetch.here / "results/fleet"
    records = [json.loads(path.read_text()) for path in fleet.glob("host=lab/raw/**/rep=*.json")]
    assert [record["status"] for record in records] == ["measured"] * 8
    assert all(record["start_ns"] > AHEAD_S * 10**9 for record in records), "by the clock there"
    assert (fleet / "report/report.pdf").is_file()
