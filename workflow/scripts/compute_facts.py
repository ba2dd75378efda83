from pathlib import Path

from copycost.analysis.columns import read_table, write_table
from copycost.analysis.finding import read_finding
from copycost.analysis.tables import findings_table
from copycost.records.files import read_json, write_json
from copycost.records.reading import read_all
from copycost.records.table import read_table as read_cells
from copycost.snakefile.logs import log_to_file
from copycost.studies.memory.record import MEMORY
from copycost.studies.round_trips.table import ROUND_TRIPS
from copycost.studies.streams.facts import Inputs, compute_facts

log_to_file(snakemake.log[0])
given = snakemake.input
inputs = Inputs(
    cells=read_cells(Path(given.cells)),
    summary=read_table(Path(given.summary)),
    ratios=read_table(Path(given.ratios)),
    host=read_json(given.host),
    config=snakemake.params.config,
    # Nothing where the configuration switches them off.
    memory=next(iter(read_all(map(Path, given.memory), lambda record: record, MEMORY)), None),
    guest=next((read_json(path) for path in given.guest), None),
    peers={
        name: read_json(path)
        for name, path in zip(snakemake.params.peers, given.peers, strict=True)
    },
    round_trips=next((read_cells(Path(path), ROUND_TRIPS) for path in given.round_trips), None),
)
facts = compute_facts(inputs)
write_json(facts, snakemake.output.facts)
findings = findings_table(map(read_finding, facts["findings"]))
write_table(findings, Path(snakemake.output.findings))
