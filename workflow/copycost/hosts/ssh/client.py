"""How OpenSSH's client is called, and what its refusals mean.

The user's own configuration holds: keys, agents, jump hosts, aliases, known hosts. What we add is
that nothing is asked for, since a job cannot answer, and that all sessions of a run share one
authenticated connection (ssh_config(5), ControlMaster), which ends by itself a few seconds after
the last of them.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from copycost.errors import AttemptFailed, ConfigError, HostError, Unavailable

# how long the shared connection outlives its last session: the next one mostly comes sooner
_PERSIST_S = 4
_CONNECT_TIMEOUT_S = 10
_END_TIMEOUT_S = 10
# of a socket's path, see unix(7); ssh adds some letters while it makes it
_LONGEST_PATH = 88
# what ssh itself ends with, whatever went wrong
_SSH_FAILED = 255
_TARGET = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9\[][\w.:\]-]*", re.ASCII)

_NO_KEYS = (
    "it takes no key, and nobody can type a password in a run: have its sshd allow"
    " PubkeyAuthentication, then run `ssh-copy-id {target}`"
)
_REMEDIES = (
    ("Host key verification failed", "its host key is not known here, or has changed: run `ssh"
     " {target}` once by hand and look at the key"),
    # without publickey among the ways that it offers
    ("Permission denied (password", _NO_KEYS),
    ("Permission denied (keyboard-interactive", _NO_KEYS),
    ("Permission denied", "let a key in there: `ssh-copy-id {target}`, and have ssh-agent hold it"
     " if it has a passphrase"),
    ("Could not resolve hostname", "look at the name, or add it to ~/.ssh/config"),
    ("Connection refused", "start sshd there, or say its port in ~/.ssh/config"),
    ("timed out", "look whether it is up, and whether a firewall drops what goes to its ssh port"),
    ("No route to host", "look whether it is up and in a network that is reached from here"),
)  # fmt: skip
# of what ends with an error of its own there: it writes to one folder, and runs Python
_REMEDIES_THERE = (
    ("No space left on device", "make room there for 200 KiB in ~/.cache"),
    ("quota exceeded", "make room there for 200 KiB in ~/.cache"),
    ("Permission denied", "let this account write to its ~/.cache there, or say XDG_CACHE_HOME"),
    ("Read-only file system", "have ~/.cache writable there, or say XDG_CACHE_HOME"),
)


class Unreachable(AttemptFailed):
    """No ssh leads to a machine now: it, its sshd or the network between may come back."""


@dataclass(frozen=True, slots=True)
class SshTarget:
    """Somebody's account on another machine, as ssh is told it."""

    name: str  # ``user@other``, ``other``, or an alias of ~/.ssh/config
    options: tuple[str, ...] = ()  # more options of ssh, for tests

    def __post_init__(self) -> None:
        """Refuse what ssh would take for an option, or for something else."""
        if not _TARGET.fullmatch(self.name):
            raise ConfigError(
                f"wire: got {self.name!r}, expected user@other, or an alias of ~/.ssh/config"
            )

    def words(self, command: str) -> list[str]:
        """Return the words that run a command there, through the shared connection.

        Unavailable if there is no ssh here.
        """
        if shutil.which("ssh") is None:
            raise Unavailable("ssh was not found", "install the package openssh-client")
        settings = {
            "BatchMode": "yes",
            "ConnectTimeout": _CONNECT_TIMEOUT_S,
            # a link that breaks is noticed after four seconds
            "ServerAliveInterval": 1,
            "ServerAliveCountMax": 3,
            "ControlMaster": "auto",
            "ControlPath": self.control_path(),
            "ControlPersist": _PERSIST_S,
        }
        given = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        return ["ssh", "-T", "-a", "-x", *self.options, *given, self.name, command]

    def run(self, command: str, data: bytes = b"", timeout_s: float = 30.0) -> str:
        """Run a short command there and return what it printed.

        HostError if it ends with an error, or not in time.
        """
        with tempfile.TemporaryFile() as errors:  # the shared connection keeps it open
            try:
                done = subprocess.run(
                    self.words(command),
                    input=data,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    timeout=timeout_s,
                    check=False,
                    start_new_session=True,
                )
            except subprocess.TimeoutExpired as error:
                raise HostError(f"{self.name} did not answer within {timeout_s:g} s") from error
            errors.seek(0)
            said = errors.read().decode(errors="replace")
        if done.returncode != 0:
            raise self.refusal(done.returncode, said)
        return done.stdout.decode(errors="replace")

    def refusal(self, code: int, said: str) -> HostError:
        """Return what went wrong, in one sentence, where ssh or a command ended with an error."""
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        nothing = f"it ended with exit status {code} and said nothing"
        last = next((line for line in reversed(lines) if "rror" in line), [nothing, *lines][-1])
        is_ssh = code == _SSH_FAILED or code < 0  # one that was killed here
        command = "true" if is_ssh else "python3 -I -c pass"
        unknown = (None, f"look what `ssh {{target}} {command}` says")
        marks = _REMEDIES if is_ssh else _REMEDIES_THERE
        mark, remedy = next((one for one in marks if one[0] in said), unknown)
        why = next((line for line in lines if mark and mark in line), last)
        remedy = remedy.format(target=self.name)
        if not is_ssh:
            return AttemptFailed(f"{self.name}: {why}", remedy)
        refused = mark is not None and mark.startswith(("Host key", "Permission"))
        kind = AttemptFailed if refused else Unreachable
        return kind(f"{self.name} cannot be reached by ssh ({why})", remedy)

    def close(self) -> None:
        """End the shared connection, if there is one."""
        words = [*self.words("")[:-2], "-O", "exit", self.name]
        with suppress(subprocess.TimeoutExpired):  # one that hangs is left to its own timeouts
            subprocess.run(words, capture_output=True, check=False, timeout=_END_TIMEOUT_S)

    def control_path(self) -> str:
        """Return where the shared connection's socket is: in a folder of ours alone."""
        setting, above, name = "TMPDIR", tempfile.gettempdir(), f"copycost-{os.getuid()}"
        if runtime := os.environ.get("XDG_RUNTIME_DIR"):
            setting, above, name = "XDG_RUNTIME_DIR", runtime, "copycost-ssh"
        folder = Path(above, name)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = folder.stat()
        except OSError as error:  # as where it is another user's
            raise HostError(
                f"{folder} cannot be made ({error.strerror}); set {setting} to a folder of yours"
            ) from error
        if made.st_uid != os.getuid() or made.st_mode & 0o077:
            raise HostError(f"{folder}: others may write there; delete it, then run again")
        key = " ".join((self.name, *self.options))
        path = str(folder / hashlib.sha256(key.encode()).hexdigest()[:16])
        if len(path) > _LONGEST_PATH:
            raise HostError(
                f"{folder}: too long a path for a socket; set {setting} to a shorter one"
            )
        return path
