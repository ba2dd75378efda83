"""Tables of round trips, with what a test is about changed."""

from typing import cast

import pandas as pd
from sample_records import sample_record, with_round_trips

from copycost.records.record import Record
from copycost.records.table import make_table
from copycost.studies.round_trips.columns import ROUND_TRIPS
from copycost.studies.round_trips.derive import derive_round_trips


def round_trips(n_threads: int = 1, **values: object) -> pd.DataFrame:
    """Return a table of two rounds, of which the second has other values."""
    records = [
        with_round_trips(sample_record(rep=rep, start_ns=rep * 10**10, n_threads=n_threads))
        for rep in (1, 2)
    ]
    table = make_table((derive_round_trips(cast("Record", one)) for one in records), ROUND_TRIPS)
    for name, value in values.items():
        table.loc[1, name] = value
    return table
