"""Golden texts: what a text was when somebody last read it and found it right.

After an intended change: ``COPYCOST_UPDATE_GOLDEN=1 pytest ...``, then read the difference before
committing it.
"""

import os
from pathlib import Path

GOLDEN = Path(__file__).parent
_UPDATE = os.environ.get("COPYCOST_UPDATE_GOLDEN") == "1"


def golden_text(path: Path, text: str) -> str:
    """Return the golden text at a path, which an update makes the one that there is now."""
    if _UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no golden text {path.name}; see the head of {__file__}"
    return path.read_text(encoding="utf-8")
