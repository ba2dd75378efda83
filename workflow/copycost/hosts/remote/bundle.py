"""The agent as one file: a zip of the modules it takes, which any Python from 3.11 on runs.

The same modules give the same bytes, so that its digest tells whether a machine has it already.
"""

import io
import zipfile
from modulefinder import ModuleFinder
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_AGENT = "copycost.hosts.remote.agent"
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


def agent_modules() -> dict[str, Path]:
    """Return the agent's modules, those that it imports included: path within the bundle, file."""
    finder = ModuleFinder([str(_ROOT)])  # it finds none of others'
    finder.import_hook(_AGENT)
    files = [getattr(module, "__file__", None) for module in finder.modules.values()]
    paths = sorted(Path(file) for file in files if file)
    return {str(path.relative_to(_ROOT)): path for path in paths}


def agent_bundle() -> bytes:
    """Return the zip file; ``python3 -I FILE --programs DIR`` serves."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        for inside, path in agent_modules().items():
            bundle.writestr(zipfile.ZipInfo(inside, _TIME), path.read_bytes())
        bundle.writestr(zipfile.ZipInfo("__main__.py", _TIME), _MAIN)
    return data.getvalue()
