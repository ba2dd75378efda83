"""The options of Snakemake 9.27 and how many values each takes: known before there is a Snakemake.

Those of plugins that a site has added are not here. A test compares the list with Snakemake's own.
"""


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
