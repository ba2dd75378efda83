"""Stands for Slurm's commands."""

import subprocess
from dataclasses import dataclass

import pytest

from copycost.snakefile import slurm


@dataclass
class FakeSlurm:
    """What the commands answer; None where one fails."""

    sinfo: str | None
    scontrol: str | None = ""


def fake_slurm(monkeypatch: pytest.MonkeyPatch, sinfo: str) -> FakeSlurm:
    """Have sinfo and scontrol answer; returns what to change of that."""
    fake = FakeSlurm(sinfo)

    def run(command: tuple[str, ...], **_: object) -> "subprocess.CompletedProcess[str]":
        answer = {"sinfo": fake.sinfo, "scontrol": fake.scontrol}[command[0]]
        if answer is None:
            raise subprocess.CalledProcessError(1, command, stderr="cannot connect\n")
        return subprocess.CompletedProcess(command, 0, stdout=answer, stderr="")

    slurm.cluster.cache_clear()
    monkeypatch.setattr(slurm.subprocess, "run", run)
    return fake
