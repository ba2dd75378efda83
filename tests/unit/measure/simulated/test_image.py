"""Which drivers a simulated guest loads."""

from pathlib import Path

import pytest

from copycost.hosts.guest.modules import Modules
from copycost.measure.simulated.image import drivers_of


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
    assert drivers_of(Modules({name: Path(f"{name}.ko") for name in modules})) == loaded
