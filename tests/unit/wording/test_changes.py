from copycost.wording.words import changes_between


def test_every_change_of_the_host_is_named() -> None:
    known = {"kernel_release": "6.1", "n_cpus": 2, "mitigations": {"mds": "on", "l1tf": "on"}}
    now = {"kernel_release": "6.12", "governor": None, "mitigations": {"mds": "off", "l1tf": "on"}}
    assert changes_between(known, now) == [
        "kernel_release was 6.1, is 6.12",
        "mitigations.mds was on, is off",
        "n_cpus was 2, is unknown",
    ]
