"""What all tests share: one browser, and the skipping of what this host lacks something for."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A shell starts its background jobs with Ctrl-C ignored, and children inherit that: without this
# the tests that interrupt a run would find it going on, as it should.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_root() -> str | None:
    return None if os.geteuid() == 0 else "not root"


@cache
def _has_perf() -> str | None:
    try:
        done = subprocess.run(["perf", "--version"], capture_output=True, check=False)
    except FileNotFoundError:
        return "no perf on the PATH"
    return None if done.returncode == 0 else "the perf on the PATH does not fit this kernel"


def _has_chromium() -> str | None:
    found = any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return None if found else "no Chromium on the PATH"


def _has_quarto() -> str | None:
    from copycost.build.typesetter import find_typesetter

    found = find_typesetter()
    return found.description if found.quarto is None else None


def _lacks_guests() -> str | None:
    import guests  # imports much that most tests do without

    return guests.lacks_guests()


_LACKS: dict[str, Callable[[], str | None]] = {
    "needs_root": _is_root,
    "needs_perf": _has_perf,
    "needs_chromium": _has_chromium,
    "needs_guests": _lacks_guests,
    "needs_quarto": _has_quarto,
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, lacks in _LACKS.items():
        if item.get_closest_marker(marker) and (reason := lacks()):
            pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """A headless Chromium, for tests that are marked `needs_chromium`."""
    from report.checks import open_browser  # imports much that most tests do without

    with open_browser() as browser:
        yield browser
