"""Control groups: where they are made, that they limit, and that nothing of them is left."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import alive, until

from copycost.errors import Unavailable
from copycost.hosts import cgroups
from copycost.hosts.cgroups import Hierarchy, candidate_hierarchies, cpu_group, find_hierarchy

WORKFLOW = Path(__file__).parents[3] / "workflow"


def here() -> Hierarchy:
    try:
        return find_hierarchy()
    except Unavailable as error:
        pytest.skip(str(error))


def test_groups_are_made_where_the_cpu_controller_is_or_from_our_own_up() -> None:
    mounts = (
        "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
        "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0\n"
        "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
    )
    own = "9:memory:/a\n3:cpu,cpuacct:/docker/abc\n0::/x\n"
    found = candidate_hierarchies(mounts, own)
    assert found[:3] == [
        Hierarchy(1, Path("/sys/fs/cgroup/cpu,cpuacct/docker/abc")),
        Hierarchy(1, Path("/sys/fs/cgroup/cpu,cpuacct/docker")),
        Hierarchy(1, Path("/sys/fs/cgroup/cpu,cpuacct")),
    ]
    assert found[3:] == [
        Hierarchy(2, Path("/sys/fs/cgroup/unified/x")),
        Hierarchy(2, Path("/sys/fs/cgroup/unified")),
    ]
    assert candidate_hierarchies("proc /proc proc rw 0 0\n", "") == []


def version_2() -> Hierarchy:
    """Also where version 1 has the CPU controller, so that no quota can be set."""
    rows = [row.split() for row in Path("/proc/self/mounts").read_text().splitlines()]
    roots = [Path(row[1]) for row in rows if row[2] == "cgroup2"]
    if not roots or not os.access(roots[0], os.W_OK):
        pytest.skip("no control groups of version 2 that we may write to")
    return Hierarchy(2, roots[0])


@pytest.mark.parametrize(("where", "percent"), [(here, 50), (version_2, None)])
def test_what_is_still_inside_goes_back_to_where_it_came_from(
    where: Callable[[], Hierarchy], percent: float | None
) -> None:
    hierarchy = where()
    process = subprocess.Popen(["sleep", "10"])
    try:
        with cpu_group(hierarchy, percent) as group:
            group.add([process.pid])
            assert str(process.pid) in (group.path / "cgroup.procs").read_text().split()
        assert not group.path.exists()
        assert process.poll() is None
        assert str(process.pid) in (hierarchy.parent / "cgroup.procs").read_text().split()
    finally:
        process.kill()
        process.wait()


def test_version_2_is_told_and_tells_in_its_own_files(tmp_path: Path) -> None:
    """Source: Documentation/admin-guide/cgroup-v2.rst on cpu.max and cpu.stat."""
    cgroups._set_quota(2, tmp_path, 25)
    assert (tmp_path / "cpu.max").read_text() == "2500 10000\n"
    stat = (
        "usage_usec 2512345\nuser_usec 12345\nsystem_usec 2500000\nnr_periods 1000\n"
        "nr_throttled 400\nthrottled_usec 1500\nnr_bursts 0\nburst_usec 0\n"
    )
    group = cgroups.CpuGroup(2, tmp_path)
    assert cgroups.throttling_of(stat, 2) == cgroups.Throttling(1000, 400, 1_500_000)
    group.release()
    assert (tmp_path / "cpu.max").read_text() == "max\n"


_FIND = "from copycost.hosts.cgroups import find_hierarchy; find_hierarchy()"
# what is mounted at a name that is no text is none of ours
_MOUNT = 'mkdir "$0" && mount -t tmpfs none "$0" && exec "$@"'


@pytest.mark.needs_root
def test_an_ordinary_user_is_told_why_and_what_helps(tmp_path: Path) -> None:
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    mounted = ["unshare", "--mount", "sh", "-c", _MOUNT, os.fsencode(tmp_path / "\udcff")]
    done = subprocess.run(
        [*mounted, *nobody, sys.executable, "-c", _FIND],
        env={**os.environ, "PYTHONPATH": str(WORKFLOW)},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.splitlines()[-1]
    assert "Unavailable: no control group for CPU may be made (" in last
    assert "Permission denied" in last
    assert last.endswith("run as root, or set cpu_budget.limiters to [cpulimit]")


_HOLDER = """
import sys, subprocess, time
sys.path.insert(0, sys.argv[1])
from copycost.hosts.cgroups import cpu_group, find_hierarchy
with cpu_group(find_hierarchy(), 20) as group:
    inside = subprocess.Popen(["sleep", "600"])
    group.add([inside.pid])
    print(inside.pid, group.path, flush=True)
    time.sleep(600)
"""


def test_the_group_of_a_killed_maker_is_removed_with_all_that_runs_in_it() -> None:
    here()
    words = [sys.executable, "-c", _HOLDER, str(WORKFLOW)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None
        inside, group = maker.stdout.readline().split()
        assert Path(group).exists()
        maker.kill()
    until(lambda: not alive(int(inside)))
    until(lambda: not Path(group).exists())
