"""Which hosts count, in sentences."""

from golden.sentences import check_branches, sentences


def test_which_hosts_count_is_told() -> None:
    all_of_them = {
        "simulated": False, "n_simulated": 0, "n_hosts": 40, "n_older": 0, "one_kernel": [],
        "enough_for_intervals": True, "fewest": 3, "emulated": {"n_repetitions": 0, "n_hosts": 0},
        "enough_for_facts": True, "fewest_for_facts": 8, "name": "lab-3", "why": "set.json is cut",
    }  # fmt: skip
    two = {"simulated": True, "n_hosts": 2, "n_older": 1, "enough_for_intervals": False}
    odd = {
        "n_simulated": 1, "emulated": {"n_repetitions": 12, "n_hosts": 1},
        "one_kernel": [{"name": "n1", "others": ["n2", "n3"]}], "enough_for_facts": False,
    }  # fmt: skip
    texts = {
        f"{name}, {macro}": sentences("fleet_words", macro, all_of_them | more)
        for name, more in {"all": {}, "two, simulated": two, "odd ones": odd}.items()
        for macro in ("which", "no_cause")
    }
    texts |= {
        macro: sentences("fleet_words", macro, all_of_them) for macro in ("doubted", "unreadable")
    }
    check_branches("fleet_words", texts)
