"""Which drivers are of devices that a hypervisor makes up, with no network card of their own."""

PARAVIRTUAL = frozenset({"virtio_net", "hv_netvsc", "vmxnet3", "vif", "ibmveth"})
"""Of KVM and others, Hyper-V, VMware, Xen and PowerVM.

Source: drivers/net and drivers/net/{hyperv,vmxnet3,ethernet/ibm} of Linux; Xen's bus calls a driver
by the type of its devices (drivers/xen/xenbus). Those of clouds that hand a card through (ena, gve,
mlx5_core) are cards'.
"""


def is_virtual(driver: str | None) -> bool:
    """Return whether no network card is behind a device, or none that the device tells of.

    Parameters
    ----------
    driver
        That of its hardware; None where it has none.
    """
    return driver is None or driver in PARAVIRTUAL
