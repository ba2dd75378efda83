"""What is no profile is refused."""

import pytest

from copycost.profile.perf_script import UNKNOWN, Stacks
from copycost.profile.repetition import require_stacks
from copycost.profile.runs import NotMeasured


def test_a_profile_whose_call_stacks_perf_discarded_is_refused() -> None:
    known = Stacks({"main;send;tcp_sendmsg_[k]": 90, UNKNOWN: 10}, samples=100)
    require_stacks({"sender": known, "receiver": Stacks()})
    discarded = Stacks({"main;send;tcp_sendmsg_[k]": 2, UNKNOWN: 98}, samples=100)
    with pytest.raises(NotMeasured, match=r"call stacks of 98% of the sender's samples") as refused:
        require_stacks({"sender": discarded, "receiver": known})
    assert "-fno-omit-frame-pointer" in refused.value.remedy
