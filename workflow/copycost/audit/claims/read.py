"""Reads a file of claims."""

from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from copycost.audit.claims.parse import parse_claim
from copycost.audit.claims.vocabulary import Claim, Unclear
from copycost.audit.dataset import Dataset
from copycost.audit.mapping_file import load_yaml
from copycost.errors import ConfigError


def read_claims(path: Path, dataset: Dataset) -> list[Claim]:
    """Return the claims about a dataset.

    A file holds a list of claims, alone or under ``claims:``, or one such list per dataset, by
    its name. A text in the list is a claim in words alone.

    Raises
    ------
    ConfigError
        If the file is no such list; a claim that is not in the vocabulary is listed by number,
        all of them at once.
    """
    problems: list[str] = []
    claims = []
    for number, said in enumerate(_items(load_yaml(path), dataset, path), 1):
        if not isinstance(said, str | Mapping):
            problems.append(f"{path}: claim {number}: got {shown(said)}, must be a mapping")
            continue
        try:
            claims.append(parse_claim({"claim": said} if isinstance(said, str) else said))
        except Unclear as error:
            problems.append(f"{path}: claim {number}: {error}; see docs/audit.md")
    if problems:
        raise ConfigError("\n".join(problems))
    return claims


def _items(content: Any, dataset: Dataset, path: Path) -> list[Any]:  # noqa: ANN401
    if isinstance(content, list):
        return content
    if isinstance(content, Mapping):
        if isinstance(content.get("claims"), list):
            return list(content["claims"])
        names = [dataset.name, *dataset.datasets]
        for name in names:
            if isinstance(content.get(name), list):
                return list(content[name])
        raise ConfigError(
            f"{path}: no claims about {names[0]}; found lists for {', '.join(map(str, content))}; "
            "give a list under `claims:` or under the dataset's name"
        )
    raise ConfigError(f"{path}: must hold a list of claims; see docs/audit.md")
