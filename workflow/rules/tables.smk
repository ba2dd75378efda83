# From the records to the tidy table of cells. Nothing here measures.


rule collect_results:
    input:
        records=GRID.paths("streams"),
        code=package_files(
            "records/collect.py",
            "records/columns.py",
            "records/derive.py",
            "records/record.py",
            "records/table.py",
        ),
    output:
        csv="results/tables/cells.csv",
        parquet="results/tables/cells.parquet",
    log:
        "results/logs/tables/cells.log",
    message:
        "Collect all records in one table"
    script:
        "../scripts/collect_results.py"
