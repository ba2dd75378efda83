"""What an audit has to say, before it is in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Message:
    """Something to say.

    Attributes
    ----------
    code
        Of ``report/audit_messages.csv``, which has the words.
    numbers
        The numbers and names that the words need.
    """

    code: str
    numbers: Mapping[str, object] = field(default_factory=dict)
