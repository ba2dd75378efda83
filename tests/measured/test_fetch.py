"""`./run fetch` over a real sshd: sources there, measured there, records here, merged."""

import getpass
import hashlib
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
import sshd
from sshd import AHEAD_S, Peer
from workflow.support import clean_environment, new_checkout

pytestmark = [pytest.mark.needs_root, pytest.mark.slow]
LIMIT_S = 600.0

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


def test_a_host_is_measured_there_and_merged_here(tmp_path: Path) -> None:
    here = new_checkout(tmp_path / "checkout")
    make_environment(here.path, "requirements")
    for name in ("tools", "peer"):
        (tmp_path / name).mkdir()
    with sshd.peer(tmp_path / "peer") as peer:
        home = give_home(peer)
        there = home / "copycost_fleet"
        shutil.copytree(here.path / "envs", there / "envs")
        make_environment(there, "requirements-measure")
        ssh = tmp_path / "tools" / "ssh"
        ssh.write_text(SSH.format(ssh=shutil.which("ssh"), options=" ".join(peer.target.options)))
        ssh.chmod(0o755)
        done = subprocess.run(
            [here.path / "run", "fetch", f"lab={peer.target.name}"],
            env=clean_environment() | {"PATH": f"{ssh.parent}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert not peer.processes()
    assert not (there / ".venv/requirements.stamp").exists()
    assert not list(there.glob(".venv/lib/*/site-packages/matplotlib")), "measuring needs no more"
    assert [entry.name for entry in home.iterdir()] == ["copycost_fleet"], "nothing else is changed"
    assert "8 records new" in done.stdout
    fleet = here.path / "results/fleet"
    records = [json.loads(path.read_text()) for path in fleet.glob("host=lab/raw/**/rep=*.json")]
    assert [record["status"] for record in records] == ["measured"] * 8
    assert all(record["start_ns"] > AHEAD_S * 10**9 for record in records), "by the clock there"
    assert (fleet / "report/report.pdf").is_file()
