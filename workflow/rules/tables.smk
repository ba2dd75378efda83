# From the records to the tidy tables of cells and of round trips. Nothing here measures.

# A table that Snakemake's own report shows too.
shown_table = partial(report, caption="../captions/tables.rst", category="Tables")

# What each column of all tables is.
COLUMNS = "results/tables/columns.csv"

# For rules that use round trips: nothing where the configuration asks for none.
HAS_ROUND_TRIPS = bool(ROUND_TRIP_RECORDS)
ROUND_TRIPS = ["results/tables/round_trips.csv"] if HAS_ROUND_TRIPS else []
ROUND_TRIP_CURVES = ["results/tables/round_trip_curves.csv"] if HAS_ROUND_TRIPS else []


rule collect_results:
    input:
        records=STREAM_RECORDS,
    output:
        csv=shown_table("results/tables/cells.csv"),
        parquet="results/tables/cells.parquet",
    log:
        "results/logs/tables/cells.log",
    script:
        "../scripts/collect_results.py"


rule collect_round_trips:
    input:
        records=ROUND_TRIP_RECORDS,
    output:
        table="results/tables/round_trips.csv",
        curves="results/tables/round_trip_curves.csv",
    log:
        "results/logs/tables/round_trips.log",
    script:
        "../scripts/collect_round_trips.py"


rule describe_columns:
    output:
        columns=COLUMNS,
    log:
        "results/logs/tables/columns.log",
    script:
        "../scripts/describe_columns.py"
