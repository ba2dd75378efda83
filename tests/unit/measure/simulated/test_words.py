"""What QEMU, the plugin and the guest's orchestrator are told."""

import subprocess
from pathlib import Path

import pytest

from copycost.errors import HostError
from copycost.hosts.guest.kernel import Kernel
from copycost.measure.simulated.cell import loaded_part
from copycost.measure.simulated.guest import drivers_of, symbol_table


def test_symbols_are_functions_sorted_by_address_and_name() -> None:
    kallsyms = """\
ffffffff81000100 T second
0000000000000000 A per_cpu
ffffffff82000000 D some_data
ffffffffc0000000 t in_module\t[veth]
ffffffff81000100 T alias
ffffffff81000000 t first
"""
    assert symbol_table(kallsyms) == (
        "ffffffff81000000 first\nffffffff81000100 alias\nffffffff81000100 second\n"
        "ffffffffc0000000 in_module\n"
    )
    with pytest.raises(HostError, match="names no function's address"):
        symbol_table("0000000000000000 T first\n")


def test_a_program_without_its_debug_data_runs_as_before(tmp_path: Path) -> None:
    source, whole, part = (tmp_path / name for name in ("a.c", "whole", "part"))
    source.write_text('#include <stdio.h>\nint main(void) { return puts("runs") < 0; }\n')
    subprocess.run(["cc", "-g3", source, "-o", whole], check=True)
    part.write_bytes(loaded_part(whole.read_bytes()))
    part.chmod(0o755)
    assert part.stat().st_size < whole.stat().st_size
    assert subprocess.run([part], capture_output=True, check=True).stdout == b"runs\n"


@pytest.mark.parametrize(
    ("modules", "loaded"),
    [
        (("veth", "nf_tables", "nft_objref"), ["veth", "nf_tables", "nft_objref"]),
        (("veth", "nf_tables"), ["veth", "nf_tables"]),
        (("nf_tables", "veth", "crc32c_generic"), ["crc32c_generic", "veth", "nf_tables"]),
        ((), ["veth", "nf_tables"]),
    ],
    ids=["6.1 of the cloud", "since 6.2", "checksums are a module", "none, as is told later"],
)
def test_what_a_kernel_may_have_apart_is_loaded_where_it_has_it(
    modules: tuple[str, ...], loaded: list[str]
) -> None:
    files = {name: Path(f"{name}.ko") for name in modules}
    assert drivers_of(Kernel(Path("vmlinuz"), "6.1", "a test", files)) == loaded
