"""The options of Snakemake 9.27, and what values each takes: known before there is a Snakemake.

Those of plugins that a site has added are not here. A test compares the list with Snakemake's own.
"""

import os
import re
from pathlib import Path


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


NO_VALUE = words(
    """
    -a -D -f -F -h -k -l -n -p -S -t -v --all-temp --allow-ambiguity --benchmark-extended
    --cleanup-shadow --conda-cleanup-envs --conda-create-envs-only
    --conda-not-block-search-path-envvars --container-cleanup-images --d3dag --debug
    --debug-dag --delete-all-output --delete-temp-output --detailed-summary --drop-metadata
    --dry-run --dryrun --filegraph --force --force-use-threads --forceall --help
    --ignore-incomplete --ii --immediate-submit --is --job-deploy-sources --keep-going
    --keep-incomplete --keep-storage-local-copies --li --list --list-conda-envs
    --list-input-changes --list-params-changes --list-rules --list-target-rules
    --list-untracked --lp --lt --lu --no-hooks --no-subworkflows --no-temp --nocolor --nolock
    --nosw --not-retrieve-storage --notemp --nt --print-compilation --printshellcmds
    --replace-workflow-config --report-after-run --rerun-incomplete --ri
    --scheduler-greedy-omit-prioritize-by-temp-and-input --show-failed-logs
    --skip-script-cleanup --summary --target-files-omit-workdir-adjustment --touch
    --trust-io-cache --unlock --use-apptainer --use-conda --use-envmodules --use-singularity
    --verbose --version
    """
)

ONE_VALUE = words(
    """
    -c -d -e -j -s -T -w --apptainer-args --apptainer-prefix --archive --attempt --batch
    --conda-base-path --conda-frontend --conda-prefix --container-image --cores
    --default-storage-prefix --default-storage-provider --directory --draft-notebook
    --edit-notebook --executor --export-cwl --greediness --jn --jobname --jobs --jobscript
    --js --latency-wait --lc --list-changes --local-cores --local-groupid
    --local-storage-prefix --max-checksum-file-size --max-inventory-time --max-jobs-per-second
    --max-jobs-per-timespan --max-status-checks-per-second --max-threads --mode
    --notebook-listen --output-wait --persistence-backend --persistence-backend-db-url
    --precommand --preemptible-retries --profile --queue-input-wait-time
    --remote-job-local-storage-prefix --report-html-path --report-html-stylesheet-path
    --report-metadata --report-stylesheet --reporter --restart-times --retries
    --runtime-profile --runtime-source-cache-path --scheduler-greediness
    --scheduler-greedy-greediness --scheduler-ilp-solver --scheduler-ilp-solver-path
    --scheduler-solver-path --scheduler-subsample --seconds-between-status-checks
    --shadow-prefix --singularity-args --singularity-prefix --snakefile --wait-for-files-file
    --wait-for-free-local-storage --workflow-profile --wrapper-prefix
    """
)

TWO_VALUES = words("--deploy-sources")

A_VALUE_OR_NONE = words(
    """
    --conda-cleanup-pkgs --containerize --dag --generate-unit-tests --lint --report
    --rulegraph --scheduler
    """
)

SEVERAL_VALUES = words(
    """
    -C -O -P -q -R -U --allowed-rules --cache --cleanup-metadata --cm --config --configfile
    --configfiles --consider-ancient --default-res --default-resources --deployment
    --deployment-method --envvars --forcerun --group-components --groups --logger --omit-flags
    --omit-from --preemptible-rules --prioritize --quiet --rerun-triggers --res --resources
    --sdm --set-resource-scopes --set-resources --set-scatter --set-threads --shared-fs-usage
    --software-deployment-method --strict-dag-evaluation --target-jobs --unneeded-temp-files
    --until --wait-for-files
    """
)

ALL = NO_VALUE | ONE_VALUE | TWO_VALUES | A_VALUE_OR_NONE | SEVERAL_VALUES

_PAIRS = words(
    """
    --default-res --default-resources --group-components --groups --res --resources
    --set-resource-scopes --set-resources --set-scatter --set-threads
    """
)
_NUMBER = re.compile(r"[1-9]\d{0,8}")
_CONFIG_HOMES = (("XDG_CONFIG_HOME", "~/.config"), ("XDG_CONFIG_DIRS", "/etc/xdg"))


def problem_of(name: str, value: str) -> str | None:
    """Return why a value cannot be that of an option, as the end of a sentence."""
    match name:
        case "-c" | "--cores" if not _NUMBER.fullmatch(value) and value != "all":
            return "must be a whole number of CPUs from 1, or all"
        case "-j" | "--jobs" if not _NUMBER.fullmatch(value) and value != "unlimited":
            return "must be a whole number of jobs from 1, or unlimited"
        case _ if name in _PAIRS and not re.fullmatch(r"[^=]+=.+", value):
            return "must be NAME=VALUE"
        case "-s" | "--snakefile":
            return no_file(value)
        case "-d" | "--directory" if not Path(value).is_dir():
            return f"there is no such folder in {Path.cwd()}; name one that exists"
        case "--profile" | "--workflow-profile" if not _is_profile(value):
            return "there is no such profile; name a folder that holds config.yaml"
    return None


def no_file(path: str) -> str | None:
    """Return why nothing can be read of a file, as the end of a sentence; None where it can."""
    if Path(path).is_file():
        return None
    if Path(path).exists():
        return f"is {'a folder' if Path(path).is_dir() else 'no ordinary file'}; name a file"
    return f"there is no such file in {Path.cwd()}; name one that exists"


def _is_profile(name: str) -> bool:
    """Tell whether Snakemake would find a profile (``snakemake.cli.get_profile_dir``)."""
    given = (os.environ.get(name) or usual for name, usual in _CONFIG_HOMES)
    homes = [Path(home.partition(":")[0], "snakemake").expanduser() for home in given]
    return name == "none" or any(
        place.is_file() or any(place.glob("config*.yaml")) or any(place.glob("profile*.yaml"))
        for place in (home / name for home in (Path(), *homes))
    )
