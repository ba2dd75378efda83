"""The agent as one file: a zip of the modules it takes, which any Python from 3.11 on runs.

The same modules give the same bytes, so that its digest tells whether a machine has it already.
"""

import io
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_AGENT = "copycost.hosts.remote.agent"
# codecs are imported by names that are made up
_IMPORT = f"""\
import sys
sys.path.insert(0, sys.argv[1])
import encodings.ascii, encodings.idna, encodings.latin_1, runpy, traceback
import {_AGENT}
print(*(one.__file__ for one in sys.modules.values() if getattr(one, "__file__", None)), sep="\\n")
"""
TOO_OLD = 91
"""What the agent ends with where Python is older than it needs."""

_MAIN = f"""\
import sys
if sys.version_info < (3, 11):
    sys.exit({TOO_OLD})
from {_AGENT} import main
sys.exit(main())
"""
# zip files know no time before
_TIME = (1980, 1, 1, 0, 0, 0)


@cache
def agent_files() -> list[Path]:
    """Return the files of all that the agent imports, the standard library's included."""
    words = [sys.executable, "-I", "-S", "-c", _IMPORT, str(_ROOT)]
    return sorted(map(Path, subprocess.check_output(words, text=True).splitlines()))


def agent_modules() -> dict[str, Path]:
    """Return those of ours: path within the bundle, file."""
    ours = (path for path in agent_files() if path.is_relative_to(_ROOT))
    return {str(path.relative_to(_ROOT)): path for path in ours}


def agent_bundle() -> bytes:
    """Return the zip file; ``python3 -I FILE --programs DIR`` serves."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        for inside, path in agent_modules().items():
            bundle.writestr(zipfile.ZipInfo(inside, _TIME), path.read_bytes())
        bundle.writestr(zipfile.ZipInfo("__main__.py", _TIME), _MAIN)
    return data.getvalue()
