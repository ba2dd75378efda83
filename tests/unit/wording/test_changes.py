from copycost.wording.words import changes_between


def test_the_same_host_has_no_changes() -> None:
    host = {"n_cpus": 2, "mitigations": {"mds": "on"}}
    assert changes_between(host, {"n_cpus": 2, "mitigations": {"mds": "on"}}) == []


def test_every_change_of_the_host_is_named() -> None:
    known = {"kernel_release": "6.1", "n_cpus": 2, "mitigations": {"mds": "on", "l1tf": "on"}}
    now = {"kernel_release": "6.12", "governor": None, "mitigations": {"mds": "off", "l1tf": "on"}}
    assert changes_between(known, now) == [
        "kernel_release was 6.1, is 6.12",
        "mitigations.mds was on, is off",
        "n_cpus was 2, is unknown",
    ]


def test_a_long_value_is_cut_short() -> None:
    (change,) = changes_between({"kernel_version": "x" * 200}, {"kernel_version": "y"})
    assert len(change) < 120
