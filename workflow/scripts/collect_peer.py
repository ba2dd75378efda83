"""Reach the other machine of the wire and describe it, and the network between."""

from copycost.cli.doctor import collect_peer
from copycost.config.structure import from_plain
from copycost.config.wire import Peer
from copycost.records.files import write_json
from copycost.snakefile.logs import log_to_file

log_to_file(snakemake.log[0])
peer = collect_peer(from_plain(snakemake.params.peer, Peer))
write_json(peer, snakemake.output.peer)
